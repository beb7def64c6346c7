/*
 * value_recipes.hpp - how the values that columns are compared with come from the constants of a query.
 *
 * A query that was met before is not translated again (known_queries.hpp), but its constants are others. When it is
 * translated the first time, the hash of each value is therefore not computed: what would be hashed is noted as a
 * recipe, and its number stands in the place of the hash. A recipe is one literal, or a folding of literals and of
 * words that do not vary.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/primnodes.h"
}

namespace privacy_score {

// A word that does not vary, or the hash of a literal.
struct HashStep {
  int literal;  // below zero: `word`
  uint64 word;
};

struct HashRecipe {
  int first;  // of the steps
  int count;
  bool folded;  // else the only step is the value
};

// Lists grow in the current memory context.
struct ValueRecipes {
  const Const* const* literals;  // of the query (query_key.hpp)
  int literal_count;
  int next_literal;  // where the next one is likely to be
  HashStep* steps;
  int step_count, step_room;
  HashRecipe* recipes;
  int recipe_count, recipe_room;
  int folding;  // first step of what is being folded
  bool failed;  // something is not made of these literals
};

void AddFixedStep(ValueRecipes* recipes, uint64 word);
void AddLiteralStep(ValueRecipes* recipes, const Const* literal);

// The number of a recipe, from 1, that is one literal.
uint64 LiteralRecipe(ValueRecipes* recipes, const Const* literal);
// Throws away steps that were not used; steps that are added from here on are one folding.
void BeginFolding(ValueRecipes* recipes);
// The number of the recipe that folds the steps added since BeginFolding.
uint64 FoldedRecipe(ValueRecipes* recipes);

// The hash that a recipe gives with these hashes of the literals, those of NULL being 0.
uint64 FollowRecipe(const HashRecipe& recipe, const HashStep* steps, const uint64* literals);

}  // namespace privacy_score
