/*
 * packed_baseline_test.cpp - baselines that are read where they lie.
 */
#include "core/scoring/packed_baseline.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "damaged_bytes.hpp"

namespace privacy_score {
namespace {

std::string Section(std::uint32_t columns, const std::vector<std::vector<std::optional<std::string>>>& rows) {
  WireWriter writer;
  writer.Section(columns, rows);
  return writer.bytes();
}

std::string Packed() {
  return PackedBaseline::Pack(Section(3, {{"1", "{0,0,0,0,0,7}", "2"}, {"1", "{0,0,0,0,7,-9}", "1"}}),
                              Section(3, {{"1", "1", "{-9,7}"}, {"1", "4", "{7}"}, {"1", "1", "{}"}}),
                              Section(2, {{"7", "t:b"}, {"-9", "cmd:select"}, {"7", "cmd:select"}, {"3", ""}}));
}

TEST(PackedBaseline, SaysWhatItWasMadeOf) {
  const std::string bytes = Packed();
  EXPECT_EQ(bytes.size() % 8, 0U);
  const PackedBaseline baseline = PackedBaseline::At(bytes);
  EXPECT_EQ(baseline.ngrams.size(), 2U);
  EXPECT_TRUE(baseline.ngrams.Has({0, 0, 0, 0, 7, -9}, 2));
  EXPECT_FALSE(baseline.ngrams.Has({0, 0, 0, 0, -9, 7}, 2));
  std::vector<std::vector<std::int64_t>> sets;
  baseline.sets.ForEach([&](std::int64_t count, const AbstractionId* first, const AbstractionId* last) {
    sets.emplace_back(first, last);
    sets.back().push_back(count);
  });
  EXPECT_EQ(sets, (std::vector<std::vector<std::int64_t>>{{-9, 7, 1}, {7, 4}, {1}}));
  EXPECT_EQ(baseline.sets.size(), 3U);
  EXPECT_EQ(baseline.tokens.size(), 3U);
  EXPECT_EQ(baseline.tokens.Find(7), (Tokens{"cmd:select", "t:b"}));
  EXPECT_EQ(baseline.tokens.Find(-9), (Tokens{"cmd:select"}));
  EXPECT_EQ(baseline.tokens.Find(3), (Tokens{""}));
  EXPECT_EQ(baseline.tokens.Find(8), std::nullopt);
  EXPECT_TRUE(baseline.tokens.Has(-9));
  EXPECT_FALSE(baseline.tokens.Has(0));
  EXPECT_TRUE(baseline.HasAllTokens());
  const std::string lost =
      PackedBaseline::Pack(Section(3, {}), Section(3, {{"1", "1", "{-9,7}"}}), Section(2, {{"7", "t:b"}}));
  EXPECT_FALSE(PackedBaseline::At(lost).HasAllTokens());
}

TEST(PackedBaseline, MayComeWithoutItsNGrams) {
  const std::string bytes = Packed();
  const PackedBaseline whole = PackedBaseline::At(bytes);
  EXPECT_EQ(whole.left_out, 0U);
  const std::string rest = PackedBaseline::WithoutNGrams(bytes);
  const PackedBaseline bare = PackedBaseline::At(rest);
  EXPECT_EQ(bare.ngrams.size(), 0U);
  EXPECT_EQ(bare.left_out, whole.ngrams.Packed().size());
  EXPECT_EQ(bare.sets.size(), whole.sets.size());
  EXPECT_EQ(bare.tokens.Find(7), whole.tokens.Find(7));
  EXPECT_EQ(PackedBaseline::WithoutNGrams(rest), rest);
}

TEST(PackedBaseline, MayBeEmpty) {
  const std::string none = Section(3, {});
  const std::string bytes = PackedBaseline::Pack(none, none, Section(2, {}));
  const PackedBaseline baseline = PackedBaseline::At(bytes);
  EXPECT_EQ(baseline.ngrams.size() + baseline.sets.size() + baseline.tokens.size(), 0U);
}

// Whatever the bytes are, there is an error or a baseline that can be asked for all.
TEST(PackedBaseline, RefusesDamagedBytes) {
  const std::string packed = Packed();
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_THROW(PackedBaseline::At(std::string(packed, 0, length)), Error) << length;
  const unsigned refused = testing_support::CountRefused(packed, 50000, [](const std::string& bytes) {
    const PackedBaseline baseline = PackedBaseline::At(bytes);
    baseline.ngrams.ForEach(3, true,
                            [&](const NGram& ngram, std::int64_t) { EXPECT_TRUE(baseline.ngrams.Has(ngram, 3)); });
    baseline.sets.ForEach([&](std::int64_t, const AbstractionId* first, const AbstractionId* last) {
      for (; first != last; ++first) (void)baseline.tokens.Find(*first);
    });
    baseline.tokens.ForEach([&](AbstractionId id, const Tokens&) { EXPECT_TRUE(baseline.tokens.Has(id)); });
  });
  EXPECT_GT(refused, 5000U);
}

}  // namespace
}  // namespace privacy_score
