/*
 * clipped_sums_test.cpp - norms and clipped sums are those of the definition in wide numbers, and nobody moves the sums
 * by more than the bound.
 */
#include "core/private_sql/clipped_sums.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "error_fixture.hpp"
#include "neighbour_fixture.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;
using testing_support::NeighbourTest;
using testing_support::SeededRandom;

Integer Wide(Int128 value) {
  const bool is_negative = value < 0;
  auto size = static_cast<unsigned __int128>(is_negative ? -value : value);
  const Integer wide = (Integer(static_cast<std::uint64_t>(size >> 64)) << 64) + static_cast<std::uint64_t>(size);
  return is_negative ? -wide : wide;
}

struct PersonRow {
  PersonWord person;
  std::uint32_t group;
  std::int64_t values[2];
};

// Some persons have many rows; values are of any size.
std::vector<PersonRow> SomeRows(std::mt19937_64& random, std::size_t groups, unsigned value_bits) {
  std::vector<PersonRow> rows;
  const std::size_t persons = 1 + random() % 12;
  for (std::size_t person = 0; person < persons; ++person) {
    const std::size_t count = std::size_t{1} << random() % 8;
    for (std::size_t i = 0; i < count; ++i) {
      PersonRow row = {{person * 0x9e3779b97f4a7c15U, 0}, static_cast<std::uint32_t>(random() % groups), {}};
      for (std::int64_t& value : row.values) {
        value = static_cast<std::int64_t>(random()) >> (64 - value_bits);
        if (random() % 4 == 0) value = kNullSteps;
      }
      rows.push_back(row);
    }
  }
  return rows;
}

PersonRecords RecordsOf(const std::vector<PersonRow>& rows, std::size_t groups) {
  PersonSums sums(2, false, true);
  for (const PersonRow& row : rows) sums.Add(row.person, row.group, row.values);
  return sums.Finish(groups);
}

// What a record adds, by the definition. Centres are small, so nothing is held.
Integer PlainUnits(const PersonRecords& records, std::size_t i, const MeasuredQuantity& quantity) {
  const ValueSums sums = records.SumsOf(i, quantity.column);
  Integer units = 0;
  switch (quantity.kind) {
    case MeasureKind::kRows:
      return records.RowsOf(i);
    case MeasureKind::kPersons:
      return 1;
    case MeasureKind::kCount:
      return sums.count;
    case MeasureKind::kHolders:
      return sums.count > 0 ? 1 : 0;
    case MeasureKind::kSum:
      units = Wide(sums.sum);
      break;
    case MeasureKind::kSpread: {
      const Integer centre = quantity.centres[records.GroupOf(i)];
      units = Wide(sums.squares) - 2 * centre * Wide(sums.sum) + sums.count * centre * centre;
      break;
    }
  }
  return units / PowerOfTwo(quantity.unit_exponent);  // towards zero
}

Integer PlainNormPart(const PersonRecords& records, std::size_t i, const MeasuredQuantity& quantity) {
  if (quantity.kind == MeasureKind::kCount) return records.RowsOf(i);
  if (quantity.kind == MeasureKind::kHolders) return 1;
  return boost::multiprecision::abs(PlainUnits(records, i, quantity));
}

constexpr MeasureKind kAllKinds[] = {MeasureKind::kRows,    MeasureKind::kCount, MeasureKind::kPersons,
                                     MeasureKind::kHolders, MeasureKind::kSum,   MeasureKind::kSpread};

class ClippedSums : public testing::Test {
 protected:
  ClippedSums() : seed_(std::random_device()()), random_(seed_) {}

  // Random records, a quantity of them and groups that are shown.
  void Deal(MeasureKind kind) {
    const std::size_t groups = 1 + random_() % 6;
    rows_ = SomeRows(random_, groups, static_cast<unsigned>(1 + random_() % (kind == MeasureKind::kSpread ? 40 : 62)));
    records_ = RecordsOf(rows_, groups);
    quantity_ = {kind, random_() % 2, {}, 0};
    if (kind == MeasureKind::kSum && random_() % 3 == 0)
      quantity_.unit_exponent = static_cast<unsigned>(random_() % 30);
    if (kind == MeasureKind::kSpread) quantity_.unit_exponent = static_cast<unsigned>(random_() % 40);
    for (std::size_t g = 0; g < groups; ++g)
      quantity_.centres.push_back(static_cast<std::int64_t>(random_() % 2000) - 1000);
    shown_.clear();
    if (random_() % 2 == 0)
      for (std::size_t g = 0; g < groups; ++g) shown_.push_back(random_() % 3 != 0);
  }

