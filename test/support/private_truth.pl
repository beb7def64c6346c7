#!/usr/bin/perl
# private_truth.pl - random queries that private SQL answers, and whether answers are those of plain SQL.
#
#   private_truth.pl make SEED COUNT >QUERIES
#       one query a line: a number, its columns, the query, and queries of what one person has at most, parted by tabs
#   private_truth.pl script plain|private|most QUERIES >SCRIPT
#       psql commands that ask them, each after a line "query NUMBER"
#   private_truth.pl compare none|EPSILON QUERIES PLAIN PRIVATE MOST
#       compares the output of these scripts; prints what differs, and a last line "compared N answered M groups G"
#
# A column is a key (k), counts rows (c) or persons (p), adds up (s) or is an average (a) of an earlier sum and count, or
# n, which counts all rows of the group. Without noise everything is equal: whole numbers and sums exactly, averages
# to twelve digits. With noise a column is within what noise exceeds with a probability of 1e-9, for the greatest bound
# of a person that may have been chosen. A group is missing only when it has fewer rows than $few.
use strict;
use warnings;

my $few = 100;

# --- queries --------------------------------------------------------------------------------------------------------

sub one_of { return $_[ int(rand(@_)) ]; }
sub maybe { return rand() < $_[0]; }

# Conditions on columns of visits (v), of patients (p) and of departments (d).
sub condition_of_visits {
  my $number = int(rand(60));
  return one_of(
    "v.minutes < " . (20 + $number),
    "v.minutes IS NOT NULL",
    "v.minutes IS NULL OR v.minutes > $number",
    "v.cost BETWEEN $number AND " . (400 + 10 * $number),
    "v.cost > $number.5 AND v.kind <> 'emergency'",
    "v.kind IN ('inpatient', 'outpatient')",
    "v.day >= '2024-02-01' AND v.day < '2024-11-0" . (1 + $number % 9) . "'",
    "extract(dow FROM v.day) IN (1, 2, 3, " . (4 + $number % 3) . ")",
    "NOT (v.urgent AND v.minutes < $number)",
    "COALESCE(v.minutes, 0) % 7 <> " . ($number % 7),
    "v.code LIKE 'A%' OR v.code ILIKE '%" . ($number % 4) . "'",
    "CASE WHEN v.urgent THEN v.minutes > 10 ELSE v.cost < 700 END",
    "v.note IS DISTINCT FROM 'n" . ($number % 5) . "'",
    "v.department_id IN (SELECT x.department_id FROM departments x WHERE x.beds > " . (5 * ($number % 8)) . ")",
    "EXISTS (SELECT FROM departments x WHERE x.department_id = v.department_id AND x.building <> 'B" . ($number % 3) . "')"
  );
}
sub condition_of_patients {
  my $number = int(rand(40));
  return one_of("p.smoker", "p.smoker IS NOT TRUE", "p.birth < date '1950-01-01' + " . (3000 + 100 * $number),
    "p.sex = 'f' OR p.city = 'City 3'", "p.height > " . (130 + $number), "upper(left(p.city, 4)) || right(p.city, 1) <> 'CITY" . ($number % 7) . "'");
}

