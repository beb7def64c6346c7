/*
 * equivalence_test.cpp - privacy equivalence in the example of docs/scoring.md, section 2.
 */
#include "core/scoring/equivalence.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ExampleTable;

std::string Compare(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b) {
  const auto table = ExampleTable();
  std::vector<std::size_t> both = a;
  both.insert(both.end(), b.begin(), b.end());
  return TextOf(CompareRates(table.Rate(a), table.Rate(b), table.Rate(both)));
}

TEST(Equivalence, Example) {
  EXPECT_EQ(Compare({3}, {5}), "equivalent");
  EXPECT_EQ(Compare({0, 2}, {0}), "equivalent");
  EXPECT_EQ(Compare({4}, {}), "equivalent");
  EXPECT_EQ(Compare({1, 2, 4, 0}, {1, 2, 0}), "equivalent");  // the first two queries of section 1
  EXPECT_EQ(Compare({0}, {2, 3}), "incomparable");            // though both have .6555
  EXPECT_EQ(Compare({2}, {2, 3}), "reveals less");
  EXPECT_EQ(Compare({2, 3}, {3}), "reveals more");
}

TEST(Equivalence, Tolerance) {
  EXPECT_EQ(CompareRates(.5, .5, .5 + 5e-13), RevealOrder::kEquivalent);
  EXPECT_EQ(CompareRates(.5, .5, .5 + 2e-12), RevealOrder::kIncomparable);
}

TEST(Equivalence, RefusesWhatIsNoRate) {
  EXPECT_THROW(CompareRates(-.1, 0, 0), Error);
  EXPECT_THROW(CompareRates(0, 1.5, 0), Error);
}

}  // namespace
}  // namespace privacy_score
