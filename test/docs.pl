#!/usr/bin/perl
# docs.pl [--links] PAGE... - runs the examples of documentation pages, in order, and compares what they show with what the server
# answers. Called by test/shell/docs.sh; prints "ok<TAB>what" or "FAILED<TAB>what<TAB>line..." for each example.
#
# A ```sql block runs in the page's session, of a superuser in a fresh database; the ``` block that follows it is the end of
# its output: as psql prints it or, without a line of dashes, unaligned and without headers. Blanks at line ends, empty
# lines and "(n rows)" do not count, nor do notices that the page does not show. A statement that ends in "; -- 13" answers 13.
# ```sh blocks run too. What else a page needs stands in comments, which readers of the rendered page do not see:
#
# With --links it prints the links of the pages that lead nowhere instead.
#
#   <!-- varies: a, b -->       the columns a and b of the next output are not compared
#   <!-- output varies -->      only the column names of the next output are compared
#   <!-- not run: why -->       the next block is not run
#   <!-- as ROLE -->            the next block runs in a session of that role, which stays open
#   <!-- as ROLE, twice -->     ... on two connections, one after the other
#   <!-- again -->              the next output is that of the last block, run again
#   <!-- until QUERY -->        waits until the query answers "t"
#   <!-- fresh database -->     what follows begins in another database, without the roles made so far
#   <!-- here TEXT is TEXT -->  in the blocks from here on, stands for another text; $NAME is of the environment
#   <!-- prepare [as ROLE]      runs the lines up to the closing of the comment
use strict;
use warnings;
use IPC::Open2;
use Time::HiRes qw(sleep time);

