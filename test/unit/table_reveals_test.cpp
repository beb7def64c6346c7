/*
 * table_reveals_test.cpp - what statements reveal, found token by token, against each by itself.
 */
#include "core/scoring/table_reveals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "score_fixture.hpp"

namespace privacy_score {
namespace {

// Statements of every kind of token, with columns that are protected and others.
std::map<AbstractionId, Tokens> RandomStatements(std::mt19937& random) {
  const char* const kOthers[] = {"cmd:select", "cmd:update", "cmd:delete", "cmd:merge",
                                 "t:public.t", "unparsed",   "f:now()"};
  const char* const kMarks[] = {"p:", "w:", "g:", "l:", "j:", "o:", "e:", "m:", "n:"};
  std::map<AbstractionId, Tokens> all;
  for (AbstractionId id = 1; id <= 20; ++id) {
    std::set<std::string> tokens;
    for (unsigned i = 1 + random() % 6; i > 0; --i) {
      const std::string column = std::string("public.t.") + static_cast<char>('a' + random() % 5);
      tokens.insert(random() % 3 == 0 ? kOthers[random() % std::size(kOthers)]
                                      : kMarks[random() % std::size(kMarks)] + column);
    }
    all[id] = {tokens.begin(), tokens.end()};
  }
  return all;
}

TEST(TableReveals, IsWhatEachStatementReveals) {
  testing_support::ModelRows rows;
  rows.relations = {{"public.t", "1", "t"}};
  for (const char* column : {"a", "b", "d"})
    rows.attributes.push_back({std::string("public.t.") + column, "public.t", std::nullopt, "f"});
  const Model model = Model::Parse(rows.Wire());
  std::size_t revealed = 0, unparsed = 0, functions = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::map<AbstractionId, Tokens> statements = RandomStatements(random);
    testing_support::TextRows section;
    for (const auto& [id, tokens] : statements)
      for (const std::string& token : tokens) section.push_back({TextOf(id), token});
    WireWriter writer;
    writer.Section(2, section);
    const std::string bytes = TokenTable::Pack(writer.bytes());
    const TokenTable table = TokenTable::OfOwn(bytes);
    for (const bool where_counts : {false, true}) {
      TableReveals reveals(model, table, where_counts);
      EXPECT_EQ(reveals.Of(99), nullptr);
      for (const auto& [id, tokens] : statements) {
        const TableReveals::Revealed* found = reveals.Of(id);
        ASSERT_NE(found, nullptr) << seed;
        ASSERT_EQ(found->columns, model.Revealed(tokens, where_counts)) << seed;
        ASSERT_EQ(found->unparsed, IsUnparsed(tokens)) << seed;
        ASSERT_EQ(found->has_functions, std::count(tokens.begin(), tokens.end(), "f:now()") > 0) << seed;
        revealed += found->columns.size();
        unparsed += found->unparsed ? 1U : 0U;
        functions += found->has_functions ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(revealed, 1000U);
  EXPECT_GT(unparsed, 100U);
  EXPECT_GT(functions, 100U);
}

}  // namespace
}  // namespace privacy_score
