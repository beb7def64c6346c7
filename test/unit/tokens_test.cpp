/*
 * tokens_test.cpp - what is said of an abstraction from its tokens.
 */
#include <gtest/gtest.h>

#include "core/statement/abstraction.hpp"

namespace privacy_score {
namespace {

using Names = std::vector<std::string>;

TEST(UnionTokens, SortsAndDropsRepeats) {
  EXPECT_EQ(UnionTokens({{"cmd:select", "t:b"}, {}, {"cmd:delete", "t:b"}, {"unparsed"}}),
            (Tokens{"cmd:delete", "cmd:select", "t:b", "unparsed"}));
  EXPECT_TRUE(UnionTokens({}).empty());
}

TEST(TokensOfLine, TakesApartWhatWasPutTogether) {
  for (const Tokens& tokens : std::vector<Tokens>{
           {},
           {"unparsed"},
           {"cmd:select", "p:public.t.a", "t:public.t"},
           {"cmd:select", "f:count(*)", "f:date_part(public.t.a)", "w:public.t.b"},
           {"cmd:select", "p:public.\"a b\".c", "p:public.t.\"x w:y\"", "p:public.t.\"say \"\"hi t:\"\" now\""},
           {"cmd:select", "f:timestamp with time zone(public.t.a)", "t:public.\"T:\""}}) {
    std::string line;
    for (const std::string& token : tokens) line += (line.empty() ? "" : " ") + token;
    EXPECT_EQ(TokensOfLine(line), tokens) << line;
    EXPECT_EQ(Fingerprint(TokensOfLine(line)), Fingerprint(tokens)) << line;
  }
}

TEST(RevealedColumns, TakesProjectedFilteredGroupedAndLimitOrdering) {
  const Tokens tokens = {"cmd:select", "f:count(*)", "g:a.g", "j:a.j", "l:a.l", "o:a.l",
                         "o:a.o",      "p:a.g",      "p:a.p", "s:a.s", "t:a",   "w:a.w"};
  EXPECT_EQ(RevealedColumns(tokens, true), (Names{"a.g", "a.l", "a.p", "a.w"}));
  EXPECT_EQ(RevealedColumns(tokens, false), (Names{"a.g", "a.l", "a.p"}));
}

TEST(RevealedColumns, TakesFiltersAloneOfAWriteThatProjectsNothing) {
  for (const char* command : {"cmd:update", "cmd:delete", "cmd:merge"}) {
    const Tokens tokens = {command, "g:a.g", "l:a.l", "s:a.s", "t:a", "w:a.w"};
    EXPECT_EQ(RevealedColumns(tokens, true), (Names{"a.w"}));
    EXPECT_TRUE(RevealedColumns(tokens, false).empty());
  }
  EXPECT_EQ(RevealedColumns({"cmd:update", "g:a.g", "p:a.p", "w:a.w"}, true), (Names{"a.g", "a.p", "a.w"}));
  EXPECT_EQ(RevealedColumns({"cmd:copy", "p:a.p", "t:a"}, true), (Names{"a.p"}));
  EXPECT_EQ(RevealedColumns({"cmd:insert", "g:a.g", "s:b.x"}, true), (Names{"a.g"}));
}

TEST(RevealedColumns, IsEmptyWithoutColumns) {
  EXPECT_TRUE(RevealedColumns({}, true).empty());
  EXPECT_TRUE(RevealedColumns({"unparsed"}, true).empty());
}

TEST(EstimateTokens, KeepWhatRowsAreEstimatedFrom) {
  EXPECT_EQ(EstimateTokens({"cmd:delete", "f:sum(a.f)", "g:a.g", "j:a.j", "l:a.l", "o:a.l", "o:a.o", "p:a.p", "s:a.s",
                            "t:a", "w:a.w"}),
            (Tokens{"cmd:explain", "g:a.g", "g:a.l", "g:a.o", "j:a.j", "t:a", "w:a.w"}));
  EXPECT_EQ(EstimateTokens({"cmd:select", "p:a.p", "t:a"}), (Tokens{"cmd:explain", "t:a"}));
  EXPECT_EQ(EstimateTokens({"unparsed"}), (Tokens{"unparsed"}));
  EXPECT_TRUE(EstimateTokens({"cmd:select"}).empty());
  EXPECT_TRUE(EstimateTokens({}).empty());
  EXPECT_EQ(RevealedColumns({"cmd:explain", "g:a.g", "j:a.j", "t:a", "w:a.w"}, true), (Names{"a.g", "a.w"}));
}

TEST(RelationOfColumn, IgnoresDotsWithinQuotes) {
  EXPECT_EQ(RelationOfColumn("public.patients.city"), "public.patients");
  EXPECT_EQ(RelationOfColumn("public.\"a.b\".c"), "public.\"a.b\"");
  EXPECT_EQ(RelationOfColumn("public.t.\"x\"\".y\""), "public.t");
  EXPECT_EQ(RelationOfColumn("nosuch.col"), "nosuch");
  EXPECT_EQ(RelationOfColumn("col"), "");
  EXPECT_EQ(RelationOfColumn(""), "");
}

// SELECT uuid_generate_v5(uuid_ns_oid(), E'cmd:select\nt:public.patients') with the extension uuid-ossp.
TEST(Fingerprint, IsThatOfTheNameBasedUuid) {
  EXPECT_EQ(Fingerprint({"cmd:select", "t:public.patients"}), -6281331014455345602LL);
}

TEST(Fingerprint, TellsAbstractionsApart) {
  EXPECT_EQ(Fingerprint({}), 0);
  EXPECT_NE(Fingerprint({"unparsed"}), 0);
  EXPECT_NE(Fingerprint({"a", "b"}), Fingerprint({"ab"}));
  EXPECT_NE(Fingerprint({"a"}), Fingerprint({"b"}));
}

TEST(OnlyCounts, AndPacksValuesGoByName) {
  EXPECT_TRUE(OnlyCounts("count"));
  EXPECT_FALSE(OnlyCounts("sum"));
  for (const char* name : {"^", "power", "<<", "||", "repeat", "md5"}) EXPECT_TRUE(PacksValues(name)) << name;
  for (const char* name : {"+", "*", "round", "coalesce"}) EXPECT_FALSE(PacksValues(name)) << name;
  for (const char* name : {"random", "clock_timestamp", "timeofday", "gen_random_uuid"})
    EXPECT_TRUE(GivesValueOnly(name)) << name;
  for (const char* name : {"nextval", "pg_notify", "set_config", "pg_sleep"})
    EXPECT_FALSE(GivesValueOnly(name)) << name;
  EXPECT_TRUE(IsMonthsOrLonger("Month"));
  EXPECT_FALSE(IsMonthsOrLonger("week"));
}

TEST(PinsOfPattern, TakesPlainTextForAValue) {
  const auto of = [](const char* op, bool bare, const char* literal) {
    return PinsOfPattern(op, bare, literal == nullptr ? Pattern::kUnknown : Pattern::kLiteral,
                         literal == nullptr ? "" : literal);
  };
  EXPECT_EQ(of("~~", true, "x"), Pins::kColumn);
  EXPECT_EQ(of("~~*", false, "x"), Pins::kColumn);
  EXPECT_EQ(of("~", true, "^x$"), Pins::kColumn);
  EXPECT_EQ(of("~~", true, "x%"), Pins::kNothing);
  EXPECT_EQ(of("~", true, "^x"), Pins::kNothing);
  EXPECT_EQ(of("~~", false, "x%"), Pins::kKey);
  EXPECT_EQ(of("~", false, "^[7]$"), Pins::kKey);
  EXPECT_EQ(of("~~", true, nullptr), Pins::kKey);
  EXPECT_EQ(of("!~~", true, "x"), Pins::kNothing);
}

TEST(HidesColumns, KnowsTheAggregatesOfPgCatalogOnly) {
  for (const char* name : {"count", "sum", "avg", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop",
                           "var_samp", "regr_slope", "regr_count", "corr", "covar_pop", "covar_samp"})
    EXPECT_TRUE(HidesColumns(name)) << name;
  for (const char* name : {"min", "max", "array_agg", "string_agg", "mode", "percentile_cont", "bool_and", "public.sum",
                           "public.var_pop", "stddev_leak", "rank", ""})
    EXPECT_FALSE(HidesColumns(name)) << name;
}

}  // namespace
}  // namespace privacy_score
