# portal.pl - fetches from a cursor by the protocol's Execute, which is no statement.
#
#   perl portal.pl SOCKET USER DATABASE STEP...
#     query=SQL                  a simple query
#     execute=PORTAL,ROWS        Execute, Sync
#     then=PORTAL,ROWS,SQL       Execute, and within the same transaction Parse, Bind and Execute of SQL, Sync
# Prints a line a step: how many rows came, and the SQLSTATE of an error.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path, $user, $database, @steps) = @ARGV;
my $socket = IO::Socket::UNIX->new(Peer => $path) or die "cannot connect to $path: $!\n";

sub message {
  my ($type, $body) = @_;
  $socket->syswrite($type . pack('N', length($body) + 4) . $body);
}

# Reads messages until the server is ready.
sub answer {
  my ($rows, $error) = (0, '');
  while (read($socket, my $head, 5) == 5) {
    my ($type, $length) = unpack('aN', $head);
    my $body = '';
    read($socket, $body, $length - 4) if $length > 4;
    ++$rows if $type eq 'D';
    $error = " $1" if $type eq 'E' && $body =~ /\0C([0-9A-Z]{5})\0/;
    last if $type eq 'Z';
  }
  return "$rows$error";
}

message('', pack('N', 196608) . "user\0$user\0database\0$database\0\0");
answer();
for my $step (@steps) {
  my ($kind, $what) = split /=/, $step, 2;
  if ($kind eq 'query') {
    message('Q', "$what\0");
  } else {
    my ($portal, $rows, $sql) = split /,/, $what, 3;
    message('E', "$portal\0" . pack('N', $rows));
    if (defined $sql) {
      message('P', "\0$sql\0" . pack('n', 0));
      message('B', "\0\0" . pack('n n n', 0, 0, 0));
      message('E', "\0" . pack('N', 0));
    }
    message('S', '');
  }
  print answer(), "\n";
}
