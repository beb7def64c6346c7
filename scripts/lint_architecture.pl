#!/usr/bin/perl
# lint_architecture.pl - ARCHITECTURE.md against the tree: each file and pattern in backquotes is there, and each file of
# src/ stands in the table of files. Prints one line per finding and nothing when all is well.
#
# In a row of a table the folder of a name goes on to the names after it that have none. What has NAME or NN in it stands
# for a name that the reader chooses.
use strict;
use warnings;

open(my $page, '<', 'ARCHITECTURE.md') or die "ARCHITECTURE.md: $!\n";
my (%covered, $in_files, $code);
while (my $line = <$page>) {
  $code = !$code if $line =~ /^```/;
  next if $code;
  $in_files = $line =~ /^## Files/ if $line =~ /^## /;
  my $folder = '';
  for my $name ($line =~ /`([^`\s]+)`/g) {
    next if $name !~ m{^[\w./*-]+$} || $name =~ /NAME|NN/;
    next if $name !~ m{\.(?:cpp|hpp|sh|sql|pl|md|\*)$} && $name !~ m{^(?:test|src|sql|bench|docs|demo|scripts|psql)/};
    $folder = $1 if $name =~ m{^(.*/)};
    my @found = map { grep { -e } glob } $name, "src/$name", "src/backend/$name", $name =~ m{/} ? () : ("src/$folder$name", "$folder$name");
    print "line $.: there is no $name\n" if !@found;
    $covered{$_} = 1 for $in_files ? @found : ();
  }
}
for my $file (glob 'src/*/*.[ch]pp') {
  print "$file is not in the table of files\n" if !$covered{$file};
}
