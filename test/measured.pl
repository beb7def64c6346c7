#!/usr/bin/perl
# measured.pl NAME COMMAND... - runs a command and prints, at its end, "seconds WALL PROCESSOR NAME": how long it took, and
# what it and the servers that it started took of the processor. A server leaves its starter; this process asks the
# kernel to be its next parent, as else nobody would know. Ends as the command does.
use strict;
use warnings;
use POSIX qw(WNOHANG);
use Time::HiRes qw(time);

# prctl(PR_SET_CHILD_SUBREAPER), which perl has no name for; where there is none, servers are not counted.
my %prctl = (x86_64 => 157, aarch64 => 167, i686 => 172);
my $machine = (POSIX::uname())[4];
syscall($prctl{$machine}, 36, 1, 0, 0, 0) if $prctl{$machine};

my $name = shift @ARGV;
my $began = time;
my $command = fork // die "no process: $!";
if ($command == 0) {
  exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!";
}
# A process that nobody waits for seems to be alive: to whoever starts the server anew, too.
my $ended;
do { $ended = waitpid(-1, 0) } until $ended == $command || $ended == -1;
my $status = $?;
1 while waitpid(-1, WNOHANG) > 0;
my (undef, undef, $user, $system) = times;
printf "seconds %.0f %.1f %s\n", time - $began, $user + $system, $name;
exit($status & 127 ? 128 + ($status & 127) : $status >> 8);