  bool Shows(std::size_t record) const { return shown_.empty() || shown_[records_.GroupOf(record)]; }

  Integer PlainNorm(std::size_t person) const {
    Integer norm = 0;
    for (std::size_t i = records_.FirstOf(person); i < records_.FirstOf(person + 1); ++i)
      if (Shows(i)) norm += PlainNormPart(records_, i, quantity_);
    return norm;
  }

  // The sums when she is the only one: by rows that add up to her records.
  std::vector<Int128> TotalsOf(std::size_t person, const ClipGrid& grid) const {
    PersonSums alone(2, false, true);
    for (const PersonRow& row : rows_)
      if (row.person.high == records_.PersonOf(person).high) alone.Add(row.person, row.group, row.values);
    return ClippedTotals(alone.Finish(records_.groups()), quantity_, grid, shown_);
  }

  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::vector<PersonRow> rows_;
  PersonRecords records_;
  MeasuredQuantity quantity_;
  ShownGroups shown_;
};

TEST_F(ClippedSums, NormsAreInTheBinsOfTheDefinition) {
  for (int round = 0; round < 300; ++round) {
    const MeasureKind kind = kAllKinds[round % 6];
    Deal(kind);
    NormBins expected(kMostNormBin + 1);
    for (std::size_t person = 0; person < records_.persons(); ++person) {
      const Integer norm = PlainNorm(person);
      if (norm == 0) continue;
      std::size_t bin = 0;
      while (bin < kMostNormBin && PowerOfTwo(static_cast<unsigned>(bin)) < norm) ++bin;
      ++expected[bin];
    }
    EXPECT_EQ(CountNorms(records_, quantity_, shown_), expected) << "seed " << seed_ << ", round " << round;
  }
}

// By the definition in exact fractions: within a step of each contribution, in the same direction, and never beyond t.
TEST_F(ClippedSums, ScaleToTheBoundExactly) {
  for (int round = 0; round < (testing_support::kSanitized ? 120 : 600); ++round) {
    const MeasureKind kind = kAllKinds[round % 6];
    Deal(kind);
    const std::int64_t bound = std::int64_t{1} << random_() % (kind == MeasureKind::kSum ? 62 : 9);
    const ClipGrid grid = ChooseClipGrid(bound, Rational(1, 1 + static_cast<std::int64_t>(random_() % 100)), false);
    const Rational step = grid.exponent >= 0 ? Rational(PowerOfTwo(static_cast<unsigned>(grid.exponent)), 1)
                                             : Rational(1, PowerOfTwo(static_cast<unsigned>(-grid.exponent)));
    EXPECT_EQ(Rational(grid.bound) * step, Rational(bound));
    for (std::size_t person = 0; person < records_.persons(); ++person) {
      SCOPED_TRACE("seed " + std::to_string(seed_) + ", round " + std::to_string(round));
      const Integer norm = PlainNorm(person);
      const Rational scaling = norm > bound ? Rational(bound) / Rational(norm, 1) : Rational(1);
      std::vector<Rational> wanted(records_.groups());
      for (std::size_t i = records_.FirstOf(person); i < records_.FirstOf(person + 1); ++i)
        if (Shows(i)) wanted[records_.GroupOf(i)] = Rational(PlainUnits(records_, i, quantity_), 1) * scaling / step;
      const std::vector<Int128> steps = TotalsOf(person, grid);
      Integer moved = 0;
      for (std::size_t g = 0; g < steps.size(); ++g) {
        const Integer got = Wide(steps[g]);
        moved += boost::multiprecision::abs(got);
        const Rational size = wanted[g] < Rational(0) ? Rational(0) - wanted[g] : wanted[g];
        const Rational got_size(boost::multiprecision::abs(got), 1);
        ASSERT_LE(got_size, size);
        // Numbers of more than 64 bits lose what is below that.
        ASSERT_GE(got_size, size - Rational(1) - size / Rational(PowerOfTwo(50), 1));
        ASSERT_FALSE(got != 0 && (got < 0) != (wanted[g] < Rational(0)));
      }
      ASSERT_LE(moved, Integer(grid.bound)) << "she moves the sums by more than the bound";
    }
  }
}

