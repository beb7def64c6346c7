/*
 * level_answer_test.cpp - a level's answer is the plain one where noise is small, and as private as its epsilon says
 * where it is not: all steps together, not only each of them.
 */
#include "core/private_sql/level_answer.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

#include "core/private_sql/person_sums.hpp"
#include "neighbour_fixture.hpp"
#include "random_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::Answer;
using testing_support::NeighbourTest;
using testing_support::SeededRandom;

struct PlainRow {
  std::uint64_t person;
  std::uint32_t group;
  std::int64_t value;
};

PersonRecords RecordsOf(const std::vector<PlainRow>& rows, std::size_t groups) {
  PersonSums sums(1);
  for (const PlainRow& row : rows) sums.Add({row.person, 0}, row.group, &row.value);
  return sums.Finish(groups);
}

LevelQuestion QuestionFor(std::vector<PlannedAggregate> aggregates, bool unknown_keys, const Rational& epsilon,
                          std::size_t groups) {
  LevelQuestion question;
  question.aggregates = std::move(aggregates);
  question.shape.unknown_keys = unknown_keys;
  question.shape.keys_follow_person = groups == 1;
  question.epsilon = epsilon;
  question.delta = unknown_keys ? Rational(1, 100) : Rational(0);
  for (std::size_t group = 0; group < groups; ++group) question.group_hashes.push_back(group * 0x9e3779b97f4a7c15U);
  return question;
}

Int128 UnitsOf(const LevelAnswer& answer, std::size_t measurement, std::size_t group) {
  const MeasuredTotals& measured = answer.measured[measurement];
  return WholeUnits(measured.totals[group], measured.grid.exponent);
}

TEST(LevelAnswer, IsThePlainOneForALargeEpsilon) {
  std::mt19937_64 random(7);
  SeededRandom noise(8);
  std::vector<PlainRow> rows;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> plain;  // rows, sum
  for (std::uint64_t person = 0; person < 500; ++person) {
    // A power of two, so that the histogram's bound cuts nobody.
    for (int i = 0; i < 4; ++i) {
      const PlainRow row = {person, static_cast<std::uint32_t>(random() % 5), 16};
      rows.push_back(row);
      ++plain[row.group].first;
      plain[row.group].second += row.value;
    }
  }
  const std::vector<PlannedAggregate> aggregates = {{AggregateKind::kCountRows, 0, false},
                                                    {AggregateKind::kSum, 0, false}};
  for (const bool unknown_keys : {false, true}) {
    const LevelAnswer answer = AnswerLevel(RecordsOf(rows, 5), QuestionFor(aggregates, unknown_keys, 1000, 5), noise);
    for (std::uint32_t group = 0; group < 5; ++group) {
      EXPECT_TRUE(answer.shown[group]);
      EXPECT_NEAR(static_cast<double>(UnitsOf(answer, answer.plan.used_by[0][0], group)),
                  static_cast<double>(plain[group].first), 1);
      EXPECT_NEAR(static_cast<double>(UnitsOf(answer, answer.plan.used_by[1][0], group)),
                  static_cast<double>(plain[group].second), 8);
    }
  }
}

TEST(LevelAnswer, OfFewPersonsTakesItsBoundFromTheReference) {
  SeededRandom noise(9);
  std::vector<PlainRow> few;
  std::vector<PlainRow> all;
  for (std::uint64_t person = 0; person < 5000; ++person)
    for (int i = 0; i < 16; ++i) {
      all.push_back({person, 0, 1});
      if (person < 20) few.push_back({person, 0, 1});
    }
  LevelQuestion question = QuestionFor({{AggregateKind::kCountRows, 0, false}}, false, 1, 1);
  const MeasurementPlan plan = PlanMeasurements(question.aggregates, question.shape, question.epsilon);
  for (const NormBins& bins : MeasureReferences(RecordsOf(all, 1), plan, Rational(1, 20), noise))
    question.references.push_back(ReferenceOf(bins, 0.05));
  ASSERT_EQ(question.references.size(), 1U);
  const LevelAnswer answer = AnswerLevel(RecordsOf(few, 1), question, noise);
  EXPECT_EQ(answer.measured[0].grid.bound, 16 * 1024) << "steps of a 1024th";
}

// --- privacy --------------------------------------------------------------------------------------------------------

