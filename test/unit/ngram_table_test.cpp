/*
 * ngram_table_test.cpp - n-grams at any length out of one table are those of a map, whatever is in it.
 */
#include "core/scoring/ngram_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/scoring/model_sections.hpp"
#include "damaged_bytes.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

const unsigned kSeeds = testing_support::Instances(300u);

// Few ids, among them the least and the greatest, so that many n-grams end alike.
AbstractionId RandomId(std::mt19937& random) {
  constexpr AbstractionId kIds[] = {std::numeric_limits<AbstractionId>::min(), -1, 1, 2, 3,
                                    std::numeric_limits<AbstractionId>::max()};
  return kIds[random() % std::size(kIds)];
}

NGram RandomNGram(std::mt19937& random) {
  NGram ngram{};
  for (std::size_t k = random() % kRecordedLength; k < ngram.size(); ++k) ngram[k] = RandomId(random);
  return ngram;
}

std::vector<NGramTable::Counted> RandomList(std::mt19937& random) {
  std::vector<NGramTable::Counted> list(random() % 40);
  for (auto& [ngram, count] : list) {
    ngram = RandomNGram(random);
    count = 1 + random() % 5;
  }
  return list;
}

std::map<NGram, std::int64_t> Counts(const NGramTable& table, int length, bool pad) {
  std::map<NGram, std::int64_t> counts;
  table.ForEach(length, pad, [&](const NGram& ngram, std::int64_t count) {
    EXPECT_TRUE(counts.emplace(ngram, count).second) << "twice";
  });
  return counts;
}

TEST(NGramTable, HasWhatAMapHas) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const auto list = RandomList(random);
    const NGramTable table(list);
    for (int length = 1; length <= kRecordedLength; ++length) {
      std::map<NGram, std::int64_t> all, unpadded;
      for (const auto& [ngram, count] : list) {
        all[Suffix(ngram, length)] += count;
        if (!HasPadding(ngram, length)) unpadded[Suffix(ngram, length)] += count;
      }
      ASSERT_EQ(Counts(table, length, true), all) << seed;
      ASSERT_EQ(Counts(table, length, false), unpadded) << seed;
      for (int i = 0; i < 50; ++i) {
        const NGram asked = Suffix(RandomNGram(random), length);
        ASSERT_EQ(table.Has(asked, length), all.count(asked) > 0) << seed << ' ' << TextOf(asked);
      }
      for (const auto& [ngram, count] : all) ASSERT_TRUE(table.Has(ngram, length)) << seed;
    }
  }
}

// What is not entered is left out with all that ends in it, and each end is entered once.
TEST(NGramTable, DescendsToWhatIsEntered) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const NGramTable table(RandomList(random));
    const int length = 1 + static_cast<int>(random() % kRecordedLength);
    const bool pad = random() % 2 != 0;
    const auto is_wanted = [&](std::size_t k, AbstractionId id) {
      return std::hash<std::uint64_t>()(seed * 77 + k * 7 + static_cast<std::uint64_t>(id) % 11) % 5 != 0;
    };
    std::vector<std::pair<NGram, std::int64_t>> wanted, found;
    std::set<std::vector<AbstractionId>> ends;
    table.ForEach(length, pad, [&](const NGram& ngram, std::int64_t count) {
      bool all = true;
      for (std::size_t k = 0; k < static_cast<std::size_t>(length) && all; ++k)
        all = is_wanted(k, ngram[kRecordedLength - 1 - k]);
      if (all) wanted.emplace_back(ngram, count);
    });
    std::vector<AbstractionId> end;
    const auto enter = [&](std::size_t k, std::uint32_t statement) {
      end.resize(k);
      end.push_back(table.ids()[statement]);
      EXPECT_TRUE(ends.insert(end).second) << seed << " entered twice";
      return is_wanted(k, end.back());
    };
    table.Descend(length, pad, enter, [&](std::size_t row) {
      const NGramTable::Counted at = table.At(row, length);
      EXPECT_TRUE(std::equal(end.rbegin(), end.rend(), at.ngram.end() - length)) << seed;
      found.emplace_back(at.ngram, at.count);
    });
    ASSERT_EQ(found, wanted) << seed;
  }
}

TEST(NGramTable, KnowsWhatStandsWithinALength) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    const auto list = RandomList(random);
    const NGramTable table(list);
    for (int length = 1; length <= kRecordedLength; ++length) {
      std::set<AbstractionId> within;
      for (const auto& [ngram, count] : list) within.insert(ngram.end() - length, ngram.end());
      const std::vector<AbstractionId> ids = table.IdsWithin(length);
      ASSERT_EQ(ids.size(), table.ids().size());
      for (std::size_t i = 0; i < ids.size(); ++i)
        EXPECT_EQ(ids[i], within.count(table.ids()[i]) > 0 ? table.ids()[i] : 0) << seed << ' ' << table.ids()[i];
    }
  }
}

TEST(NGramTable, IsTheSameUnpackedAndInAnyOrder) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(seed);
    auto list = RandomList(random);
    const NGramTable table(list);
    const std::string packed = table.Packed();
    std::shuffle(list.begin(), list.end(), random);
    EXPECT_EQ(NGramTable(list).Packed(), packed);
    const NGramTable unpacked = NGramTable::Unpack(packed);
    EXPECT_EQ(unpacked.size(), table.size());
    EXPECT_EQ(Counts(unpacked, kRecordedLength, true), Counts(table, kRecordedLength, true));
    EXPECT_EQ(NGramTable(table.List()).Packed(), packed);
  }
}

// Whatever the bytes are, there is an error or a table that can be asked.
TEST(NGramTable, RefusesDamagedBytes) {
  const std::string packed = NGramTable({{{0, 0, 0, 1, 2, 3}, 4}, {{0, 0, 0, 0, 0, 3}, 1}}).Packed();
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_THROW(NGramTable::Unpack(std::string_view(packed).substr(0, length)), Error) << length;
  EXPECT_THROW(NGramTable::Unpack(packed + 'x'), Error);
  EXPECT_THROW(NGramTable::Unpack(packed + packed.substr(packed.size() - 32)), Error) << "a row twice";
  const unsigned refused = testing_support::CountRefused(packed, 20000, [](const std::string& bytes) {
    const NGramTable table = NGramTable::Unpack(bytes);
    table.ForEach(3, true, [&](const NGram& ngram, std::int64_t) { EXPECT_TRUE(table.Has(ngram, 3)); });
  });
  EXPECT_GT(refused, 5000U);
}

TEST(NGramTable, IsPackedForEachBaseline) {
  WireWriter writer;
  writer.Section(3, {{"7", "{0,0,0,0,0,1}", "2"}, {"9", "{0,0,0,0,0,1}", "1"}, {"7", "{0,0,0,0,1,1}", "3"}});
  const std::string packed = PackNGrams(writer.bytes());
  WireReader reader(packed);
  const auto rows = reader.Section(PackedNGramSection::kColumns);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0], "7");
  EXPECT_EQ(rows[1][0], "9");
  const NGramTable seven = NGramTable::Unpack(*rows[0][1]);
  EXPECT_EQ(seven.size(), 2U);
  EXPECT_EQ(Counts(seven, 1, true), (std::map<NGram, std::int64_t>{{{0, 0, 0, 0, 0, 1}, 5}}));
  EXPECT_EQ(NGramTable::Unpack(*rows[1][1]).size(), 1U);
}

}  // namespace
}  // namespace privacy_score
