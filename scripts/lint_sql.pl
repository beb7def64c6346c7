#!/usr/bin/perl
# lint_sql.pl PART... - the rules for the parts of the extension script, read statement by statement:
#
#   * the first part begins with the guard against \i;
#   * every schema, type, table, view, sequence, function, procedure, aggregate and operator has COMMENT ON in its part;
#   * a function in sql or plpgsql sets search_path or has a SQL-standard body;
#   * every function states its volatility, so that its author has decided.
#
# Prints one line per finding and nothing when all is well.
use strict;
use warnings;

# Splits a script into statements, with the line each begins on. Quoted text and comments hold no semicolon that counts.
sub statements {
    my ($text) = @_;
    my @found;
    my ($line, $start, $current, $atomic) = (1, 0, '', 0);
    while ($text =~ /\G(--[^\n]*|\/\*.*?\*\/|\$(\w*)\$.*?\$\2\$|'(?:[^']|'')*'|"(?:[^"]|"")*"|^\\[^\n]*|\w+|;|\s+|.)/gsm) {
        my $token = $1;
        my $is_blank = $token =~ /^(\s|--|\/\*|\\)/;
        if (!$is_blank && $current eq '') { $start = $line }
        $atomic++ if lc($token) eq 'atomic';
        $atomic-- if $atomic && lc($token) eq 'end' && $current !~ /\bcase\b(?!.*\bend\b)/is;
        if ($token eq ';' && !$atomic) {
            push @found, [$start, $current];
            $current = '';
        } elsif ($is_blank) {
            $current .= ' ' if $current ne '';
        } else {
            $current .= $token;
        }
        $line += ($token =~ tr/\n//);
    }
    push @found, [$start, "$current (no semicolon)"] if $current =~ /\S/;
    return @found;
}

# Takes schema and quotes off a name.
sub bare {
    my ($name) = @_;
    $name =~ s/^(?:\@extschema\@|"?privacy_score"?)\.//;
    $name =~ tr/"//d;
    return lc $name;
}

my $kinds = qr/SCHEMA|TYPE|DOMAIN|TABLE|VIEW|MATERIALIZED\s+VIEW|SEQUENCE|FUNCTION|PROCEDURE|AGGREGATE|OPERATOR/i;
my $name_of = qr/((?:"[^"]+"|\@?\w+\@?)(?:\.(?:"[^"]+"|\w+|[^\s\w("]+))?|[^\s\w("]+)/;

my $first = 1;
for my $file (@ARGV) {
    local $/;
    open my $in, '<', $file or die "$file: $!\n";
    my $text = <$in>;
    close $in;
    if ($first) {
        print "$file: does not begin with the guard\n"
            if $text !~ /^(?:\s|--[^\n]*\n|\/\*.*?\*\/)*\\echo Use "CREATE EXTENSION privacy_score".*\\quit\s*$/m;
        $first = 0;
    }
    my (%made, %commented, %line);
    for my $statement (statements($text)) {
        my ($line, $sql) = @$statement;
        if ($sql =~ /^CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?($kinds)\s+(?:IF\s+NOT\s+EXISTS\s+)?$name_of/i) {
            my ($kind, $name) = (uc $1, bare($2));
            next if $kind eq 'OPERATOR' && $name =~ /^(class|family)$/;
            $made{"$kind $name"}++;
            $line{"$kind $name"} //= $line;
            next unless $kind =~ /FUNCTION|PROCEDURE/;
            my ($head) = $sql =~ /^(.*?)(?:\$\w*\$|$)/s;
            my $tail = $sql;
            $tail =~ s/\$(\w*)\$.*?\$\1\$//gs;
            print "$file:$line: $name: search_path is not set\n"
                if $tail =~ /\bLANGUAGE\s+'?(sql|plpgsql)\b/i && $tail !~ /\bSET\s+search_path\b/i
                && $tail !~ /\bBEGIN\s+ATOMIC\b/i && $tail !~ /\)\s*(?:RETURNS.*\b)?RETURN\s/i;
            print "$file:$line: $name: IMMUTABLE, STABLE or VOLATILE is not stated\n"
                if $kind eq 'FUNCTION' && $tail !~ /\b(IMMUTABLE|STABLE|VOLATILE)\b/i;
        } elsif ($sql =~ /^COMMENT\s+ON\s+($kinds)\s+$name_of/i) {
            $commented{uc($1) . ' ' . bare($2)}++;
        }
    }
    for my $object (sort keys %made) {
        my $comments = $commented{$object} // 0;
        print "$file:$line{$object}: $object: defined $made{$object} times, commented on $comments times\n"
            if $comments < $made{$object};
    }
}
