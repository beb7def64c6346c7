#!/usr/bin/perl
# lint_meta.pl - META.json against version 1.0.0 of the specification of PGXN's metadata: required fields, their forms,
# and that the files it names are there or are made. Prints one line per finding and nothing when all is well.
use strict;
use warnings;
use JSON::PP;

open(my $in, '<', 'META.json') or die "META.json: $!\n";
my $meta = eval { decode_json(do { local $/; <$in> }) } or die "META.json is no JSON: $@";

my $version = qr/^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-?[A-Za-z][-0-9A-Za-z]*)?$/;
my $name = qr{^[^\s/\\[:cntrl:]]{2,}$};
my %licences = map { $_ => 1 } qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3
  lgpl_2_1 lgpl_3_0 mit mozilla_1_0 mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib open_source restricted unrestricted unknown);
my %made = map { chomp; $_ => 1 } qx(sed -nE "s,^default_version = '(.*)',sql/privacy_score--\\1.sql,p" privacy_score.control);

for my $field (qw(name version abstract maintainer license provides meta-spec)) {
  print "$field is missing\n" unless defined $meta->{$field} && $meta->{$field} ne '';
}
my %known = map { $_ => 1 } qw(name version abstract description maintainer license provides meta-spec generated_by tags no_index prereqs release_status resources);
for my $field (sort keys %$meta) { print "$field is no field of the specification\n" unless $known{$field} || $field =~ /^x_/i; }
print "name is not a term\n" unless ($meta->{name} // '') =~ $name;
print "version is not semantic\n" unless ($meta->{version} // '') =~ $version;
print "meta-spec.version is not 1.0.0\n" unless ref $meta->{'meta-spec'} eq 'HASH' && ($meta->{'meta-spec'}{version} // '') eq '1.0.0';
for my $licence (ref $meta->{license} eq 'ARRAY' ? @{ $meta->{license} } : ref $meta->{license} ? () : $meta->{license} // ()) {
  print "licence $licence is not known\n" unless $licences{$licence};
}
for my $maintainer (ref $meta->{maintainer} eq 'ARRAY' ? @{ $meta->{maintainer} } : $meta->{maintainer} // ()) {
  print "a maintainer is empty\n" unless $maintainer =~ /\S/;
}
print "release_status is not stable, testing or unstable\n" if defined $meta->{release_status} && $meta->{release_status} !~ /^(stable|testing|unstable)$/;
print "provides is empty\n" unless ref $meta->{provides} eq 'HASH' && %{ $meta->{provides} };
for my $provided (sort keys %{ ref $meta->{provides} eq 'HASH' ? $meta->{provides} : {} }) {
  my $entry = $meta->{provides}{$provided};
  print "provides: $provided is not a term\n" unless $provided =~ $name;
  print "provides: version of $provided is not semantic\n" unless ($entry->{version} // '') =~ $version;
  print "provides: $provided has no file\n" unless defined $entry->{file};
  for my $file (grep { defined } @$entry{qw(file docfile)}) {
    print "provides: there is no $file\n" unless -e $file || $made{$file};
  }
}
for my $phase (sort keys %{ $meta->{prereqs} // {} }) {
  print "prereqs: phase $phase is not known\n" unless $phase =~ /^(configure|build|test|runtime|develop)$/;
  for my $relation (sort keys %{ $meta->{prereqs}{$phase} }) {
    print "prereqs: relation $relation is not known\n" unless $relation =~ /^(requires|recommends|suggests|conflicts)$/;
    print "prereqs: version of $_ is not semantic\n" for grep { ($meta->{prereqs}{$phase}{$relation}{$_} // '') !~ /^0$|$version/ } sort keys %{ $meta->{prereqs}{$phase}{$relation} };
  }
}
for my $tag (@{ $meta->{tags} // [] }) { print "tag $tag is longer than 255 or holds / or \\\n" if length $tag > 255 || $tag =~ m{[/\\]}; }
