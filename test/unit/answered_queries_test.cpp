/*
 * answered_queries_test.cpp - sets of records: what is refused, records that are alike, parts.
 */
#include "core/inference/answered_queries.hpp"

#include <gtest/gtest.h>

#include "error_fixture.hpp"
#include "record_sets_fixture.hpp"

namespace privacy_score {
namespace {

TEST(AnsweredQueries, AlikeRecordsFormClasses) {
  const RecordClasses classes(SetsOf({{1, 2, 3, 4}, {3, 4, 5}, {7, 8}}), 9);
  EXPECT_EQ(classes.class_of(), (std::vector<int>{0, 0, 1, 1, 2, RecordClasses::kNone, 3, 3, RecordClasses::kNone}));
  EXPECT_EQ(classes.sizes(), (std::vector<int>{2, 2, 1, 2}));
  EXPECT_EQ(classes.queries(), (std::vector<std::vector<int>>{{0, 1}, {1, 2}, {3}}));
}

TEST(AnsweredQueries, PartsAreWhatNoChainOfQueriesConnects) {
  const RecordClasses classes(SetsOf({{1, 2}, {5, 6}, {2, 3}, {8}, {6, 9}}), 10);
  EXPECT_EQ(classes.parts(), 3);
  EXPECT_EQ(classes.PartOfQuery(0), classes.PartOfQuery(2));
  EXPECT_EQ(classes.PartOfQuery(1), classes.PartOfQuery(4));
  EXPECT_NE(classes.PartOfQuery(0), classes.PartOfQuery(1));
  EXPECT_NE(classes.PartOfQuery(3), classes.PartOfQuery(1));
}

TEST(AnsweredQueries, NothingAskedIsNoClass) {
  const RecordClasses classes(SetsOf({}), 3);
  EXPECT_EQ(classes.classes(), 0);
  EXPECT_EQ(classes.parts(), 0);
}

TEST(AnsweredQueries, RefusesWhatIsNoSetOfRecords) {
  const auto refused = [](const std::vector<std::vector<int>>& sets, int records) {
    return testing_support::ErrorOf([&] { CheckRecordSets("queries", SetsOf(sets), records); });
  };
  EXPECT_EQ(refused({{1, 2}, {}}, 3), "22023 set 2 of queries must not be empty");
  EXPECT_EQ(refused({{1, 4}}, 3), "22023 set 1 of queries has the record 4");
  EXPECT_EQ(refused({{0}}, 3), "22023 set 1 of queries has the record 0");
  EXPECT_EQ(refused({{1}, {2, 3, 2}}, 3), "22023 set 2 of queries has the record 2 twice");
  EXPECT_EQ(refused({{1}, {1}}, 1), "");
}

}  // namespace
}  // namespace privacy_score
