#!/usr/bin/perl
# lint_spinlocks.pl FILE... - what is called under a spinlock. Whoever holds one must not wait, raise an error or be
# cancelled, so nothing of the server may be called there: only what moves a few bytes, and these functions of ours.
#
# Prints one line per finding and nothing when all is well.
use strict;
use warnings;

my %harmless = map { $_ => 1 } qw(if for while switch sizeof static_cast reinterpret_cast memcpy memset strcmp Max Min
  pg_atomic_read_u32 CopyChanging EndUserOf IsEmpty IsShared EnforcedOf RowIsBehind EndsToBeKept Any HasAlerts Consider StoreFigures
  FollowedNext AddEnded Sum LastEntry PutIntoBlock reach summary);

for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    my $held = 0;
    while (my $line = <$in>) {
        $line =~ s{//.*}{};
        $held = 0 if $line =~ /\bSpinLockRelease\(/;
        if ($held) {
            while ($line =~ /\b([A-Za-z_]\w*)\s*\(/g) { print "$file:$.: $1\n" unless $harmless{$1} }
            print "$file:$.: leaves with the lock held\n" if $line =~ /\b(?:return|goto)\b/;
        }
        $held = 1 if $line =~ /\bSpinLockAcquire\(/;
    }
    close $in;
}
