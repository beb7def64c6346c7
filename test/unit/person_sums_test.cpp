/*
 * person_sums_test.cpp - rows become one record a person and group, whatever order they come in.
 */
#include "core/private_sql/person_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "error_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

struct PersonRow {
  PersonWord person;
  std::uint32_t group;
  std::vector<std::int64_t> values;
};

using RecordKey = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;
struct PlainRecord {
  std::int64_t rows = 0;
  std::vector<ValueSums> sums;
};

// The same by a map.
std::map<RecordKey, PlainRecord> PlainRecords(const std::vector<PersonRow>& rows, std::size_t columns) {
  std::map<RecordKey, PlainRecord> records;
  for (const PersonRow& row : rows) {
    PlainRecord& record = records[{row.person.high, row.person.low, row.group}];
    record.sums.resize(columns);
    ++record.rows;
    for (std::size_t i = 0; i < columns; ++i) {
      if (row.values[i] == kNullSteps) continue;
      ++record.sums[i].count;
      record.sums[i].sum += row.values[i];
      record.sums[i].squares += static_cast<Int128>(row.values[i]) * row.values[i];
    }
  }
  return records;
}

PersonRecords RecordsOf(const std::vector<PersonRow>& rows, std::size_t columns, bool hashes, std::size_t groups) {
  PersonSums sums(columns, hashes, true);
  sums.Expect(rows.size() / 2);
  for (const PersonRow& row : rows) sums.Add(row.person, row.group, row.values.data());
  EXPECT_EQ(sums.rows(), rows.size());
  return sums.Finish(groups);
}

void ExpectSame(const PersonRecords& records, const std::map<RecordKey, PlainRecord>& plain) {
  ASSERT_EQ(records.size(), plain.size());
  auto expected = plain.begin();
  std::size_t persons = 0;
  for (std::size_t person = 0; person < records.persons(); ++person) {
    ASSERT_LT(records.FirstOf(person), records.FirstOf(person + 1)) << "a person without a record";
    ++persons;
    for (std::size_t i = records.FirstOf(person); i < records.FirstOf(person + 1); ++i, ++expected) {
      const PersonWord& word = records.PersonOf(person);
      ASSERT_EQ(RecordKey(word.high, word.low, records.GroupOf(i)), expected->first);
      ASSERT_EQ(records.RowsOf(i), expected->second.rows);
      for (std::size_t column = 0; column < records.columns(); ++column) {
        const ValueSums sums = records.SumsOf(i, column);
        ASSERT_EQ(sums.count, expected->second.sums[column].count);
        ASSERT_TRUE(sums.sum == expected->second.sums[column].sum);
        ASSERT_TRUE(sums.squares == expected->second.sums[column].squares);
      }
    }
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> distinct;
  for (const auto& [key, record] : plain) distinct.emplace_back(std::get<0>(key), std::get<1>(key));
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  EXPECT_EQ(persons, distinct.size());
}

TEST(PersonSums, AreWhatAMapMakesOfTheRows) {
  const std::uint64_t seed = std::random_device()();
  std::mt19937_64 random(seed);
  for (int round = 0; round < (testing_support::kSanitized ? 40 : 200); ++round) {
    const std::size_t columns = random() % 4;
    const bool hashes = random() % 2 == 0;
    const std::uint64_t persons = 1 + random() % 50;
    const auto groups = static_cast<std::uint32_t>(1 + random() % 9);
    const std::uint64_t spread = random() % 2 == 0 ? 1 : 0x9e3779b97f4a7c15U;  // ids side by side, or all over 64 bits
    std::vector<PersonRow> rows(random() % 2000);
    for (PersonRow& row : rows) {
      const std::uint64_t id = random() % persons;
      // Hashes that agree in one half, and in the other.
      row.person = hashes ? PersonWord{id / 3 * spread, id % 7} : PersonWord{id * spread, 0};
      row.group = static_cast<std::uint32_t>(random() % groups);
      for (std::size_t i = 0; i < columns; ++i)
        row.values.push_back(random() % 5 == 0 ? kNullSteps
                                               : static_cast<std::int64_t>(random()) >> (2 + random() % 60));
    }
    if (random() % 2 == 0)  // group by group, as the server hands them out
      std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.group < b.group; });
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    ExpectSame(RecordsOf(rows, columns, hashes, groups), PlainRecords(rows, columns));
    if (HasFatalFailure()) return;
  }
}

TEST(PersonSums, HoldWhatIsBeyondTheirRange) {
  std::vector<PersonRow> rows;
  for (int i = 0; i < 20; ++i) rows.push_back({{7, 0}, 0, {std::numeric_limits<std::int64_t>::max()}});
  rows.push_back({{7, 0}, 1, {kNullSteps + 1}});
  const PersonRecords records = RecordsOf(rows, 1, false, 2);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_TRUE(records.SumsOf(0, 0).sum == static_cast<Int128>(kMostValueSteps) * 20);
  EXPECT_TRUE(records.SumsOf(0, 0).squares == Int128{1} << 126) << "twenty squares of 2^124";
  EXPECT_TRUE(records.SumsOf(1, 0).sum == -static_cast<Int128>(kMostValueSteps));
  EXPECT_EQ(records.SumsOf(1, 0).count, 1);
}

TEST(PersonSums, HaveSquaresWhereTheyAreWanted) {
  PersonSums sums(1);
  const std::int64_t value = 3;
  sums.Add({1, 0}, 0, &value);
  const PersonRecords records = sums.Finish(1);
  EXPECT_FALSE(records.has_squares());
  EXPECT_TRUE(records.SumsOf(0, 0).sum == 3);
  EXPECT_TRUE(records.SumsOf(0, 0).squares == 0);
}

TEST(PersonSums, WithoutRowsHaveNoRecords) {
  PersonSums sums(2);
  const PersonRecords records = sums.Finish(3);
  EXPECT_EQ(records.persons(), 0U);
  EXPECT_EQ(records.size(), 0U);
  EXPECT_EQ(records.groups(), 3U);
}

TEST(PersonSums, CanBeFilledAgain) {
  PersonSums sums(0);
  sums.Add({5, 0}, 0, nullptr);
  EXPECT_EQ(sums.Finish(1).persons(), 1U);
  sums.Add({3, 0}, 4, nullptr);
  sums.Add({3, 0}, 2, nullptr);
  const PersonRecords records = sums.Finish(5);
  ASSERT_EQ(records.persons(), 1U);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records.GroupOf(0), 2U);
  EXPECT_EQ(records.GroupOf(1), 4U);
}

TEST(PersonSums, StopWhenNobodyWaits) {
  PersonSums sums(0);
  for (std::uint64_t i = 0; i < 10; ++i) sums.Add({i % 3, 0}, 0, nullptr);
  EXPECT_THROW(sums.Finish(1, [] { return true; }), Paused);
  const PersonRecords records = sums.Finish(1, [] { return false; });
  EXPECT_EQ(records.persons(), 3U) << "the rows are still there";
  EXPECT_EQ(records.RowsOf(0), 4);
}

TEST(PersonSums, RefuseWhatTheyCannotHold) {
  EXPECT_EQ(ErrorOf([] { PersonSums sums(1001); }), "54000 a private query cannot aggregate more than 1000 columns");
  EXPECT_EQ(ErrorOf([] {
              PersonSums sums(0);
              sums.Add({1, 0}, 3, nullptr);
              sums.Finish(3);
            }),
            "XX001 could not read internal data: group 3 of 3 of a private query");
}

}  // namespace
}  // namespace privacy_score
