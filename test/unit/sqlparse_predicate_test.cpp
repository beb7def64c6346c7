/*
 * sqlparse_predicate_test.cpp - which predicates are read, how, and which spellings are the same question.
 */
#include "sqlparse/predicate.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace privacy_score {
namespace {

// The normal form of a text over relation t, as if every constant were of type text.
NormalPredicate Normal(const std::string& text) {
  Predicate predicate = ParsePredicate(text, "t");
  for (PredicateColumn& column : predicate.columns) {
    column.sql = "r." + column.name;
    column.identity = column.name;
    column.arrays = true;
  }
  for (PredicateConstant& constant : predicate.constants) constant.value = constant.text;
  return Normalise(predicate, 1);
}

std::string Shape(const std::string& text) { return Normal(text).shape; }
std::string Canonical(const std::string& text) { return Normal(text).canonical; }

// The message with which a text is refused; empty when it is not.
std::string Refusal(const std::string& text) {
  try {
    (void)ParsePredicate(text, "t");
  } catch (const Error& error) {
    return error.sqlstate() == "PS003" ? error.what() : "another error";
  }
  return "";
}

TEST(ParsePredicate, Shapes) {
  EXPECT_EQ(Shape("a = 1"), "a = $1");
  EXPECT_EQ(Shape("1 < a AND b LIKE 'x%'"), "a > $1 AND b LIKE $2");
  EXPECT_EQ(Shape("a BETWEEN 1 AND 2"), "a <= $1 AND a >= $2");
  EXPECT_EQ(Shape("a NOT BETWEEN 1 AND 2"), "a < $1 OR a > $2");
  EXPECT_EQ(Shape("a IN (1, 2, 3) OR b IS NOT NULL"), "a IN ($1) OR b IS NOT NULL");
  EXPECT_EQ(Shape("NOT (a = 1 AND (b > 2 OR c IS NULL))"), "(b <= $1 AND c IS NOT NULL) OR a <> $2");
  EXPECT_EQ(Shape("a NOT LIKE 'x'"), "a NOT LIKE $1");
  EXPECT_EQ(Shape("NOT a"), "a <> $1");
  EXPECT_EQ(Shape("a IS NOT TRUE"), "a <> $1 OR a IS NULL");
  EXPECT_EQ(Shape("a IS DISTINCT FROM 1"), "a <> $1 OR a IS NULL");
  EXPECT_EQ(Shape("a IS NOT DISTINCT FROM NULL"), "a IS NULL");
  EXPECT_EQ(Shape("b = a"), "a = b");
  EXPECT_EQ(Shape("a IN (b, 1)"), "a = $1 OR a = b");
  EXPECT_EQ(Shape("a NOT IN (b, 1)"), "a <> $1 AND a <> b");
  EXPECT_EQ(Shape("1 IN (a, b)"), "a = $1 OR b = $2");
  EXPECT_EQ(Shape("true"), "true");
  EXPECT_EQ(Shape("a = NULL OR NULL"), "false");
  EXPECT_EQ(Shape("t.a = 1"), "a = $1");
}

// Each line is one question in several spellings.
TEST(ParsePredicate, SpellingsOfOneQuestion) {
  const std::vector<std::vector<std::string>> questions = {
      {"a = 1 AND b = 2", "b = 2 AND a = 1", "(((b = 2)) AND (1 = a))", "a=1 and b=2 and a = 1",
       "NOT (a <> 1 OR b != 2)", "a = 1 AND b = 2 -- comment", "/* x */ A = 1 AND B = 2", "\"a\" = 1 AND t.b = 2",
       "a IN (1) AND NOT NOT b = 2", "a = 1 AND b = 2 AND true", "(a = 1 AND b = 2) OR false", "a = +1 AND b = 2;"},
      {"a BETWEEN 1 AND 5", "a >= 1 AND a <= 5", "NOT a NOT BETWEEN 1 AND 5", "5 >= a AND 1 <= a",
       "NOT (a < 1 OR a > 5)"},
      {"a IN (3, 1, 2)", "a IN (1, 2, 3, 3)", "a = 1 OR a = 2 OR 3 = a", "a = 1 OR a IN (2, 3)",
       "NOT a NOT IN (1, 2, 3)", "NOT (a <> 1 AND a <> 2 AND a <> 3)", "a IN (1, 2, 3, NULL)"},
      {"a NOT IN (1, 2)", "a <> 2 AND a <> 1", "NOT (a = 1 OR a = 2)"},
      {"a < b", "b > a", "NOT a >= b", "NOT b <= a"},
      {"a LIKE 'x\\%'", "a LIKE 'x#%' ESCAPE '#'"},
      {"a IS DISTINCT FROM b", "b IS DISTINCT FROM a", "NOT b IS NOT DISTINCT FROM a"},
      {"a NOT IN (1, NULL)", "a = NULL", "false", "a <> NULL", "NULL", "NOT NULL::text = a", "a LIKE NULL"},
      {"a = 1 OR (b = 2 OR c = 3)", "c = 3 OR b = 2 OR a = 1", "NOT (a <> 1 AND NOT (b = 2 OR c = 3))"},
  };
  for (std::size_t i = 0; i < questions.size(); ++i) {
    for (const std::string& text : questions[i]) {
      EXPECT_EQ(Canonical(text), Canonical(questions[i][0])) << text;
      for (std::size_t k = 0; k < i; ++k) EXPECT_NE(Canonical(text), Canonical(questions[k][0])) << text;
    }
  }
}

TEST(ParsePredicate, QuestionsThatDiffer) {
  const std::vector<std::string> texts = {"a = 1",
                                          "a = 2",
                                          "a = -1",
                                          "b = 1",
                                          "a <> 1",
                                          "a < 1",
                                          "a <= 1",
                                          "a > 1",
                                          "a >= 1",
                                          "a IS NULL",
                                          "a IS NOT NULL",
                                          "a LIKE '1'",
                                          "a NOT LIKE '1'",
                                          "a = b",
                                          "a < b",
                                          "a > b",
                                          "a = 1 OR b = 1",
                                          "a = 1 AND b = 1",
                                          "a",
                                          "NOT a",
                                          "a IN (1, 2)",
                                          "a NOT IN (1, 2)",
                                          "a IN ('1:2')",
                                          "a IS NOT DISTINCT FROM b",
                                          "a IS DISTINCT FROM b",
                                          "(a = 1 AND b = 1) OR c = 1",
                                          "a = 1 AND (b = 1 OR c = 1)",
                                          "\"A\" = 1",
                                          "true",
                                          "false",
                                          "a LIKE '\\\\1'"};
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      EXPECT_NE(Canonical(texts[i]), Canonical(texts[k])) << texts[i] << "; " << texts[k];
}

TEST(ParsePredicate, EverythingElseIsRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"lower(a) = 'x'", "function call: lower()"},
      {"a = now()", "function call: now()"},
      {"pg_catalog.pg_sleep(1) IS NULL", "IS NULL of anything but a column"},
      {"pg_sleep(1)", "function call: pg_sleep()"},
      {"a = (SELECT 1)", "a subquery"},
      {"EXISTS (SELECT 1)", "a subquery"},
      {"a IN (SELECT 1)", "a subquery"},
      {"a + 1 = 2", "operator that is not allowed: +"},
      {"1 / a = 1", "operator that is not allowed: /"},
      {"a::int = 1", "a cast of anything but a constant"},
      {"a = b::text", "a cast of anything but a constant"},
      {"a = '1'::int::text", "a cast of anything but a constant"},
      {"a ~ '('", "operator that is not allowed: ~"},
      {"a SIMILAR TO 'x'", "SIMILAR TO"},
      {"a ILIKE 'x'", "ILIKE"},
      {"a OPERATOR(evil.=) 1", "operator that is not allowed: evil.="},
      {"a === 1", "operator that is not allowed: ==="},
      {"a = ANY ('{1}')", "ANY or ALL"},
      {"a = ALL (ARRAY[1])", "ANY or ALL"},
      {"a[1] = 1", "a subscript or a field"},
      {"(a).b = 1", "a subscript or a field"},
      {"a = ARRAY[1]", "an array constructor"},
      {"(a, b) = (1, 2)", "a row"},
      {"ROW(a) = ROW(1)", "a row"},
      {"a = $1", "a parameter: $1"},
      {"CASE WHEN a = 1 THEN true END", "CASE"},
      {"COALESCE(a, 1) = 1", "COALESCE"},
      {"a = (b IS NULL)", "a condition where a column or constant is expected"},
      {"a IS DOCUMENT", "such an expression"},
      {"NULLIF(a, 1) = 1", "NULLIF"},
      {"GREATEST(a, 1) = 1", "GREATEST or LEAST"},
      {"a = current_date", "a function such as CURRENT_DATE"},
      {"a COLLATE \"C\" = 'x'", "COLLATE"},
      {"(a = 1) IS NULL", "IS NULL of anything but a column"},
      {"(a = 1) IS TRUE", "IS TRUE or FALSE of anything but a column"},
      {"a IS UNKNOWN", "IS UNKNOWN"},
      {"(a = 1) = (b = 2)", "a condition where a column or constant is expected"},
      {"1 = 1", "a comparison without a column"},
      {"1", "a constant where a condition is expected"},
      {"'true'", "a constant where a condition is expected"},
      {"t.* IS NULL", "a star"},
      {"* = 1", "cannot be read"},
      {"u.a = 1", "a column of something else: u.a"},
      {"s.t.a = 1", "qualified with a schema, or a field: s.t.a"},
      {"a LIKE b", "LIKE without a constant pattern"},
      {"a LIKE 5", "LIKE with a pattern that is not a string"},
      {"a = '1'::evil.mytype", "not a plain one of the server's: evil.mytype"},
      {"a = '1'::varchar(3)", "not a plain one of the server's"},
      {"a = 1; DROP TABLE t", "a second statement"},
      {"a = 1 UNION SELECT 1", "a set operation"},
      {"a = 1 GROUP BY a", "a clause after the condition"},
      {"a = 1 ORDER BY a", "a clause after the condition"},
      {"a = 1 LIMIT 1", "a clause after the condition"},
      {"a = 1 FOR UPDATE", "a clause after the condition"},
      {"a = 1 HAVING true", "a clause after the condition"},
      {"a = 1) OR (b = 2", "cannot be read: syntax error"},
      {"", "cannot be read: syntax error"},
      {"a = 1 /* open", "cannot be read: unterminated /* comment"},
      {"a = 'open", "cannot be read: unterminated quoted string"},
      {"a = $$x$$ AND", "cannot be read: syntax error"},
      {std::string("a = 1\0", 6), "cannot be read: invalid byte sequence"},
      {"a = '\xff'", "cannot be read: invalid byte sequence"},
  };
  for (const auto& [text, part] : cases)
    EXPECT_NE(Refusal(text).find(part), std::string::npos) << text << ": " << Refusal(text);
}

