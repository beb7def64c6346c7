#!/usr/bin/perl
# lint_unused.pl OBJECT... - functions and constants of the sources that nothing but a test uses: run below a finished build.
#
# What has a symbol is declared and defined; a further mention of its name in src/ or bench/ is a use. What is defined in a
# header has one mention of its own. Names are told apart by their last part only, so a namesake that is used hides one that
# is not; nothing that is used is blamed. Prints one line per finding and nothing when all is well.
use strict;
use warnings;

# Said to be for tests where they are declared.
my %for_tests = map { $_ => 1 } qw(privacy_score_nesting_bound);

my %text;
for my $file (split /\n/, qx(find src bench -name '*.[ch]pp' | sort)) {
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    my $code = <$in>;
    $code =~ s{/\*.*?\*/}{}gs;
    $code =~ s{"(?:[^"\\\n]|\\.)*"}{""}g;
    $code =~ s{//[^\n]*}{}g;
    $text{$file} = $code;
}
my %mentions;
for my $code (values %text) { $mentions{$_}++ for $code =~ /\b([A-Za-z_]\w*)\b/g }

# What libpg_query asks of us (Makefile).
my %asked_for = map { /\b[Uw] (island_\w+)$/ ? ($1 => 1) : () } split /\n/, qx(nm --undefined-only build/libpg_query.a 2>/dev/null);

# Functions with a symbol of their own: how many bear the name, and which object has one.
my (%symbols, %object);
for my $object (@ARGV) {
    print "$object is not built\n" unless -e $object;
    my %seen;
    for (split /\n/, qx(nm -C --defined-only $object)) {
        next unless /^[0-9a-f]+ T (.*)$/;
        my $symbol = $1;
        $symbol =~ s/\[abi:\w+\]//g;
        $symbol =~ s/ \[clone [^\]]*\]//;
        next unless $symbol =~ /^(?:[^(]*::)?(~?\w+)(?:\(|$)/;
        my $name = $1;
        # Constructors and destructors go with their class; the server and SQL call the rest.
        next if $name =~ /^~|^(ps_\w+|pg_finfo_\w+|_PG_init|Pg_magic_func)$/ || $symbol =~ /\b\Q$name\E::\Q$name\E\(/ || $symbol =~ /operator/;
        next if $seen{$symbol}++;
        $symbols{$name}++;
        $object{$name} = $object;
    }
}
for my $name (sort keys %symbols) {
    next if $for_tests{$name} || $asked_for{$name} || ($mentions{$name} // 0) > 2 * $symbols{$name};
    print "$object{$name}: $name() is used by nothing in src or bench\n";
}

# What headers define in place, and constants.
for my $file (sort keys %text) {
    my @names = $file =~ /\.hpp$/ ? $text{$file} =~ /\b(\w+)\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)(?: const)?(?: noexcept)?(?: override)?\s*\{/g : ();
    # A section has all columns that cross the wall, whether each is looked at or shown as it is.
    (my $constants = $text{$file}) =~ s/\bWIRE_SECTION\([^()]*\);//g;
    push @names, $constants =~ /\b(k[A-Z]\w*)\b/g;
    my %seen;
    for my $name (grep { !$seen{$_}++ } @names) {
        print "$file: $name is used by nothing in src or bench\n" if $mentions{$name} == 1 && !$symbols{$name};
    }
}
