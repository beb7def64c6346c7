/*
 * value_recipes.cpp - see value_recipes.hpp.
 */
#include "backend/query/value_recipes.hpp"

extern "C" {
#include "utils/palloc.h"
}

#include "core/base/keyed_hash.hpp"

namespace privacy_score {

namespace {

// Room for one more in a list.
template <typename T>
void GrowList(T** list, int count, int* room) {
  if (count < *room) return;
  *room = Max(16, 2 * *room);
  const Size size = sizeof(T) * static_cast<Size>(*room);
  *list = static_cast<T*>(*list == nullptr ? palloc(size) : repalloc(*list, size));
}

void AddStep(ValueRecipes* recipes, const HashStep& step) {
  GrowList(&recipes->steps, recipes->step_count, &recipes->step_room);
  recipes->steps[recipes->step_count++] = step;
}

uint64 AddRecipe(ValueRecipes* recipes, const HashRecipe& recipe) {
  GrowList(&recipes->recipes, recipes->recipe_count, &recipes->recipe_room);
  recipes->recipes[recipes->recipe_count] = recipe;
  recipes->folding = recipes->step_count;
  return static_cast<uint64>(++recipes->recipe_count);
}

}  // namespace

void AddFixedStep(ValueRecipes* recipes, uint64 word) { AddStep(recipes, {-1, word}); }

void AddLiteralStep(ValueRecipes* recipes, const Const* literal) {
  // They come nearly in order.
  for (int i = 0; i < recipes->literal_count; ++i) {
    const int at = (recipes->next_literal + i) % recipes->literal_count;
    if (recipes->literals[at] != literal) continue;
    recipes->next_literal = at + 1;
    AddStep(recipes, {at, 0});
    return;
  }
  recipes->failed = true;
}

uint64 LiteralRecipe(ValueRecipes* recipes, const Const* literal) {
  BeginFolding(recipes);
  AddLiteralStep(recipes, literal);
  return AddRecipe(recipes, {recipes->folding, recipes->step_count - recipes->folding, false});
}

void BeginFolding(ValueRecipes* recipes) { recipes->step_count = recipes->folding; }

uint64 FoldedRecipe(ValueRecipes* recipes) {
  return AddRecipe(recipes, {recipes->folding, recipes->step_count - recipes->folding, true});
}

uint64 FollowRecipe(const HashRecipe& recipe, const HashStep* steps, const uint64* literals) {
  uint64 hash = 0;
  for (int i = recipe.first; i < recipe.first + recipe.count; ++i) {
    const uint64 word = steps[i].literal < 0 ? steps[i].word : literals[steps[i].literal];
    if (!recipe.folded) return word;
    hash = privacy_score::FoldHash(hash, word);
  }
  return hash;
}

}  // namespace privacy_score