TEST(ParsePredicate, PatternsOfLike) {
  const auto pattern = [](const std::string& text) { return ParsePredicate(text, "t").constants.at(0).text; };
  EXPECT_EQ(pattern("a LIKE 'x%'"), "x%");
  EXPECT_EQ(pattern("a LIKE 'x\\\\'"), "x\\\\");
  EXPECT_EQ(pattern("a LIKE 'x\\%\\\\'"), "x\\%\\\\");
  EXPECT_EQ(pattern("a LIKE 'x#%#\\\\' ESCAPE '#'"), "x\\%\\\\\\\\");
  EXPECT_EQ(pattern("a LIKE '\\%' ESCAPE ''"), "\\\\%");
  EXPECT_EQ(pattern("a LIKE '\xc3\xa9%' ESCAPE '\xc3\xa9'"), "\\%");
  for (const char* text :
       {"a LIKE 'x\\'", "a LIKE '\\'", "a LIKE 'x\\\\\\'", "a LIKE 'x#' ESCAPE '#'", "b NOT LIKE '%\\'"})
    EXPECT_EQ(Refusal(text), "a LIKE pattern must not end with its escape character") << text;
  EXPECT_EQ(Refusal("a LIKE 'x' ESCAPE 'ab'"), "the escape of LIKE must be one character, or none");
}

