/*
 * baseline_contents_test.cpp - what sessions add up to.
 */
#include "core/scoring/baseline_contents.hpp"

#include <gtest/gtest.h>

#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::SequenceOf;

TEST(BaselineContents, AddsSessionsUp) {
  BaselineContents contents;
  contents.Add(SequenceOf({7, 8, 7}));
  contents.Add(SequenceOf({8, 7}));
  contents.Add({});  // not a session
  contents.Add(SequenceOf({7}));
  EXPECT_EQ(contents.sessions, 3);
  using Sets = std::map<std::vector<AbstractionId>, std::int64_t>;
  EXPECT_EQ(contents.session_sets, (Sets{{{7}, 1}, {{7, 8}, 2}}));
  using NGrams = std::map<NGram, std::int64_t>;
  EXPECT_EQ(contents.ngrams, (NGrams{{{0, 0, 0, 0, 0, 7}, 2},
                                     {{0, 0, 0, 0, 0, 8}, 1},
                                     {{0, 0, 0, 0, 7, 8}, 1},
                                     {{0, 0, 0, 0, 8, 7}, 1},
                                     {{0, 0, 0, 7, 8, 7}, 1}}));
}

}  // namespace
}  // namespace privacy_score
