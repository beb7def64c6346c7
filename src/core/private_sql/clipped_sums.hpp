/*
 * clipped_sums.hpp - norms of what persons add, and sums over persons of what is left of it below a bound.
 *
 * What person i adds to a measure is a vector v_i over the groups. With a bound t it is scaled by w_i = min(1,
 * t/|v_i|), |v| = sum over groups of |v_g|, and rounded towards zero to whole steps. One person then moves the vector
 * of all groups by at most t, so every group gets discrete Laplace noise of scale t/epsilon for one epsilon [Dwork,
 * McSherry, Nissim, Smith 2006]. Integers only: what a person adds is at most t exactly.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"
#include "core/private_sql/person_sums.hpp"

namespace privacy_score {

enum class MeasureKind {
  kRows,     // rows
  kCount,    // values of a column that are not NULL; scaled by the norm of rows, of which they are a part
  kPersons,  // 1 for each group of hers
  kHolders,  // 1 for each group in which she has a value of a column that is not NULL
  kSum,      // sum of a column, in steps of its grid
  kSpread,   // sum of (value - centre of the group)^2 of a column, in squares of steps; of records with squares
};

struct MeasuredQuantity {
  MeasureKind kind = MeasureKind::kRows;
  std::size_t column = 0;             // of kCount, kHolders, kSum, kSpread
  std::vector<std::int64_t> centres;  // of kSpread: one a group, within +-kMostValueSteps
  // Units of kSum and kSpread are 2^unit_exponent (squares of) steps, towards zero: bounds reach to 2^62 units only.
  // From 0 to 126; what a person adds to a group is held within +-2^94 units.
  unsigned unit_exponent = 0;
};

// Which groups count: one entry a group; empty: all. Groups that are not shown are in no norm.
using ShownGroups = std::vector<bool>;

// Norms of persons by size: bins[b] is how many have a norm of ceil(log2 norm) = b, b = 0..kMostNormBin; what is beyond
// is in the last, a norm of 0 in none. One person is in one bin at most. kCount has the norm of kRows, kHolders that of
// kPersons.
constexpr int kMostNormBin = 62;
using NormBins = std::vector<std::int64_t>;
NormBins CountNorms(const PersonRecords& records, const MeasuredQuantity& quantity, const ShownGroups& shown);

// How finely clipped contributions are added up: a step is 2^exponent units (rows, steps of the column's grid, ...).
struct ClipGrid {
  std::int64_t bound;  // t in steps
  int exponent;        // -10 or greater
  Rational scale;      // of the noise, in steps: bound/epsilon
};

// The grid for a bound t, in units from 1 to 2^62. Whole units when the norms are `proven` to be within the bound, so
// that nothing is scaled; else 1/1024 units, or coarser ones where the scale would be beyond what noise is drawn for
// (10^12 steps): what rounding takes from 10^9 persons in one group is then still a hundredth of the noise. Throws
// Error 22023 for other bounds, and when epsilon makes no law.
ClipGrid ChooseClipGrid(std::int64_t bound, const Rational& epsilon, bool proven);

// The sums of the clipped contributions by group, in steps: one for each group of `records`; 0 where it is not shown.
std::vector<Int128> ClippedTotals(const PersonRecords& records, const MeasuredQuantity& quantity, const ClipGrid& grid,
                                  const ShownGroups& shown);

// Adds the noise of the grid's scale to each total that is shown. Sums stay far from the ends of 128 bits.
void AddNoise(std::vector<Int128>& totals, const ClipGrid& grid, const ShownGroups& shown, RandomSource& random);

// steps 2^exponent, rounded to the nearest whole unit (halves away from zero) and held within +-2^126.
Int128 WholeUnits(Int128 steps, int exponent);

}  // namespace privacy_score
