/*
 * technique_evaluation_test.cpp - evaluations against averages taken by hand, and what strong and weak techniques
 * leave.
 */
#include "core/loss/technique_evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

// Six records: sensitive 10, 20, 40 and two known attributes.
EvaluatedTable SmallTable() {
  return {{{10, 0}, {40, 0}, {20, 0}}, {0, 1, 2, 2, 0, 1}, {{0, 0, 0, 1, 1, 2}, {7, 7, 8, 8, 9, 9}}};
}

std::vector<EvaluationResult> Evaluate(Technique technique, double strength, int repetitions, std::uint64_t seed = 1) {
  TechniqueEvaluation evaluation(SmallTable(), technique, {strength}, repetitions, seed);
  EXPECT_TRUE(evaluation.Run({}));
  return evaluation.Results();
}

// All records are seen: laws are the shares of the values in each group.
TEST(TechniqueEvaluation, WholeSample) {
  const std::vector<EvaluationResult> got = Evaluate(Technique::kSampling, 1, 2);
  ASSERT_EQ(got.size(), 2U);
  // Attribute 0: groups 10 40 20, 20 10, 40. Attribute 1: 10 40, 20 20, 10 40.
  const double lg3 = std::log2(3);
  EXPECT_EQ(got[0].known_attributes, 1);
  EXPECT_EQ(got[0].samples, 12);
  EXPECT_NEAR(got[0].initial_entropy, (lg3 + 1 + 0 + 1 + 0 + 1) / 6, 1e-12);
  // Areas: three values lg 3 up to 10, then the entropy of 1/3, 2/3 up to 30; of 10 and 20 one bit up to 10; of 10 and
  // 40 up to 30.
  const double two_thirds = lg3 - 2.0 / 3;
  EXPECT_NEAR(got[0].area, (10 * lg3 + 20 * two_thirds + 10 + 0 + 30 + 0 + 30) / 6, 1e-10);
  // Both: 10 40, 20, 20, 10, 40.
  EXPECT_EQ(got[1].samples, 10);
  EXPECT_NEAR(got[1].initial_entropy, 1.0 / 5, 1e-12);
  EXPECT_NEAR(got[1].area, 30.0 / 5, 1e-10);
}

// No noise shows all values too; sums over more records than there are show nothing.
TEST(TechniqueEvaluation, NoTechniqueAndNoRelease) {
  const std::vector<EvaluationResult> whole = Evaluate(Technique::kSampling, 1, 1);
  const std::vector<EvaluationResult> exact = Evaluate(Technique::kNoise, 0, 1);
  const std::vector<EvaluationResult> hidden = Evaluate(Technique::kQueryRestriction, 8, 3);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(exact[i].initial_entropy, whole[i].initial_entropy, 1e-12);
    EXPECT_NEAR(exact[i].area, whole[i].area, 1e-10);
    EXPECT_NEAR(hidden[i].initial_entropy, std::log2(3), 1e-12);
  }
}

// A sample of half the records: the expectation over all 20 samples, within 6.5 deviations of 4,000 repetitions.
TEST(TechniqueEvaluation, SamplesAverageOut) {
  const EvaluatedTable table = SmallTable();
  double sum = 0;
  double square = 0;
  int samples = 0;
  for (unsigned sample = 0; sample < 64; ++sample) {
    if (__builtin_popcount(sample) != 3) continue;
    double entropy = 0;
    for (std::uint32_t group = 0; group < 3; ++group) {
      double law[3] = {};
      double matching = 0;
      for (std::size_t i = 0; i < 6; ++i) matching += table.known[1][i] == group + 7 ? 1 : 0;
      for (std::size_t i = 0; i < 6; ++i) {
        if (table.known[1][i] != group + 7) continue;
        if ((sample >> i & 1U) != 0)
          law[table.sensitive[i]] += 1 / matching;
        else
          for (double& p : law) p += 1 / (3 * matching);
      }
      for (const double p : law) entropy -= p > 0 ? p * std::log2(p) : 0;
    }
    sum += entropy / 3;
    square += entropy / 3 * entropy / 3;
    ++samples;
  }
  const double mean = sum / samples;
  const double deviation = std::sqrt(square / samples - mean * mean);
  EvaluatedTable one = SmallTable();
  one.known.erase(one.known.begin());
  TechniqueEvaluation evaluation(one, Technique::kSampling, {0.5}, 4000, 99);
  ASSERT_TRUE(evaluation.Run({}));
  EXPECT_NEAR(evaluation.Results()[0].initial_entropy, mean, 6.5 * deviation / std::sqrt(4000.0));
}