const int kAnswers = testing_support::kSanitized ? 500 : 4000;

// Count and sum of one group, added: what an analyst might make of them.
Answer CountAndSum(PersonRecords&& read, const Rational& epsilon) {
  const auto records = std::make_shared<const PersonRecords>(std::move(read));
  return [records, epsilon](RandomSource& random) {
    const LevelQuestion question =
        QuestionFor({{AggregateKind::kCountRows, 0, false}, {AggregateKind::kSum, 0, false}}, false, epsilon, 1);
    const LevelAnswer answer = AnswerLevel(*records, question, random);
    return static_cast<double>(UnitsOf(answer, 0, 0)) / static_cast<double>(answer.measured[0].grid.bound) * 1024 +
           static_cast<double>(UnitsOf(answer, 1, 0)) / static_cast<double>(answer.measured[1].grid.bound) * 1024;
  };
}

// How many groups are shown.
Answer Shown(PersonRecords&& read, const Rational& epsilon) {
  const auto records = std::make_shared<const PersonRecords>(std::move(read));
  return [records, epsilon](RandomSource& random) {
    const LevelQuestion question =
        QuestionFor({{AggregateKind::kCountRows, 0, false}}, true, epsilon, records->groups());
    const LevelAnswer answer = AnswerLevel(*records, question, random);
    double shown = 0;
    for (const bool is_shown : answer.shown) shown += is_shown ? 1 : 0;
    return shown;
  };
}

std::vector<PlainRow> Others() {
  std::vector<PlainRow> rows;
  for (std::uint64_t person = 1; person <= 10; ++person) rows.push_back({person, 0, 3});
  return rows;
}

// A false alarm of any of these has a probability of 10^-7 at most.
TEST(LevelAnswer, OfNeighboursIsWithinEpsilon) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const NeighbourTest test(1, 0, kAnswers);
  for (const int rows_of_one : {1, 64}) {
    std::vector<PlainRow> rows = Others();
    for (int i = 0; i < rows_of_one; ++i) rows.push_back({0, 0, 1000});
    EXPECT_FALSE(test.IsBroken(CountAndSum(RecordsOf(rows, 1), 1), CountAndSum(RecordsOf(Others(), 1), 1), random))
        << rows_of_one << " rows, seed " << seed;
  }
}

TEST(LevelAnswer, OfAGroupHeldAloneIsWithinEpsilonAndDelta) {
  const std::uint64_t seed = std::random_device()();
  SeededRandom random(seed);
  const NeighbourTest test(1, 0.01, kAnswers);
  std::vector<PlainRow> rows = Others();
  rows.push_back({0, 1, 5});
  EXPECT_FALSE(test.IsBroken(Shown(RecordsOf(rows, 2), 1), Shown(RecordsOf(Others(), 2), 1), random))
      << "seed " << seed;
}

// What is spent beyond the declared epsilon is found: much of it by some thousand draws, a tenth by 100,000.
bool IsCaught(double declared, const Rational& spent, int draws) {
  SeededRandom random(std::random_device{}());
  const NeighbourTest test(declared, 0, draws);
  const auto count = [&spent](PersonRecords&& read) -> Answer {
    const auto records = std::make_shared<const PersonRecords>(std::move(read));
    return [records, spent](RandomSource& source) {
      LevelQuestion question = QuestionFor({{AggregateKind::kCountPersons, 0, false}}, false, spent, 1);
      return static_cast<double>(UnitsOf(AnswerLevel(*records, question, source), 0, 0));
    };
  };
  std::vector<PlainRow> rows = Others();
  rows.push_back({0, 0, 1});
  return test.IsBroken(count(RecordsOf(rows, 1)), count(RecordsOf(Others(), 1)), random);
}

TEST(LevelAnswer, ThatSpendsMoreIsCaught) {
  if (testing_support::kSanitized) return;
  EXPECT_TRUE(IsCaught(0.5, Rational(7, 10), 5 * kAnswers));
}

TEST(LevelAnswer, ThatSpendsATenthMoreIsCaught) {
  if (testing_support::kSanitized) return;
  EXPECT_TRUE(IsCaught(1, Rational(11, 10), NeighbourTest::kManyDraws));
}

}  // namespace
}  // namespace privacy_score