my $psql = ($ENV{PS_BINDIR} // '') . '/psql';
my ($page, $database, $number, %sessions, @here);

sub report { print join("\t", map { s/[\t\n]/ /gr } @_), "\n"; }

# One answer of a session of its own.
sub ask {
  my ($in_database, $sql) = @_;
  open(my $answer, '-|', $psql, '-XAtqd', $in_database, '-c', $sql) or die "no psql: $!";
  local $/;
  my $text = <$answer> // '';
  close($answer);
  return $text =~ s/\n\z//r;
}

sub connect_as {
  my ($role) = @_;
  my ($out, $in);
  # Notices come between the results where they belong.
  my $pid = open2($out, $in, 'sh', '-c', 'exec stdbuf -oL "$@" 2>&1', 'sh', $psql, '-Xq', '-P', 'pager=off', '-U', $role, '-d', $database);
  return { in => $in, out => $out, pid => $pid };
}

sub disconnect {
  my ($session) = @_;
  close($session->{in});
  while (defined(my $rest = readline($session->{out}))) { next; }
  waitpid($session->{pid}, 0);
}

# Runs text in a session and returns the lines that come back.
sub run_in {
  my ($session, $text) = @_;
  my @lines;
  print { $session->{in} } "$text\n\\echo end of example\n";
  $session->{in}->flush();
  while (defined(my $line = readline($session->{out}))) {
    chomp $line;
    return @lines if $line eq 'end of example';
    push @lines, $line;
  }
  return (@lines, 'FATAL:  the session has ended');
}

sub session_of { my ($role) = @_; return $sessions{$role} //= connect_as($role); }

sub end_database {
  disconnect($_) for values %sessions;
  %sessions = ();
  return unless defined $database;
  ask('postgres', qq(DROP DATABASE "$database" WITH (FORCE)));
  for my $role (split /\n/, ask('postgres', q(SELECT quote_ident(rolname) FROM pg_roles WHERE rolname !~ '^pg_' AND NOT rolsuper))) {
    ask('postgres', "DROP ROLE $role");
  }
}

sub begin_database {
  end_database();
  ($database = $page) =~ s/\W/_/g;
  ask('postgres', qq(CREATE DATABASE "$database"));
}

# What counts in lines of output.
sub essence { return grep { $_ ne '' && !/^\(\d+ rows?\)$/ } map { s/\s+$//r } @_; }

# Table lines without the columns of these names.
sub without {
  my ($names, @lines) = @_;
  my %drop = map { $_ => 1 } @$names;
  my @kept;
  my $dropped;
  for my $i (0 .. $#lines) {
    if ($i < $#lines && $lines[$i + 1] =~ /^-+(\+-+)*$/) {
      my @header = map { s/^\s+|\s+$//gr } split /\|/, $lines[$i], -1;
      $dropped = [map { $drop{$_} // 0 } @header];
    }
    if ($lines[$i] =~ /^-+(\+-+)*$/ || !$dropped) { push @kept, $lines[$i] =~ /^-/ ? '---' : $lines[$i]; next; }
    my @cells = map { s/^\s+|\s+$//gr } split /\|/, $lines[$i], -1;
    push @kept, join(' | ', map { $cells[$_] } grep { !$dropped->[$_] } 0 .. $#cells);
  }
  return @kept;
}

# What is wrong with an answer beside what the page shows; empty when nothing is.
sub compare {
  my ($shown, $answer, $varies) = @_;
  my @shown = essence(@$shown);
  return 'the page shows nothing' unless @shown;
  my $remarks = qr/^(NOTICE|WARNING|DETAIL|HINT|CONTEXT|LINE \d+|\s+\^|Asynchronous)/;
  my @answer = essence(@$answer);
  @answer = grep { $_ !~ $remarks } @answer unless grep { $_ =~ $remarks } @shown;
  if (ref $varies) {
    @shown = without($varies, @shown);
    @answer = without($varies, @answer);
  } elsif ($varies) {
    my @headers;
    for my $lines (\@shown, \@answer) {
      my @found = grep { $_ < $#$lines && $lines->[$_ + 1] =~ /^-+(\+-+)*$/ } 0 .. $#$lines;
      push @headers, join(' | ', map { s/\s+/ /gr } map { $lines->[$_] } @found);
    }
    return $headers[0] eq $headers[1] || ($headers[0] eq '' && @answer) ? () : ("got:      $headers[1]", "expected: $headers[0]");
  }
  my @end = @answer > @shown ? @answer[@answer - @shown .. $#answer] : @answer;
  return "@end" eq "@shown" && @end == @shown ? () : ((map { "got:      $_" } @end), (map { "expected: $_" } @shown));
}

# The page as a list of blocks and directives.
sub parse {
  my ($file) = @_;
  open(my $in, '<', $file) or die "$file: $!";
  my (@items, $block, $prepare);
  while (my $line = <$in>) {
    chomp $line;
    if ($block) {
      if ($line =~ /^\s*```\s*$/) { push @items, $block; undef $block; next; }
      $line =~ s/^ {0,$block->{indent}}//;
      push @{ $block->{lines} }, $line;
    } elsif ($prepare) {
      if ($line =~ /^\s*-->\s*$/) { push @items, $prepare; undef $prepare; next; }
      push @{ $prepare->{lines} }, $line;
    } elsif ($line =~ /^(\s*)```(\w*)\s*$/) {
      $block = { kind => $2 || 'text', indent => length $1, line => $., lines => [] };
    } elsif ($line =~ /^\s*<!-- prepare(?: as (\w+))?\s*$/) {
      $prepare = { kind => 'prepare', as => $1, line => $., lines => [] };
    } elsif ($line =~ /^\s*<!-- (varies|output varies|not run|as|again|until|fresh database|here)\b:?\s*(.*?)\s*-->\s*$/) {
      push @items, { kind => $1, rest => $2, line => $. };
    } elsif ($line =~ /\S/) {
      push @items, { kind => 'prose', line => $. };
    }
  }
  return @items;
}

sub text_of {
  my ($item) = @_;
  my $text = $item->{lines} ? join("\n", @{ $item->{lines} }) : $item->{rest};
  for my $pair (@here) { my ($from, $to) = @$pair; $text =~ s/\Q$from\E/$to/g; }
  return $text;
}

sub run_page {
  my @items = parse($page);
  my ($role, $twice, $skip, $varies, $last, $answer) = ('postgres', 0, 0, undef, undef, undef);
  begin_database();
  for my $i (0 .. $#items) {
    my $item = $items[$i];
    my $kind = $item->{kind};
    if ($kind eq 'prose') { undef $answer; undef $varies; next; }
    if ($kind eq 'as') { ($role, my $how) = split /,\s*/, $item->{rest}; $twice = ($how // '') eq 'twice'; next; }
    if ($kind eq 'not run') { $skip = 1; next; }
    if ($kind eq 'varies') { $varies = [split /,\s*/, $item->{rest}]; next; }
    if ($kind eq 'output varies') { $varies = 'all'; next; }
    if ($kind eq 'fresh database') { begin_database(); next; }
    if ($kind eq 'here') {
      my ($from, $to) = $item->{rest} =~ /^(.*) is (.*)$/;
      $to =~ s/\$(\w+)/$ENV{$1}/g;
      push @here, [$from, $to];
      next;
    }
    if ($kind eq 'until') {
      my $end = time + 60;
      sleep 0.1 while ask($database, text_of($item)) ne 't' && time < $end;
      report(time < $end ? 'ok' : 'FAILED', "$page, line $item->{line}: comes true: $item->{rest}");
      next;
    }
    if ($kind eq 'prepare') {
      my @errors = grep { /^(ERROR|FATAL|psql:)/ } run_in(session_of($item->{as} // 'postgres'), text_of($item));
      report('FAILED', "$page, line $item->{line}: is prepared", @errors) if @errors;
      next;
    }
    if ($kind eq 'again') { $answer = [run_in(session_of($last->{role}), $last->{text})]; next; }
    if ($kind eq 'text') {
      next unless $answer;
      my @wrong = compare($item->{lines}, $answer, $varies);
      report(@wrong ? 'FAILED' : 'ok', "$page, line $item->{line}: shows what is answered", @wrong);
      ($answer, $varies) = (undef, undef);
      next;
    }
    next unless $kind eq 'sql' || $kind eq 'sh';
    undef $answer;
    if ($skip) { $skip = 0; next; }
    my $text = text_of($item);
    my @lines;
    if ($kind eq 'sh') {
      local $ENV{PGDATABASE} = $database;
      open(my $out, '-|', 'bash', '-c', "cd '$ENV{PS_DOCS_FOLDER}' && { $text\n} 2>&1 || echo ERROR:  the command failed") or die;
      @lines = <$out>;
      chomp @lines;
    } else {
      # An output that is shown without dashes is shown bare.
      my ($shown) = grep { $_->{kind} !~ /^(varies|output varies)$/ } @items[$i + 1 .. $#items];
      my $bare = $shown && $shown->{kind} eq 'text' && !grep { /^-+(\+-+)*$|^(ERROR|NOTICE|WARNING): / } @{ $shown->{lines} };
      my $wrapped = $bare ? "\\a\n\\t\n$text\n\\a\n\\t" : $text;
      if ($twice) {
        for (1, 2) { my $session = connect_as($role); @lines = run_in($session, $wrapped); disconnect($session); }
      } else {
        @lines = run_in(session_of($role), $wrapped);
      }
      $last = { role => $role, text => $wrapped };
    }
    my $expects_error = $items[$i + 1] && grep { /^ERROR: / } map { @{ $_->{lines} // [] } } grep { $_->{kind} eq 'text' } @items[$i + 1 .. ($i + 2 > $#items ? $#items : $i + 2)];
    my @wrong = $expects_error ? () : grep { /^(ERROR|FATAL|psql:|invalid command|\\)/ } @lines;
    while ($text =~ /;\s+-- (\d+)\b/g) {
      my $said = $1;
      push @wrong, "no answer is $said" unless grep { /^\s*\Q$said\E\s*$/ } @lines;
    }
    report(@wrong ? 'FAILED' : 'ok', "$page, line $item->{line}: runs: " . substr((split /\n/, $text)[0] // '', 0, 70), @wrong);
    ($role, $twice) = ('postgres', 0);
    $answer = \@lines;
  }
  end_database();
}

# The anchors that a page's headings have.
sub anchors {
  my ($file) = @_;
  open(my $in, '<', $file) or return {};
  my %found;
  while (<$in>) { $found{lc($1) =~ s/[^\w\- ]//gr =~ s/ /-/gr} = 1 if /^#+ (.*?)\s*$/; }
  return \%found;
}

sub print_dead_links {
  for my $file (@_) {
    open(my $in, '<', $file) or die "$file: $!";
    my $number = 0;
    while (my $line = <$in>) {
      ++$number;
      while ($line =~ /\]\(([^)#\s:]*)(?:#([^)\s]*))?\)/g) {
        my ($path, $anchor) = ($1, $2);
        my $target = $path eq '' ? $file : ($file =~ s{[^/]*$}{}r) . $path;
        print "$file, line $number: $path", defined $anchor ? "#$anchor" : '', "\n"
          if !-e $target || defined $anchor && !anchors($target)->{$anchor};
      }
    }
  }
}

if (@ARGV && $ARGV[0] eq '--links') { shift; print_dead_links(@ARGV); exit; }
$| = 1;
for (@ARGV) { $page = $_; @here = (); run_page(); undef $database; }
