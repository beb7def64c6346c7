/*
 * clipped_sums.cpp - norms, scaling and sums of what persons add (see clipped_sums.hpp).
 *
 * What a person adds to a group has up to 127 bits, so scaling first cuts vector and norm to 64: contributions are
 * rounded down and the norm up, which keeps the sum of the scaled ones below the bound.
 */
#include "core/private_sql/clipped_sums.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

__extension__ using UnsignedInt128 = unsigned __int128;

constexpr Int128 kMostSum = Int128{1} << 126;
// Of 2^32 groups, no sum of these is beyond 2^126.
constexpr Int128 kMostUnits = Int128{1} << 94;
constexpr int kFinestExponent = -10;
constexpr unsigned kWordBits = 64;

unsigned BitsIn(UnsignedInt128 value) {
  const auto high = static_cast<std::uint64_t>(value >> kWordBits);
  const auto low = static_cast<std::uint64_t>(value);
  if (high != 0) return 128 - static_cast<unsigned>(__builtin_clzll(high));
  return low == 0 ? 0 : kWordBits - static_cast<unsigned>(__builtin_clzll(low));
}

// Sum of (value - centre)^2 = squares - 2 centre sum + count centre^2; held at 2^126, and at 0 where squares were held.
Int128 SpreadOf(const ValueSums& sums, std::int64_t centre) {
  Int128 linear = 0;
  Int128 constant = 0;
  Int128 spread = 0;
  if (__builtin_mul_overflow(sums.sum, static_cast<Int128>(centre) * -2, &linear) ||
      __builtin_mul_overflow(static_cast<Int128>(centre) * centre, static_cast<Int128>(sums.count), &constant) ||
      __builtin_add_overflow(sums.squares, linear, &spread) || __builtin_add_overflow(spread, constant, &spread))
    return kMostSum;
  return std::clamp(spread, Int128{0}, kMostSum);
}

Int128 HeldUnits(Int128 sum, unsigned unit_exponent) {
  return std::clamp(sum / (Int128{1} << unit_exponent), -kMostUnits, kMostUnits);
}

// What a record adds to the quantity, in units.
Int128 UnitsOf(const PersonRecords& records, std::size_t record, const MeasuredQuantity& quantity) {
  switch (quantity.kind) {
    case MeasureKind::kRows:
      return records.RowsOf(record);
    case MeasureKind::kCount:
      return records.SumsOf(record, quantity.column).count;
    case MeasureKind::kPersons:
      return 1;
    case MeasureKind::kHolders:
      return records.SumsOf(record, quantity.column).count > 0 ? 1 : 0;
    case MeasureKind::kSum:
      return HeldUnits(records.SumsOf(record, quantity.column).sum, quantity.unit_exponent);
    case MeasureKind::kSpread:
      return HeldUnits(SpreadOf(records.SumsOf(record, quantity.column), quantity.centres[records.GroupOf(record)]),
                       quantity.unit_exponent);
  }
  return 0;
}

// What a record adds to the norm.
UnsignedInt128 NormPartOf(const PersonRecords& records, std::size_t record, const MeasuredQuantity& quantity) {
  if (quantity.kind == MeasureKind::kCount) return static_cast<UnsignedInt128>(records.RowsOf(record));
  if (quantity.kind == MeasureKind::kHolders) return 1;
  const Int128 units = UnitsOf(records, record, quantity);
  return static_cast<UnsignedInt128>(units < 0 ? -units : units);
}

void RequireSquares(const PersonRecords& records, const MeasuredQuantity& quantity) {
  if (quantity.kind == MeasureKind::kSpread && !records.has_squares())
    throw DamagedData("squares of the values of a private query");
}

bool IsShown(const ShownGroups& shown, std::uint32_t group) { return shown.empty() || shown[group]; }

UnsignedInt128 NormOf(const PersonRecords& records, std::size_t person, const MeasuredQuantity& quantity,
                      const ShownGroups& shown) {
  UnsignedInt128 norm = 0;
  for (std::size_t record = records.FirstOf(person); record < records.FirstOf(person + 1); ++record)
    if (IsShown(shown, records.GroupOf(record))) norm += NormPartOf(records, record, quantity);
  return norm;
}

// Scales the contributions of one person, which have the norm.
class Scaling {
 public:
  Scaling(UnsignedInt128 norm, const ClipGrid& grid) : exponent_(grid.exponent) {
    // Only a norm that is beyond the bound is scaled. A bound has at most 62 bits.
    const auto bound = static_cast<UnsignedInt128>(grid.bound);
    const bool fits = exponent_ >= 0 ? RoundedUp(norm, static_cast<unsigned>(exponent_)) <= bound
                                     : BitsIn(norm) <= kWordBits && norm << static_cast<unsigned>(-exponent_) <= bound;
    if (fits) return;
    is_scaled_ = true;
    cut_ = std::max(BitsIn(norm), kWordBits) - kWordBits;
    UnsignedInt128 short_norm = RoundedUp(norm, cut_);
    if (BitsIn(short_norm) > kWordBits) short_norm = RoundedUp(norm, ++cut_);
    norm_ = static_cast<std::uint64_t>(short_norm);
    bound_ = grid.bound;
  }

