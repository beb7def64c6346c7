# fastpath.pl - calls a function by the protocol's function call, which meets neither planner nor executor.
#
#   perl fastpath.pl SOCKET USER DATABASE OID TEXT    # one text argument; prints "result" or "ERROR SQLSTATE"
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path, $user, $database, $oid, $text) = @ARGV;
my $socket = IO::Socket::UNIX->new(Peer => $path) or die "cannot connect to $path: $!\n";

sub message {
  my ($type, $body) = @_;
  $socket->syswrite($type . pack('N', length($body) + 4) . $body);
}

# Reads messages until the server is ready; returns what came of the call.
sub answer {
  my $outcome = 'nothing';
  while (read($socket, my $head, 5) == 5) {
    my ($type, $length) = unpack('aN', $head);
    my $body = '';
    read($socket, $body, $length - 4) if $length > 4;
    $outcome = 'result' if $type eq 'V';
    $outcome = "ERROR $1" if $type eq 'E' && $body =~ /\0C([0-9A-Z]{5})\0/;
    return $outcome if $type eq 'Z';
  }
  return $outcome;
}

message('', pack('N', 196608) . "user\0$user\0database\0$database\0\0");
answer();
message('F', pack('N n n N a* n', $oid, 0, 1, length($text), $text, 0));
print answer(), "\n";
