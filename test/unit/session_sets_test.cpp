/*
 * session_sets_test.cpp - sets of statements that are one's own and that lie elsewhere.
 */
#include "core/scoring/session_sets.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace privacy_score {
namespace {

using Sets = std::vector<std::pair<std::int64_t, std::vector<AbstractionId>>>;

Sets ListOf(const SessionSets& sets) {
  Sets all;
  sets.ForEach([&](std::int64_t count, const AbstractionId* first, const AbstractionId* last) {
    all.push_back({count, {first, last}});
  });
  return all;
}

std::string_view BytesOf(const std::vector<std::int64_t>& words) {
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::int64_t)};
}

TEST(SessionSets, AreTheSameWhereverTheyLie) {
  SessionSets own;
  const Sets sets = {{3, {-7, 5}}, {1, {}}, {2, {9}}};
  for (const auto& [count, ids] : sets) own.Add(count, ids);
  EXPECT_EQ(own.size(), 3U);
  EXPECT_EQ(ListOf(own), sets);
  const std::vector<std::int64_t> words(own.Words().begin(), own.Words().end());
  const SessionSets lent = SessionSets::At(BytesOf(words));
  EXPECT_EQ(lent.size(), 3U);
  EXPECT_EQ(ListOf(lent), sets);
  const SessionSets copy = own;
  EXPECT_EQ(ListOf(copy), sets);
  EXPECT_EQ(SessionSets::At({}).size(), 0U);
}

TEST(SessionSets, RefusesDamagedBytes) {
  const std::vector<std::vector<std::int64_t>> damaged = {{1}, {1, 2, 5}, {-1, 0}, {1, -1, 5}, {1, 1, 5, 7}};
  for (const std::vector<std::int64_t>& words : damaged) EXPECT_THROW(SessionSets::At(BytesOf(words)), Error);
  const std::vector<std::int64_t> sound = {1, 1, 5};
  EXPECT_THROW(SessionSets::At(BytesOf(sound).substr(0, 20)), Error);
}

}  // namespace
}  // namespace privacy_score
