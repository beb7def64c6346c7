#!/usr/bin/perl
# coverage_table.pl TREE DATA - what gcov's counters below DATA/SUITE say of the sources of TREE, for scripts/coverage.sh.
#
# Prints, in percent of the lines that have code, a table of the layers with a column for each suite, and one of the files.
# A line is covered when any object that it was compiled into has run it, so a header counts once. Lines that no test has
# run are listed in DATA/../missed.txt as FILE:LINE: TEXT.
use strict;
use warnings;
use JSON::PP;

my ($tree, $data) = @ARGV;
my %bars = (core => 95, sqlparse => 0, backend => 85, solver => 0);
my (%lines, %covered);    # {file}{line}; {suite}{file}{line}
my @suites = grep { -d "$data/$_" } qw(unit regress shell attacks);

for my $suite (@suites) {
  open(my $files, '-|', 'find', "$data/$suite", '-name', '*.gcda') or die "find: $!";
  while (my $counts = <$files>) {
    chomp $counts;
    my ($folder) = $counts =~ m{^(.*)/};
    open(my $gcov, '-|', 'gcov', '--json-format', '--stdout', '--object-directory', $folder, $counts) or die "gcov: $!";
    while (my $text = <$gcov>) {
      for my $file (@{decode_json($text)->{files}}) {
        next unless $file->{file} =~ m{^(?:\Q$tree\E/)?(src/.*)$};
        my $name = $1;
        for my $line (@{$file->{lines}}) {
          $lines{$name}{$line->{line_number}} = 1;
          if ($line->{count} > 0) { $covered{$_}{$name}{$line->{line_number}} = 1 for $suite, 'all'; }
        }
      }
    }
    close $gcov or die "gcov gave up on $counts";
  }
}

# Percent of a file's lines, or of those of all files of a layer.
sub share {
  my ($suite, @files) = @_;
  my ($all, $run) = (0, 0);
  for my $file (@files) {
    $all += keys %{$lines{$file}};
    $run += keys %{$covered{$suite}{$file} || {}};
  }
  return ($all, $run, $all ? 100 * $run / $all : 0);
}

my %layers;
push @{$layers{(split m{/}, $_)[1]}}, $_ for sort keys %lines;

sub row {
  my ($title, @files) = @_;
  my ($all, $run, $percent) = share('all', @files);
  return sprintf("| %s | %d | %s | **%.1f** |\n", $title, $all, join(' | ', map { sprintf '%.1f', (share($_, @files))[2] } @suites), $percent);
}
my $head = "| %s | lines | " . join(' | ', @suites) . " | all |\n|---|---|" . '---|' x (@suites + 1) . "\n";
printf $head, 'layer';
print row("`$_`", @{$layers{$_}}) for grep { $layers{$_} } qw(core sqlparse solver backend);
for my $layer (grep { $layers{$_} } qw(core sqlparse solver backend)) {
  print "\n";
  printf $head, "`$layer`";
  print row("`$_`", $_) for sort { (share('all', $a))[2] <=> (share('all', $b))[2] || $a cmp $b } @{$layers{$layer}};
}

open(my $missed, '>', "$data/../missed.txt") or die "missed.txt: $!";
for my $file (sort keys %lines) {
  open(my $source, '<', "$tree/$file") or die "$file: $!";
  while (my $text = <$source>) {
    print $missed "$file:$.: $text" if $lines{$file}{$.} && !$covered{all}{$file}{$.};
  }
}

my $low = 0;
for my $layer (grep { $layers{$_} && $bars{$_} } qw(core backend)) {
  my $percent = (share('all', @{$layers{$layer}}))[2];
  next if $percent >= $bars{$layer};
  printf "\n%s: %.1f %% of the lines are run, less than %d %%\n", $layer, $percent, $bars{$layer};
  $low = 1;
}
exit $low;