TEST(ParsePredicate, Constants) {
  const Predicate predicate = ParsePredicate(
      "a IN (0, -1, 2147483648, 1.50, 'x''y', E'\\n', $$q$$, true, DATE '2024-02-29', '5'::int8, CAST('{1}' AS int[]), "
      "B'101')",
      "t");
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"0", ""}, {"-1", ""},   {"2147483648", ""},     {"1.50", ""},  {"x'y", ""},       {"\n", ""},
      {"q", ""}, {"true", ""}, {"2024-02-29", "date"}, {"5", "int8"}, {"{1}", "int4[]"}, {"b101", ""}};
  ASSERT_EQ(predicate.constants.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(predicate.constants[i].text, expected[i].first);
    EXPECT_EQ(predicate.constants[i].type, expected[i].second);
  }
}

TEST(ParsePredicate, DeepAndLong) {
  std::string deep = "a = 1";
  for (int i = 0; i < 500; ++i)
    deep = "NOT (" + deep + (i % 2 == 0 ? " AND b = " : " OR b = ") + std::to_string(i) + ")";
  EXPECT_FALSE(Canonical(deep).empty());
  std::string deeper = "a = 1";
  for (int i = 0; i < 5000; ++i) deeper = "(NOT " + deeper + ")";
  EXPECT_EQ(Refusal(deeper), "predicate cannot be read: statement is nested too deeply");
  std::string list = "a IN (0";
  for (int i = 1; list.size() < kMostPredicateBytes - 20; ++i) list += "," + std::to_string(i);
  EXPECT_EQ(Shape(list + ")"), "a IN ($1)");
  EXPECT_EQ(Refusal(std::string(kMostPredicateBytes + 1, ' ')), "predicate is longer than 1048576 bytes");
  std::string many = "a < 0";
  for (std::size_t i = 1; i < kMostComparisons; ++i) many += " OR a < " + std::to_string(i);
  EXPECT_EQ(Refusal(many), "");
  EXPECT_EQ(Refusal(many + " OR b = 1"), "predicate has more than 1000 comparisons");
}

}  // namespace
}  // namespace privacy_score
