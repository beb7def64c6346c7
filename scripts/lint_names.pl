#!/usr/bin/perl
# lint_names.pl FILE... - functions that share a name in files of one layer: who reads a call of one takes it for the
# other, and two that are copies would be one. Overloads of one file are its own affair; ps_* hooks chain by their names.
#
# Prints one line per finding and nothing when all is well.
use strict;
use warnings;

my %places;
for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    my $text = <$in>;
    close $in;
    $text =~ s{//[^\n]*}{}g;
    # Strings may hold braces; comments of other kinds stand at the head of a file only.
    $text =~ s{/\*.*?\*/}{ my $c = $&; $c =~ s/[^\n]//g; $c }gse;
    while ($text =~ /^(?![ \t#}])(?:template <[^\n]*>\n)?((?:[\w:<>,*& ]|\n(?=[^\n]*\())*?[\w>*&] *[ *&])(\w+)(\((?:[^(){};]|\([^()]*\))*\)) *(?:const |noexcept |try )*\{/mg) {
        my ($kind, $name) = ($1, $2);
        next if $kind =~ /^\s*(?:return|else|namespace|struct|class|enum)\b/;
        my $line = 1 + (substr($text, 0, $-[2]) =~ tr/\n//);
        $places{$name}{$file} //= $line;
    }
}
for my $name (sort keys %places) {
    my @files = sort keys %{ $places{$name} };
    my %pairs = map { s/\.[ch]pp$//r => 1 } @files;
    next if keys %pairs < 2;
    print "$name: ", join(' ', map { "$_:$places{$name}{$_}" } @files), "\n";
}