TEST_F(ClippedSums, AddUpOverPersons) {
  for (int round = 0; round < 60; ++round) {
    Deal(kAllKinds[round % 6]);
    const ClipGrid grid = ChooseClipGrid(16, Rational(1), false);
    std::vector<Int128> sum(records_.groups());
    for (std::size_t person = 0; person < records_.persons(); ++person) {
      const std::vector<Int128> hers = TotalsOf(person, grid);
      for (std::size_t g = 0; g < sum.size(); ++g) sum[g] += hers[g];
    }
    EXPECT_TRUE(ClippedTotals(records_, quantity_, grid, shown_) == sum) << "seed " << seed_ << ", round " << round;
  }
}

TEST(ClipGridChoice, IsFineUntilNoiseCannotBeDrawn) {
  const ClipGrid small = ChooseClipGrid(8, Rational(1, 10), false);
  EXPECT_EQ(small.bound, 8 * 1024);
  EXPECT_EQ(small.exponent, -10);
  EXPECT_EQ(small.scale, Rational(81920));
  const ClipGrid proven = ChooseClipGrid(1, Rational(1, 10), true);
  EXPECT_EQ(proven.bound, 1);
  EXPECT_EQ(proven.exponent, 0);
  EXPECT_EQ(proven.scale, Rational(10));
  // 2^62 units at epsilon 1/10: 2^62 10/10^12 = 4.6e7 needs steps of 2^26.
  const ClipGrid large = ChooseClipGrid(kMostValueSteps, Rational(1, 10), false);
  EXPECT_EQ(large.exponent, 26);
  EXPECT_EQ(large.bound, std::int64_t{1} << 36);
  EXPECT_LE(large.scale, Rational(1'000'000'000'000));
  EXPECT_GT(large.scale, Rational(500'000'000'000));
}

TEST(Spreads, AreOfRecordsWithSquares) {
  PersonSums sums(1);
  const PersonRecords records = sums.Finish(1);
  const MeasuredQuantity spread = {MeasureKind::kSpread, 0, {0}, 0};
  EXPECT_EQ(ErrorOf([&] { CountNorms(records, spread, {}); }),
            "XX001 could not read internal data: squares of the values of a private query");
}

TEST(ClipGridChoice, RefusesWhatMakesNoLaw) {
  EXPECT_EQ(ErrorOf([] { ChooseClipGrid(0, Rational(1), false); }),
            "22023 bound on what a person adds must be between 1 and 2^62, not 0");
  EXPECT_EQ(ErrorOf([] { ChooseClipGrid(1, Rational(0), false); }), "22023 epsilon must be greater than zero, not 0");
  EXPECT_EQ(ErrorOf([] { ChooseClipGrid(1, Rational(2000), true); }).substr(0, 5), "22023");
}

TEST(WholeUnitsOfSteps, AreTheNearest) {
  EXPECT_EQ(static_cast<int>(WholeUnits(1535, -10)), 1);
  EXPECT_EQ(static_cast<int>(WholeUnits(1536, -10)), 2);
  EXPECT_EQ(static_cast<int>(WholeUnits(-1536, -10)), -2);
  EXPECT_EQ(static_cast<int>(WholeUnits(-1535, -10)), -1);
  EXPECT_EQ(static_cast<int>(WholeUnits(-5, 0)), -5);
  EXPECT_EQ(static_cast<int>(WholeUnits(-5, 3)), -40);
  EXPECT_TRUE(WholeUnits(Int128{1} << 100, 30) == Int128{1} << 126) << "held";
  EXPECT_TRUE(WholeUnits(-(Int128{1} << 100), 30) == -(Int128{1} << 126)) << "held";
}

// One person more, of 1 row, of 64, and of as good as all there are; all of hers in one group, and in two. Declared is
// an epsilon of 1; spending 1.1 is caught, and so is a norm that leaves out a group.
TEST(ClippedSumsNeighbours, AreWithinEpsilon) {
  const int kAnswers = testing_support::kSanitized ? 2000 : 100000;
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const NeighbourTest test(1, 0, kAnswers);
  const auto answers = [](MeasureKind kind, std::int64_t rows, std::uint32_t groups, const Rational& spent,
                          const ShownGroups& normed) {
    PersonSums sums(1);
    const std::int64_t value = -7;
    for (std::uint64_t person = 0; person < 30; ++person) sums.Add({person, 0}, person % 2, &value);
    for (std::int64_t row = 0; row < rows; ++row) sums.Add({1000, 0}, static_cast<std::uint32_t>(row) % groups, &value);
    const PersonRecords records = sums.Finish(2);
    const MeasuredQuantity quantity = {kind, 0, {}, 0};
    const ClipGrid grid = ChooseClipGrid(kind == MeasureKind::kSum ? 16 : 2, spent, false);
    std::vector<Int128> totals = ClippedTotals(records, quantity, grid, normed);
    if (!normed.empty()) {
      const ShownGroups others = {!normed[0], !normed[1]};
      const std::vector<Int128> rest = ClippedTotals(records, quantity, grid, others);
      for (std::size_t group = 0; group < totals.size(); ++group) totals[group] += rest[group];
    }
    // The less convincing of the two groups, or the only one that can be hers.
    return [=](RandomSource& source) {
      std::vector<Int128> noisy = totals;
      AddNoise(noisy, grid, {}, source);
      const double sign = kind == MeasureKind::kSum ? -1 : 1;
      const double first = sign * static_cast<double>(noisy[0]);
      return groups == 1 ? first : std::min(first, sign * static_cast<double>(noisy[1]));
    };
  };
  for (const MeasureKind kind : {MeasureKind::kRows, MeasureKind::kPersons, MeasureKind::kSum})
    for (const std::uint32_t groups : {1U, 2U})
      for (const std::int64_t rows : {1, 64, testing_support::kSanitized ? 1000 : 100000}) {
        if (rows == 1 && groups == 2) continue;
        EXPECT_FALSE(test.IsBroken(answers(kind, 0, groups, Rational(1), {}),
                                   answers(kind, rows, groups, Rational(1), {}), random))
            << rows << " rows, seed " << seed;
      }
  if (testing_support::kSanitized) return;  // so few answers tell nothing
  const Rational more(11, 10);
  EXPECT_TRUE(
      test.IsBroken(answers(MeasureKind::kRows, 0, 1, more, {}), answers(MeasureKind::kRows, 64, 1, more, {}), random))
      << "seed " << seed;
  EXPECT_TRUE(
      test.IsBroken(answers(MeasureKind::kSum, 0, 1, more, {}), answers(MeasureKind::kSum, 64, 1, more, {}), random))
      << "seed " << seed;
  const ShownGroups apart = {true, false};
  EXPECT_TRUE(test.IsBroken(answers(MeasureKind::kRows, 0, 2, Rational(1), apart),
                            answers(MeasureKind::kRows, 64, 2, Rational(1), apart), random))
      << "each group is clipped by itself, seed " << seed;
}

// Noise has the scale of the grid and comes to shown groups only.
TEST(NoiseOfTotals, ComesToShownGroups) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const ClipGrid grid = ChooseClipGrid(1, Rational(1, 100), true);
  constexpr int kRounds = 20000;
  double size = 0;
  for (int i = 0; i < kRounds; ++i) {
    std::vector<Int128> totals = {0, 1000};
    AddNoise(totals, grid, {false, true}, random);
    ASSERT_TRUE(totals[0] == 0);
    size += std::abs(static_cast<double>(totals[1] - 1000));
  }
  // The mean of |noise| is 100 up to 1 in 60000; its deviation over the rounds 0.71: beyond 6.5 of them once in 10^10.
  EXPECT_NEAR(size / kRounds, 100, 4.6) << "seed " << seed;
}

}  // namespace
}  // namespace privacy_score