# A query over one of several FROM lists.
sub one_query {
  my %from = (
    v => { sql => "visits v", person => "v.patient_id", on => ["v"] },
    p => { sql => "patients p", person => "p.patient_id", on => ["p"] },
    vd => { sql => "visits v JOIN departments d ON d.department_id = v.department_id", person => "v.patient_id", on => [ "v", "d" ] },
    vl => { sql => "visits v LEFT JOIN departments d ON d.department_id = v.department_id AND d.beds > 10", person => "v.patient_id", on => [ "v", "d" ] },
    sub => { sql => "(SELECT * FROM visits WHERE cost < 900) v", person => "v.patient_id", on => ["v"] },
    vs => { sql => "visits v, (VALUES (1), (2)) s(x)", person => "v.patient_id", on => ["v"] },
  );
  my $from = $from{ one_of("v", "v", "p", "vd", "vd", "vl", "sub", "vs") };
  my %on = map { $_ => 1 } @{ $from->{on} };
  my @where;
  for (1 .. int(rand(4))) {
    push @where, "(" . ($on{v} ? condition_of_visits() : condition_of_patients()) . ")";
  }
  my @keys;
  if ($on{v}) {
    push @keys, "v.kind" if maybe(0.3);
    push @keys, "v.urgent" if maybe(0.2);
    push @keys, one_of("v.department_id", "v.code") if !@keys && maybe(0.3);
    push @keys, "CASE WHEN v.minutes < 20 THEN 'short' WHEN v.minutes < 60 THEN 'long' END" if !@keys && maybe(0.2);
    push @keys, "extract(dow FROM v.day)" if !@keys && maybe(0.15);
    if (!@keys && maybe(0.2)) {
      push @keys, "date_trunc('month', v.day::timestamp)";
      push @where, "v.day >= '2024-01-01' AND v.day < '2025-01-01'";
    }
    # Where groups are many, a bound that cuts a person is the better one, and answers are less than plain SQL's.
    push @keys, @keys ? "d.building" : one_of("d.name", "d.building") if $on{d} && maybe(0.5) && !grep { !/kind|urgent/ } @keys;
  } else {
    push @keys, one_of("p.city", "p.sex", "p.smoker", "left(p.city, 5)", "p.height > 170") if maybe(0.6);
    push @keys, "p.sex" if maybe(0.2) && !grep { $_ eq "p.sex" } @keys;
  }
  my $where = @where ? " WHERE " . join(" AND ", @where) : "";
  my %column = ($on{v} ? ("v.minutes" => 1, "v.cost" => 1, "v.cost * 2" => 1, "v.minutes + v.department_id" => 1, "-v.cost" => 1) : ("p.height" => 1, "p.weight" => 1));
  my (@kinds, @targets, @most);
  my $add = sub {    # KIND TARGET NORM
    push @kinds, $_[0];
    push @targets, $_[1];
    push @most, $_[2] if defined $_[2];
  };
  $add->("k", $_) for @keys;
  $add->("n", "count(*)", "count(*)");
  for (1 .. int(rand(4))) {
    my $x = one_of(sort keys %column);
    my $filter = maybe(0.2) ? ($on{v} ? " FILTER (WHERE v.minutes % 2 = 0)" : " FILTER (WHERE p.smoker)") : "";
    my $kind = one_of("c", "p", "s", "s", "a");
    if ($kind eq "c") { $add->("c", "count($x)$filter", "count(*)"); }
    if ($kind eq "p") { $add->("p", "count(DISTINCT $from->{person})$filter", "count(*)"); }
    if ($kind eq "s") { $add->("s", "sum($x)$filter", "sum(abs($x))"); }
    if ($kind eq "a") {
      $add->("s", "sum($x)", "sum(abs($x))");
      $add->("c", "count($x)", "count(*)");
      $add->("a", "avg($x)");
    }
  }
  # Small populations take their bound from everybody, so what one has at most is asked without WHERE.
  my @names = map { "x$_" } 1 .. @targets;
  my $sql = "SELECT " . join(", ", map { "$targets[$_] AS $names[$_]" } 0 .. $#targets) . " FROM $from->{sql}$where";
  $sql .= " GROUP BY " . (maybe(0.5) ? join(", ", 1 .. @keys) : join(", ", @keys)) if @keys;
  # What is made of an answer is ordinary SQL.
  $sql = "WITH w AS ($sql) SELECT * FROM w" if maybe(0.15);
  $sql = "SELECT * FROM ($sql) w" if maybe(0.1);
  my $most = "SELECT " . join(", ", map { "max(m$_)" } 0 .. $#most) . " FROM (SELECT " . join(", ", map { "$most[$_] AS m$_" } 0 .. $#most) . " FROM $from->{sql} GROUP BY $from->{person}) m";
  return (join("", @kinds), $sql, $most);
}

# --- answers --------------------------------------------------------------------------------------------------------

# The rows of each query by number.
sub rows_of {
  my ($file) = @_;
  my (%rows, $number);
  open my $lines, "<", $file or die "$file: $!";
  while (<$lines>) {
    chomp;
    if (/^query (\d+)$/) { $number = $1; $rows{$number} = []; next; }
    die "$file: $_" unless defined $number;
    push @{ $rows{$number} }, [ split /\|/, $_, -1 ];
  }
  return \%rows;
}

# Rows by their keys.
sub by_keys {
  my ($kinds, $rows) = @_;
  my %by;
  for my $row (@$rows) {
    return undef unless @$row == length $kinds;
    my @keys = grep { substr($kinds, $_, 1) eq "k" } 0 .. length($kinds) - 1;
    # What a number is written like depends on how it was computed.
    my $key = join "|", map { $row->[$_] =~ /^-?\d+\.\d+$/ ? $row->[$_] + 0 : $row->[$_] } @keys;
    return undef if exists $by{$key};
    $by{$key} = $row;
  }
  return \%by;
}

sub shortest { my ($number) = @_; $number =~ s/0+$// if $number =~ /\./; $number =~ s/\.$//; return $number eq "-0" ? "0" : $number; }

# The greatest difference that noise may make to each column of a row.
sub widths_of {
  my ($epsilon, $kinds, $most, $row) = @_;
  my (@width, $next);
  $next = 0;
  my $measures = ($kinds =~ tr/ncpsa//);
  for my $i (0 .. length($kinds) - 1) {
    my $kind = substr($kinds, $i, 1);
    if ($kind eq "k") { push @width, 0; next; }
    if ($kind eq "a") {
      my ($sum, $count) = ($width[ $i - 2 ], $width[ $i - 1 ]);
      my $rows = $row->[ $i - 1 ] - $count;
      push @width, $rows > 0 && $row->[$i] ne "" ? ($sum + abs($row->[$i]) * $count) / $rows : 9e99;
      next;
    }
    my $norm = $most->[ $next++ ];
    my $bound = $norm eq "" ? 1 : $norm;
    # A bound is a power of two, and three bins more may have been thought to have somebody; half of epsilon and more goes to the measures.
    my $half = log(1e9) * 16 * $bound / ($epsilon / 2 / ($measures + 1));
    push @width, $kind eq "s" ? $half : $half > 1 ? $half : 1;
  }
  return @width;
}

sub compare {
  my ($epsilon, $queries, $plain_file, $private_file, $most_file) = @_;
  my ($plain, $private, $most) = (rows_of($plain_file), rows_of($private_file), rows_of($most_file));
  my ($compared, $answered, $groups) = (0, 0, 0);
  open my $lines, "<", $queries or die "$queries: $!";
  while (<$lines>) {
    chomp;
    my ($number, $kinds, $sql) = split /\t/;
    ++$compared;
    my ($truth, $answer) = (by_keys($kinds, $plain->{$number}), by_keys($kinds, $private->{$number}));
    if (!defined $truth) { print "plain SQL fails: $sql\n"; next; }
    if (!defined $answer || !%$answer && $kinds !~ /k/) { print "not answered: $sql\n"; next; }
    ++$answered;
    my $n = index $kinds, "n";
    my $wrong = "";
    for my $key (sort keys %$truth) {
      my ($row, $got) = ($truth->{$key}, delete $answer->{$key});
      if (!defined $got) { $wrong ||= "group $key of $row->[$n] rows is missing" if $row->[$n] >= $few; next; }
      ++$groups;
      my @width = $epsilon eq "none" ? () : widths_of($epsilon, $kinds, $most->{$number}[0], $row);
      for my $i (0 .. $#$row) {
        my $kind = substr $kinds, $i, 1;
        next if $kind eq "k";
        # A sum of nothing is NULL in plain SQL only; a number that is there must be near 0 then.
        my ($expected, $given) = ($row->[$i], $got->[$i]);
        next if $kind eq "a" && ($expected eq "" || $given eq "") && $row->[ $i - 1 ] <= ($width[ $i - 1 ] || 0) + 1;
        $expected = 0 if $expected eq "" && $kind eq "s";
        my $near =
          $given eq "" || $expected eq "" ? $given eq $expected
          : @width ? abs($expected - $given) <= $width[$i]
          : $kind eq "a" || $given =~ /e/ || $expected =~ /\.\d{5}/ ? abs($expected - $given) <= 1e-12 * abs($expected) + 1e-9
          : shortest($expected) eq shortest($given);
        $wrong ||= "column " . ($i + 1) . " of group '$key' is $given, not $expected" . (@width ? " within $width[$i]" : "") if !$near;
      }
    }
    # A group that is known without looking may be empty, and noise may count somebody in it.
    my $empty = [ map { $_ eq "a" ? "" : 0 } split //, $kinds ];
    my $most_of_empty = $epsilon eq "none" ? 0 : (widths_of($epsilon, $kinds, $most->{$number}[0], $empty))[$n];
    for my $key (sort keys %$answer) { $wrong ||= "group $key is none of plain SQL's" if $answer->{$key}[$n] > $most_of_empty; }
    print "$wrong: $sql\n" if $wrong;
  }
  print "compared $compared answered $answered groups $groups\n";
}

my $what = shift @ARGV // "";
if ($what eq "make") {
  my ($seed, $count) = @ARGV;
  srand($seed);
  for my $number (1 .. $count) { print join("\t", $number, one_query()), "\n"; }
} elsif ($what eq "script") {
  my ($side, $queries) = @ARGV;
  open my $lines, "<", $queries or die "$queries: $!";
  while (<$lines>) {
    chomp;
    my ($number, $kinds, $sql, $most) = split /\t/;
    print "\\echo query $number\n", $side eq "most" ? $most : $sql, ";\n";
  }
} elsif ($what eq "compare") {
  compare(@ARGV);
} else {
  die "make, script or compare?\n";
}