  // Units as steps, towards zero.
  Int128 StepsOf(Int128 units) const {
    const bool is_negative = units < 0;
    auto size = static_cast<UnsignedInt128>(is_negative ? -units : units);
    if (is_scaled_) {
      size = (size >> cut_) * static_cast<std::uint64_t>(bound_) / norm_;
    } else {
      size = exponent_ >= 0 ? size >> static_cast<unsigned>(exponent_) : size << static_cast<unsigned>(-exponent_);
    }
    return is_negative ? -static_cast<Int128>(size) : static_cast<Int128>(size);
  }

 private:
  static UnsignedInt128 RoundedUp(UnsignedInt128 value, unsigned bits) {
    const UnsignedInt128 cut = value >> bits;
    return cut << bits == value ? cut : cut + 1;
  }

  int exponent_;
  bool is_scaled_ = false;
  unsigned cut_ = 0;
  std::uint64_t norm_ = 1;
  std::int64_t bound_ = 0;
};

}  // namespace

NormBins CountNorms(const PersonRecords& records, const MeasuredQuantity& quantity, const ShownGroups& shown) {
  RequireSquares(records, quantity);
  NormBins bins(kMostNormBin + 1);
  for (std::size_t person = 0; person < records.persons(); ++person) {
    const UnsignedInt128 norm = NormOf(records, person, quantity, shown);
    if (norm == 0) continue;
    ++bins[std::min<std::size_t>(BitsIn(norm - 1), kMostNormBin)];
  }
  return bins;
}

ClipGrid ChooseClipGrid(std::int64_t bound, const Rational& epsilon, bool proven) {
  if (bound < 1 || bound > kMostValueSteps)
    throw InvalidValue("bound on what a person adds must be between 1 and 2^62, not " + std::to_string(bound),
                       "It is how many rows one person can have.");
  if (epsilon <= Rational(0))
    throw InvalidValue("epsilon must be greater than zero, not " + TextOf(epsilon),
                       "The smaller it is, the more noise there is.");
  int exponent = proven ? 0 : kFinestExponent;
  const auto steps = [&] { return exponent < 0 ? Integer(bound) << -exponent : Integer(bound) >> exponent; };
  while (steps() > kMostValueSteps || Rational(steps(), 1) / epsilon > Rational(kLargestNoiseScale)) ++exponent;
  const Rational scale = Rational(steps(), 1) / epsilon;
  const DiscreteLaplace law(scale);  // or raises why there is none
  return {static_cast<std::int64_t>(steps()), exponent, scale};
}

std::vector<Int128> ClippedTotals(const PersonRecords& records, const MeasuredQuantity& quantity, const ClipGrid& grid,
                                  const ShownGroups& shown) {
  RequireSquares(records, quantity);
  std::vector<Int128> totals(records.groups());
  for (std::size_t person = 0; person < records.persons(); ++person) {
    const Scaling scaling(NormOf(records, person, quantity, shown), grid);
    for (std::size_t record = records.FirstOf(person); record < records.FirstOf(person + 1); ++record) {
      const std::uint32_t group = records.GroupOf(record);
      if (IsShown(shown, group)) totals[group] += scaling.StepsOf(UnitsOf(records, record, quantity));
    }
  }
  return totals;
}

void AddNoise(std::vector<Int128>& totals, const ClipGrid& grid, const ShownGroups& shown, RandomSource& random) {
  const DiscreteLaplace law(grid.scale);
  for (std::size_t group = 0; group < totals.size(); ++group)
    if (IsShown(shown, static_cast<std::uint32_t>(group))) totals[group] += law.Draw(random);
}

Int128 WholeUnits(Int128 steps, int exponent) {
  const bool is_negative = steps < 0;
  auto size = static_cast<UnsignedInt128>(is_negative ? -steps : steps);
  if (exponent < 0) {
    const auto bits = static_cast<unsigned>(-exponent);
    size = (size + (UnsignedInt128{1} << (bits - 1))) >> bits;
  } else if (exponent > 0 && size >= static_cast<UnsignedInt128>(kMostSum) >> static_cast<unsigned>(exponent)) {
    size = static_cast<UnsignedInt128>(kMostSum);
  } else {
    size <<= static_cast<unsigned>(exponent);
  }
  size = std::min(size, static_cast<UnsignedInt128>(kMostSum));
  return is_negative ? -static_cast<Int128>(size) : static_cast<Int128>(size);
}

}  // namespace privacy_score
