#!/usr/bin/perl
# lint_types.pl FILE... - types that share one namespace and one name, in files of which one need not know the other: the
# linker takes the code that templates make of the one for that of the other. What stands in an unnamed namespace is a
# file's own.
#
# Prints one line per finding and nothing when all is well.
use strict;
use warnings;

my %places;
for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    my $unnamed = 0;
    while (<$in>) {
        if (/^namespace \{/) { $unnamed = 1 }
        elsif (/^\}  \/\/ namespace$/) { $unnamed = 0 }
        next if $unnamed;
        # Types within types are indented.
        push @{ $places{$1} }, "$file:$." if /^(?:struct|class|union|enum(?: class)?) (\w+)(?: final)?(?: :[^;{]*)?\s*\{/ || /^using (\w+) =/;
    }
    close $in;
}
for my $name (sort keys %places) {
    print "$name: @{ $places{$name} }\n" if @{ $places{$name} } > 1;
}