TEST(TechniqueEvaluation, StrongerTechniquesLeaveMore) {
  TechniqueEvaluation noise(SmallTable(), Technique::kNoise, {0, 100, 400}, 50, 3);
  ASSERT_TRUE(noise.Run({}));
  const std::vector<EvaluationResult> got = noise.Results();
  ASSERT_EQ(got.size(), 6U);
  EXPECT_LT(got[0].initial_entropy, got[2].initial_entropy);
  EXPECT_LT(got[2].initial_entropy, got[4].initial_entropy);
  EXPECT_EQ(noise.done(), noise.total());
}

// The seed repeats a run, also one that is interrupted.
TEST(TechniqueEvaluation, Repeats) {
  const std::vector<EvaluationResult> first = Evaluate(Technique::kSampling, 0.4, 10, 5);
  const std::vector<EvaluationResult> other = Evaluate(Technique::kSampling, 0.4, 10, 6);
  EXPECT_NE(first[0].initial_entropy, other[0].initial_entropy);
  static int questions;
  questions = 0;
  WorkControl control;
  control.interrupted = [] { return ++questions % 97 == 0; };
  control.work_between_questions = 1;
  TechniqueEvaluation evaluation(SmallTable(), Technique::kSampling, {0.4}, 10, 5);
  int pauses = 0;
  while (!evaluation.Run(control)) ++pauses;
  EXPECT_GT(pauses, 0);
  EXPECT_EQ(evaluation.Results()[0].initial_entropy, first[0].initial_entropy);
  EXPECT_EQ(evaluation.Results()[1].area, first[1].area);
}

TEST(TechniqueEvaluation, Refusals) {
  const auto refusal = [](Technique technique, double strength) {
    return ErrorOf([&] { TechniqueEvaluation(SmallTable(), technique, {strength}, 1, 0); });
  };
  EXPECT_EQ(refusal(Technique::kSampling, 0), "22023 fractions must be greater than 0 and at most 1, not 0");
  EXPECT_EQ(refusal(Technique::kSampling, std::nan("")),
            "22023 fractions must be greater than 0 and at most 1, not nan");
  EXPECT_EQ(refusal(Technique::kQueryRestriction, 3), "22023 query_sizes must be even and at least 2, not 3");
  EXPECT_EQ(refusal(Technique::kNoise, -1), "22023 percent must be from 0 to 1000, not -1");
  EXPECT_EQ(ErrorOf([] { TechniqueEvaluation(SmallTable(), Technique::kNoise, {}, 1, 0); }),
            "22023 there must be at least one strength");
  EXPECT_EQ(ErrorOf([] { TechniqueEvaluation(SmallTable(), Technique::kNoise, {1}, 0, 0); }),
            "22023 repetitions must be at least 1, not 0");
  EXPECT_EQ(ErrorOf([] {
              TechniqueEvaluation({{{0, 0}, {1'000'000'000'000'000'000, 0}}, {0, 1, 1, 1, 1, 1}, {{0, 0, 0, 0, 0, 0}}},
                                  Technique::kNoise, {1}, 1, 0);
            }),
            "22003 the sensitive values span too many steps of their common grid");
  EXPECT_EQ(ErrorOf([] {
              TechniqueEvaluation({{}, {}, {{}}}, Technique::kNoise, {1}, 1, 0);
            }),
            "22023 there are no records with a sensitive value");
  EXPECT_EQ(ErrorOf([] {
              TechniqueEvaluation({{}, {}, {}}, Technique::kNoise, {1}, 1, 0);
            }),
            "22023 known must name 1 to 16 columns, not 0");
}

}  // namespace
}  // namespace privacy_score
