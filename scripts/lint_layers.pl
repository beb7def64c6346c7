#!/usr/bin/perl
# lint_layers.pl [FOLDER] - the includes of src/ against src/layers.txt: prints one line per finding, nothing when all is well.
# With a folder: prints it and the folders that it may include, each with what it may include in turn.
use strict;
use warnings;

# Folder -> what it may include -> 1.
my (%may, $before);
open my $rules, '<', 'src/layers.txt' or die "src/layers.txt: $!\n";
while (my $line = <$rules>) {
    next if $line =~ /^\s*(?:#|$)/;
    my ($folder, $words) = $line =~ m{^([\w/]+):\s*(.*?)\s*$} or die "src/layers.txt: cannot read $line";
    my %these;
    for my $word (split ' ', $words) {
        if ($word eq '+') {
            $these{$_} = 1 for $before, keys %{ $may{$before} };
        } elsif ($word =~ m{^(\w+)/\*$}) {
            $these{$_} = 1 for grep { index($_, "$1/") == 0 } keys %may;
        } else {
            print "src/layers.txt:$.: $folder may include $word, which comes later or is no folder\n" unless $may{$word};
            $these{$word} = 1;
        }
    }
    print "src/layers.txt:$.: there is no src/$folder\n" unless -d "src/$folder";
    $may{$folder} = \%these;
    $before = $folder;
}

if (@ARGV) {
    my (@open, %seen) = @ARGV;
    while (defined(my $folder = pop @open)) { push @open, keys %{ $may{$folder} } unless $seen{$folder}++; }
    print join(' ', sort keys %seen), "\n";
    exit;
}

for my $file (split /\n/, qx(find src -name '*.[ch]pp' | sort)) {
    my ($folder) = $file =~ m{^src/(.*)/};
    if (!$may{$folder}) {
        print "$file: src/layers.txt does not know its folder\n";
        next;
    }
    open my $in, '<', $file or die "$file: $!\n";
    while (<$in>) {
        my ($header) = /^\s*#\s*include "([^"]+)"/ or next;
        next unless -e "src/$header" || $header =~ m{^(?:core|sqlparse|solver|backend)/};
        my ($target) = $header =~ m{^(.*)/};
        print "$file:$.: may not include $header\n" unless $target eq $folder || $may{$folder}{$target};
    }
}
