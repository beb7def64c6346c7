/*
 * summary_fixture.hpp - comparing what scorers say of a session; apart from score_fixture.hpp, which fuzzing uses
 * without gtest.
 */
#pragma once

#include <gtest/gtest.h>

#include "core/scoring/live_scorer.hpp"

namespace privacy_score::testing_support {

// Expects the scores of two sessions to be the same to the last bit.
inline void ExpectSameScores(const SessionSummary& a, const SessionSummary& b) {
  EXPECT_EQ(a.ngrams, b.ngrams);
  EXPECT_EQ(a.mismatched, b.mismatched);
  EXPECT_EQ(a.score, b.score);
  EXPECT_EQ(a.max_score, b.max_score);
  EXPECT_EQ(a.tight_max, b.tight_max);
  EXPECT_EQ(a.normalised, b.normalised);
  EXPECT_EQ(a.statement_score, b.statement_score);
}

}  // namespace privacy_score::testing_support
