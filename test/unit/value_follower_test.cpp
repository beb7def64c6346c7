/*
 * value_follower_test.cpp - what a value is made of.
 */
#include "core/statement/value_follower.hpp"

#include <gtest/gtest.h>

#include "statement_builder.hpp"

namespace privacy_score {
namespace {

class ValueFollowerTest : public ::testing::Test {
 protected:
  Builder b;
  Relation* people = b.Table("public.people", {"id", "age"});
  Scopes scopes;
};

TEST_F(ValueFollowerTest, EntersOutputsOnce) {
  Query* inner = b.Select({b.Col(0, 1)});
  b.From(inner, people);
  Query* outer = b.Select();
  const int range = b.From(outer, inner);
  Scope* scope = scopes.ScopeOf(outer, nullptr);
  ValueFollower follower(scopes);
  for (int i = 0; i < 2; ++i) follower.Enter({scope, range}, *scope->ranges[0], 0);
  Place place;
  ASSERT_TRUE(follower.Next(&place));
  EXPECT_EQ(place.expr, inner->outputs.first);
  EXPECT_FALSE(follower.Next(&place));
}

TEST_F(ValueFollowerTest, TellsInputsOfASubqueryFromItsOwnRows) {
  Query* inner = b.Select({b.Col(0, 1)});
  b.From(inner, people);
  inner->conditions.Add(b.Equal(b.Col(0, 0), b.Col(0, 0, 1)));
  Expr* value = b.Sub(inner);
  Query* outer = b.Select({value});
  b.From(outer, people);
  Scope* scope = scopes.ScopeOf(outer, nullptr);
  ValueFollower follower(scopes);
  Place host;
  host.scope = scope;
  host.expr = value;
  follower.AddValue(host);
  int own = 0;
  int inputs = 0;
  for (Place place; follower.Next(&place);) {
    if (place.input) {
      ++inputs;
      EXPECT_EQ(place.expr->levels_up, 1);
    } else {
      ++own;
      EXPECT_EQ(place.within, scopes.ScopeOf(inner, scope));
    }
  }
  EXPECT_EQ(own, 1);
  EXPECT_EQ(inputs, 1);
}

}  // namespace
}  // namespace privacy_score
