/*
 * token_table_test.cpp - tokens that are read where they lie.
 */
#include "core/scoring/token_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {
namespace {

TEST(TokenTable, HasWhatAMapHas) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    std::map<AbstractionId, Tokens> all;
    std::vector<std::vector<std::optional<std::string>>> rows;
    for (unsigned i = random() % 30; i > 0; --i) {
      const auto id = static_cast<AbstractionId>(random() % 20) - 10;
      const std::string token(random() % 5, static_cast<char>('a' + random() % 3));
      all[id].push_back(token);
      rows.push_back({TextOf(id), token});
    }
    for (auto& [id, tokens] : all) std::sort(tokens.begin(), tokens.end());
    WireWriter writer;
    writer.Section(2, rows);
    const std::string bytes = TokenTable::Pack(writer.bytes());
    EXPECT_EQ(bytes.size() % 8, 0U);
    const TokenTable table = TokenTable::At(bytes);
    EXPECT_EQ(table.size(), all.size());
    for (AbstractionId id = -11; id <= 11; ++id) {
      const auto found = all.find(id);
      EXPECT_EQ(table.Has(id), found != all.end()) << seed;
      EXPECT_EQ(table.Find(id), found == all.end() ? std::nullopt : std::optional<Tokens>(found->second)) << seed;
    }
    std::map<AbstractionId, Tokens> listed;
    table.ForEach([&](AbstractionId id, const Tokens& tokens) { listed[id] = tokens; });
    EXPECT_EQ(listed, all) << seed;
    std::set<std::string> distinct;
    for (const auto& [id, tokens] : all) {
      distinct.insert(tokens.begin(), tokens.end());
      Tokens found;
      EXPECT_TRUE(table.ForEachNumber(id, [&](auto number) { found.emplace_back(table.TokenOf(number)); }));
      EXPECT_EQ(found, tokens) << seed;
    }
    EXPECT_FALSE(table.ForEachNumber(11, [](auto) {}));
    EXPECT_EQ(table.DistinctTokens(), distinct.size()) << seed;
    for (std::size_t length = 0; length < bytes.size(); length += 5)
      EXPECT_THROW(TokenTable::At(std::string(bytes, 0, length)), Error) << seed;
  }
}

}  // namespace
}  // namespace privacy_score
