/*
 * private_expressions_test.cpp - what is not listed is refused, and overloads are told apart. That the table fits the
 * functions of a server, and that nothing that is said to be safe fails, is shown by test/sql/private_expressions.sql.
 */
#include "core/private_sql/private_expressions.hpp"

#include <gtest/gtest.h>

#include <string>

namespace privacy_score {
namespace {

constexpr ExpressionUse kIsSafe = ExpressionUse::kSafe;
constexpr ExpressionUse kIsGuarded = ExpressionUse::kGuarded;
constexpr ExpressionUse kIsRefused = ExpressionUse::kRefused;

ExpressionUse UseOf(std::string_view name, const std::vector<std::string_view>& types) {
  return RuleOfFunction(name, types).use;
}

TEST(FunctionRules, RefuseWhatIsNotListed) {
  for (const char* name : {"", "nosuch", "int4", "int4e", "xint4eq", "int4eqx", "{", "*", "int4eq(int4,int4)"}) {
    const ExpressionRule rule = RuleOfFunction(name, {"text"});
    EXPECT_EQ(rule.use, kIsRefused) << name;
    EXPECT_EQ(rule.reason, "it is not among the functions that may be") << name;
  }
  // A name that would make the signature of another.
  EXPECT_EQ(UseOf("lower(text", {}), kIsRefused);
}

TEST(FunctionRules, ExpandAlternatives) {
  for (const char* name : {"int48le", "float84ne", "text_pattern_ge", "timestamptz_lt_date", "nameeqtext", "enum_gt"})
    EXPECT_EQ(UseOf(name, {"anything"}), kIsSafe) << name;
  EXPECT_EQ(UseOf("text_eq", {"text", "text"}), kIsRefused) << "there is texteq only";
}

TEST(FunctionRules, TellOverloadsApart) {
  EXPECT_EQ(UseOf("substring", {"text", "int4", "int4"}), kIsGuarded);
  EXPECT_EQ(UseOf("substring", {"text", "text"}), kIsRefused);
  EXPECT_EQ(RuleOfFunction("substring", {"text", "text"}).reason, "regular expressions may take any time");
  EXPECT_EQ(UseOf("lower", {"text"}), kIsGuarded);
  EXPECT_EQ(UseOf("lower", {"anyrange"}), kIsSafe);
  EXPECT_EQ(UseOf("sqrt", {"float8"}), kIsGuarded);
  EXPECT_EQ(UseOf("sqrt", {"numeric"}), kIsRefused);
  EXPECT_EQ(UseOf("age", {"timestamptz", "timestamptz"}), kIsGuarded);
  EXPECT_EQ(UseOf("age", {"timestamptz"}), kIsRefused);
  EXPECT_EQ(UseOf("round", {"numeric", "int4"}), kIsGuarded);
  EXPECT_EQ(UseOf("round", {"float8"}), kIsSafe);
}

TEST(FunctionRules, NameArgumentsThatMustBeConstant) {
  EXPECT_EQ(RuleOfFunction("textlike", {"text", "text"}).constant_arguments, 2U);
  EXPECT_EQ(RuleOfFunction("date_trunc", {"text", "timestamp"}).constant_arguments, 1U);
  EXPECT_EQ(RuleOfFunction("date_trunc", {"text", "timestamptz", "text"}).constant_arguments, 5U);
  EXPECT_EQ(RuleOfFunction("bpchar", {"bpchar", "int4", "bool"}).constant_arguments, 6U);
  EXPECT_EQ(RuleOfFunction("int4pl", {"int4", "int4"}).constant_arguments, 0U);
}

TEST(FunctionRules, GiveReasonsByTheBeginningsOfNames) {
  EXPECT_EQ(RuleOfFunction("regexp_matches", {"text", "text"}).reason, "regular expressions may take any time");
  EXPECT_EQ(RuleOfFunction("pg_sleep", {"float8"}).reason, "it gives another value each time");
  EXPECT_EQ(RuleOfFunction("pg_backend_pid", {}).reason, "it tells of the server, not of the row");
  EXPECT_EQ(RuleOfFunction("jsonb_path_exists", {}).reason, "jsonpath may take any time");
  EXPECT_EQ(RuleOfFunction("repeat", {"text", "int4"}).reason, "its result may be of any size");
}

}  // namespace
}  // namespace privacy_score
