/*
 * rate_index_test.cpp - masks of attribute sets, and the known rates found by them, against sets.
 */
#include "core/scoring/rate_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/scoring/subject_joins.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ModelRows;

TEST(MaskTable, NumbersWhatIsAdded) {
  for (const std::size_t words : {std::size_t{1}, std::size_t{3}}) {
    MaskTable table(words);
    std::map<std::pair<std::uint32_t, std::vector<MaskWord>>, std::uint32_t> expected;
    std::mt19937 random(3);
    for (int i = 0; i < 3000; ++i) {
      const auto relation = static_cast<std::uint32_t>(random() % 3);
      std::vector<MaskWord> mask(words);
      mask[random() % words] = random() % 300;
      const auto found = expected.find({relation, mask});
      if (found != expected.end()) {
        EXPECT_EQ(table.Find(relation, mask.data()), found->second);
        continue;
      }
      EXPECT_EQ(table.Find(relation, mask.data()), MaskTable::kNone);
      const auto number = static_cast<std::uint32_t>(expected.size());
      EXPECT_EQ(table.Add(relation, mask.data()), number);
      EXPECT_TRUE(std::equal(mask.begin(), mask.end(), table.MaskOf(number)));
      expected[{relation, mask}] = number;
    }
    EXPECT_EQ(table.size(), expected.size());
    table.Clear();
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.Find(0, std::vector<MaskWord>(words).data()), MaskTable::kNone);
  }
}

// Two relations, the second with more attributes than a word has bits.
class RateIndexTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  RateIndexTest() {
    ModelRows rows;
    rows.relations = {{"public.a", "7", "t"}, {"public.b", "7", "f"}};
    const auto add = [&](const std::string& relation, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        rows.attributes.push_back({relation + ".c" + std::to_string(1000 + i), relation, std::nullopt, "f"});
    };
    add("public.a", 9);
    add("public.b", GetParam());
    std::mt19937 random(static_cast<unsigned>(GetParam()));
    for (int i = 0; i < 300; ++i) {
      const bool first = random() % 3 == 0;
      const std::size_t count = first ? 9 : GetParam();
      std::set<std::size_t> columns;
      for (std::size_t k = 1 + random() % 4; k > 0; --k) columns.insert(random() % count);
      std::string names;
      const std::string relation = first ? "public.a" : "public.b";
      for (const std::size_t column : columns)
        names += (names.empty() ? "" : std::string(1, kAttributeSeparator)) + relation + ".c" +
                 std::to_string(1000 + column);
      rows.rates.push_back({relation, names, "0." + std::to_string(100 + random() % 899)});
    }
    model = Model::Parse(rows.Wire());
  }

  std::vector<MaskWord> MaskOf(const RateIndex& index, const AttributeSet& set) const {
    std::vector<MaskWord> mask(index.words());
    for (const AttributeId id : set) index.SetBit(id, mask.data());
    return mask;
  }
  AttributeSet RandomSet(std::mt19937& random, std::uint32_t relation) const {
    std::set<AttributeId> set;
    const std::size_t first = relation == 0 ? 0 : 9;
    const std::size_t count = relation == 0 ? 9 : GetParam();
    for (std::size_t k = 1 + random() % 7; k > 0; --k) set.insert(static_cast<AttributeId>(first + random() % count));
    return {set.begin(), set.end()};
  }

  Model model;
};

TEST_P(RateIndexTest, FindsWhatSetsFind) {
  RateIndex index(model, SubjectJoins::OfRelations(model));
  EXPECT_EQ(index.words(), (GetParam() + 63) / 64);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto relation = static_cast<std::uint32_t>(random() % 2);
    const AttributeSet a = RandomSet(random, relation);
    const AttributeSet b = RandomSet(random, relation);
    const AttributeSet both = UnionOf(a, b);
    const auto best_of = [&](const AttributeSet& set) {
      double best = 0;
      for (const auto& known : model.RatesOf(relation))
        if (IsSubset(known.set, set)) best = std::max(best, known.rate.lower);
      return best;
    };
    const auto mask = MaskOf(index, both);
    const auto fresh = MaskOf(index, DifferenceOf(a, b));
    AttributeSet set;
    index.AppendTo(set, relation, mask.data());
    EXPECT_EQ(set, both);
    EXPECT_EQ(index.BestSubset(relation, mask.data()), best_of(both));
    EXPECT_EQ(index.BestSubsetWith(relation, mask.data(), fresh.data(), best_of(b)), best_of(both));
    const RateBounds* known = model.FindRate(both);
    const RateBounds* found = index.Known(relation, mask.data());
    ASSERT_EQ(found == nullptr, known == nullptr);
    if (known != nullptr) {
      EXPECT_EQ(found->lower, known->lower);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, RateIndexTest, ::testing::Values(8, 64, 65, 200));

}  // namespace
}  // namespace privacy_score
