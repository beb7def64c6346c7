/*
 * record_priors_test.cpp - merging values and records; laws that are none are refused (privacy_loss_test.cpp).
 */
#include "core/loss/record_priors.hpp"

#include <gtest/gtest.h>

#include "error_fixture.hpp"
#include "loss_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::Decimals;
using testing_support::ErrorOf;

TEST(RecordPriors, MergesValuesAndRecords) {
  const RecordPriors priors(Decimals({"2.5", "1", "2.50", "7"}), 3,
                            {3, 4, {.1, .5, .4, 0, .5, .5, 0, 0, .3, .5, .2, 0}});
  EXPECT_EQ(priors.decimals(), 1);
  ASSERT_EQ(priors.values().size(), 2U);  // 7 has no probability
  EXPECT_TRUE(priors.values()[0] == 10);
  EXPECT_TRUE(priors.values()[1] == 25);
  ASSERT_EQ(priors.groups().size(), 1U);  // all three are equal once 2.5 is one value
  EXPECT_EQ(priors.groups()[0].records, 3);
  EXPECT_EQ(priors.groups()[0].probability, (std::vector<double>{.5, .5}));
}

TEST(RecordPriors, GroupsRecords) {
  const RecordPriors priors(Decimals({"0", "1"}), 4, {4, 2, {.5, .5, .9, .1, .5, .5, .9, .1}});
  ASSERT_EQ(priors.groups().size(), 2U);
  EXPECT_EQ(priors.GroupOf(0), priors.GroupOf(2));
  EXPECT_EQ(priors.GroupOf(1), priors.GroupOf(3));
  EXPECT_NE(priors.GroupOf(0), priors.GroupOf(1));
  EXPECT_EQ(priors.groups()[priors.GroupOf(1)].probability[0], .9);
}

TEST(RecordPriors, NamesTheRecord) {
  EXPECT_EQ(ErrorOf([] {
              RecordPriors(Decimals({"0", "1"}), 2, {2, 2, {.5, .5, .5, .6}});
            }),
            "22023 the probabilities of prior of record 2 must sum to one, not to 1.1");
}

}  // namespace
}  // namespace privacy_score
