#!/usr/bin/perl
# neighbour_scores.pl - whether answers over two neighbours can come from an (epsilon, delta)-private mechanism.
#
#   neighbour_scores.pl EPSILON DELTA FIRST SECOND FIRST_ANEW SECOND_ANEW
#
# Each file has one score a line. The event, score >= k or score <= k, that speaks most against the mechanism is chosen
# from the first two; its probabilities are bounded from the other two by Chernoff's inequality,
# P(KL(p^ || p) >= x) <= exp(-N x) on either side, each with a probability of 10^-7/4 at most: a private mechanism raises an
# alarm with at most 10^-7. Prints "private" or "broken", the event and both shares.
use strict;
use warnings;

my ($epsilon, $delta, @files) = @ARGV;
my @scores = map { open my $lines, "<", $_ or die "$_: $!"; [ map { chomp; $_ + 0 } <$lines> ] } @files;
for my $scores (@scores) { die "no scores\n" unless @$scores; }

sub count_of {
  my ($scores, $from, $above) = @_;
  return scalar grep { $above ? $_ >= $from : $_ <= $from } @$scores;
}

sub divergence {    # of coins with p and q
  my ($p, $q) = @_;
  my $sum = 0;
  $sum += $p * log($p / $q) if $p > 0;
  $sum += (1 - $p) * log((1 - $p) / (1 - $q)) if $p < 1;
  return $sum;
}

# The least (or greatest) probability that the share may come from.
sub bound_of {
  my ($count, $size, $upper) = @_;
  my $share = $count / $size;
  my $most = log(4e7) / $size;
  return $upper ? 1 : 0 if $share == ($upper ? 1 : 0);
  my ($near, $far) = ($share, $upper ? 1 - 1e-15 : 1e-15);
  for (1 .. 100) {
    my $middle = ($near + $far) / 2;
    if (divergence($share, $middle) < $most) { $near = $middle; } else { $far = $middle; }
  }
  return $far;
}

sub excess {
  my ($first, $second, $size) = @_;
  return bound_of($first, $size, 0) - exp($epsilon) * bound_of($second, $size, 1) - $delta;
}

my ($worst, $event) = (-9, undef);
my %values = map { $_ => 1 } @{ $scores[0] }, @{ $scores[1] };
my @candidates = sort { $a <=> $b } keys %values;
my $step = int(@candidates / 200) + 1;
for (my $i = 0; $i < @candidates; $i += $step) {
  for my $above (0, 1) {
    for my $exchanged (0, 1) {
      my @counts = map { count_of($scores[$_], $candidates[$i], $above) } 0, 1;
      @counts = reverse @counts if $exchanged;
      my $excess = excess(@counts, scalar @{ $scores[0] });
      ($worst, $event) = ($excess, [ $candidates[$i], $above, $exchanged ]) if $excess > $worst;
    }
  }
}
my ($from, $above, $exchanged) = @$event;
my @counts = map { count_of($scores[$_], $from, $above) } 2, 3;
my @shown = @counts;
@counts = reverse @counts if $exchanged;
my $size = @{ $scores[2] };
printf "%s: score %s %s in %d and %d of %d\n", excess(@counts, $size) > 0 ? "broken" : "private", $above ? ">=" : "<=", $from, @shown, $size;
