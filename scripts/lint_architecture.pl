#!/usr/bin/perl
# lint_architecture.pl - ARCHITECTURE.md and the README.md of each folder of src/ against the tree: each file and pattern in
# backquotes is there, and each file stands in the README.md of its folder. Prints one line per finding and nothing when all
# is well.
#
# A README.md names files of its own folder without it; in a line of ARCHITECTURE.md the folder of a name goes on to the
# names after it that have none. What has NAME or NN in it stands for a name that the reader chooses.
use strict;
use warnings;

my %covered;
my %folders = map { m{^(.*)/} ? ($1 => 1) : () } split /\n/, qx(find src -mindepth 2 -name '*.[ch]pp');
my @folders = sort keys %folders;
for my $folder ('', @folders) {
    my $page = $folder eq '' ? 'ARCHITECTURE.md' : "$folder/README.md";
    my ($in, $code);
    if (!open $in, '<', $page) {
        print "there is no $page\n";
        next;
    }
    while (my $line = <$in>) {
        $code = !$code if $line =~ /^```/;
        next if $code;
        my $last = '';
        for my $name ($line =~ /`([^`\s]+)`/g) {
            next if $name !~ m{^[\w./*-]+$} || $name =~ /NAME|NN/;
            next if $name !~ m{\.(?:cpp|hpp|sh|sql|pl|md|\*)$} && $name !~ m{^(?:test|src|sql|bench|docs|demo|scripts|psql)/};
            $last = $1 if $name =~ m{^(.*/)};
            my @own = $folder eq '' ? () : grep { -e } glob "$folder/$name";
            $covered{$_} = 1 for @own;
            print "$page:$.: there is no $name\n" unless @own || grep { -e } map { glob } $name, "src/$name", $name =~ m{/} ? () : ("$last$name", "src/$last$name");
        }
    }
}
for my $file (map { glob "$_/*.[ch]pp" } @folders) {
    print "$file does not stand in the README.md of its folder\n" if !$covered{$file};
}
