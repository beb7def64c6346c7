#!/usr/bin/perl
# lint_settings.pl - the settings: each that settings.cpp defines fills the member of Settings of its name, which something
# reads, and has a row in docs/reference.md; and there are no other members and no other rows. A setting that is hidden from
# pg_settings (GUC_NO_SHOW_ALL) has no row.
#
# Prints one line per finding and nothing when all is well.
use strict;
use warnings;

sub text {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    return scalar <$in>;
}

my (%defined, %hidden);
my $definitions = text('src/backend/server/settings.cpp');
while ($definitions =~ /\bDefine\w+\(\s*"privacy_score\.(\w+)"(.*?)\);/gs) {
    my ($name, $rest) = ($1, $2);
    $defined{$name} = 1;
    $hidden{$name} = 1 if $rest =~ /GUC_NO_SHOW_ALL/;
    print "settings.cpp: $name does not fill ps_settings.$name\n" unless $rest =~ /&ps_settings\.$name\b/;
}
my ($struct) = text('src/backend/server/settings.hpp') =~ /^struct Settings \{(.*?)^\};/ms;
my %member = map { $_ => 1 } $struct =~ /^\s*(?:int |bool |double |char\* ?)(\w+);/mg;

my %read;
for my $file (split /\n/, qx(find src -name '*.[ch]pp')) {
    my $code = text($file);
    $code =~ s{//[^\n]*}{}g;
    # Neither its address for the definition nor an assignment is a use.
    $read{$1} = 1 while $code =~ /(?<!&)\bps_settings\.(\w+)\b(?!\s*=[^=])/g;
}
for my $file (glob 'sql/[0-9][0-9]_*.sql') {
    my $script = text($file);
    $read{$1} = 1 while $script =~ /\bcurrent_setting\('privacy_score\.(\w+)'/g;
}

my ($section) = text('docs/reference.md') =~ /^## Settings\n(.*?)^## /ms;
my %row = map { $_ => 1 } $section =~ /^\| `(\w+)` \|/mg;

for my $name (sort keys %defined) {
    print "$name is defined, but Settings has no member of that name\n" unless $member{$name};
    print "$name is defined, but nothing reads it\n" unless $read{$name};
    print "$name has no row in docs/reference.md\n" unless $row{$name} || $hidden{$name};
}
print "Settings has $_, which no setting fills\n" for grep { !$defined{$_} } sort keys %member;
print "docs/reference.md has a row for $_, which is no setting\n" for grep { !$defined{$_} || $hidden{$_} } sort keys %row;
