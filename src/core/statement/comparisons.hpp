/*
 * comparisons.hpp - which columns a statement compares for equality with constants, and how that reaches its
 * executions.
 *
 * Statements that differ in constants only have one abstraction. Who loops over patients is seen by the constants that
 * vary (reach.hpp), and by the columns that they are compared with: also in IN lists, through views, subqueries and
 * WITH queries, through explicit casts, and through columns that are equated with one another. Everything is taken
 * that stands in the statement, under OR and NOT and in the select list too: CASE WHEN id = 5 asks about 5 as well.
 *
 * Constants are keyed hashes; a parameter is a number until the statement runs. What is known of a statement when it is
 * planned is written as words of 32 bits, which the backend ties to the plan, and read again for each execution.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/statement/statement.hpp"

namespace privacy_score {

// Values of one statement that are kept; further ones are left out.
inline constexpr std::size_t kMostComparedValues = 65536;

// A value that stands in a comparison; the members are those of Value.
struct ComparedValue {
  std::uint64_t hash = 0;
  std::vector<int> parameters;
  bool elements = false;
};

// A base column: its FROM item, numbered in the statement, and NameHash of its qualified name. For the column of a copy
// stand the columns that it was copied from.
struct ComparedColumn {
  std::uint32_t item = 0;
  std::uint64_t name = 0;
};

// Columns that are equated with one another, and the comparisons of any of them with constants, in the order of the
// statement: `id = 5` has one value, an IN list several.
struct ComparedGroup {
  std::vector<ComparedColumn> columns;
  std::vector<std::vector<ComparedValue>> comparisons;
};

std::vector<ComparedGroup> FindComparisons(const Statement& statement);

// All that is known of the constants of a statement.
struct StatementConstants {
  std::uint64_t vector = 0;     // folded hash of the constants in order
  std::vector<int> parameters;  // numbers of all parameters, ascending
  std::vector<ComparedGroup> groups;
};

using ConstantWords = std::vector<std::uint32_t>;
ConstantWords Encode(const StatementConstants& constants);

// The words begin with the vector, the lower half first. The count of the parameters is word 2, their numbers follow
// it.
inline constexpr std::size_t kParameterCountWord = 2;

// Where the hashes of values stand in the words, the lower half first, in order. Throws Error XX001 on damaged words.
std::vector<std::size_t> PlacesOfHashes(const std::uint32_t* words, std::size_t count);

// A parameter when the statement runs. Plain data: the backend fills it.
struct ParameterValue {
  int number = 0;
  bool is_null = true;                      // also of one that is not given
  std::uint64_t hash = 0;                   // of the whole value
  const std::uint64_t* elements = nullptr;  // of an array, when it stands for its elements; nulls left out
  int element_count = 0;
};

// The constants of one execution as they come from the backend: the words of the statement, none when nothing is known
// of it, and the parameters, ascending by number. Plain data, nothing is owned.
struct BoundConstants {
  const std::uint32_t* words = nullptr;
  std::size_t count = 0;
  const ParameterValue* parameters = nullptr;
  std::size_t parameter_count = 0;
};

// The constants of one execution. A comparison with NULL compares with nothing. One object serves many executions
// without allocating.
struct ExecutionConstants {
  std::uint64_t vector = 0;
  // Of each group: how many columns, of each its item and name; how many comparisons, of each how many values and
  // these. First of all, how many groups.
  std::vector<std::uint64_t> groups = {0};
};

// What tells executions of one statement apart: the folded hash of all constants and parameters; 0 without words.
// `groups_at`: the word where the groups begin. This and the next throw Error XX001 on damaged words.
std::uint64_t ResolveVector(const BoundConstants& bound, std::size_t* groups_at);
// One column that is compared with one value: all there is in most statements that come again and again. Returns false
// when it is not so; then ResolveGroups tells.
struct SingleComparison {
  ComparedColumn column;
  std::uint64_t value = 0;
};
bool ResolveSingle(const BoundConstants& bound, std::size_t groups_at, SingleComparison& single);
// The shape of the words of a statement with one constant in all, which one column is compared with: as most have that
// come again and again. What the constant is: a hash among the words, or the parameter with a number.
struct SoleConstant {
  ComparedColumn column;
  std::uint64_t hash = 0;
  int parameter = 0;  // 0: the hash is known
};
bool FindSoleConstant(const std::uint32_t* words, std::size_t count, SoleConstant& sole);
// The groups, from that word on, into `groups` (ExecutionConstants). At most kMostComparedValues values.
void ResolveGroups(const BoundConstants& bound, std::size_t groups_at, std::vector<std::uint64_t>& groups);

// How a value begins in the words: bit 0 elements, bit 1 a hash follows, above these the number of parameters.
inline constexpr std::uint32_t kElementsBit = 1;
inline constexpr std::uint32_t kHashBit = 2;
inline constexpr std::uint32_t kCountShift = 2;

inline std::uint64_t LongAt(const std::uint32_t* words) {
  return words[0] | static_cast<std::uint64_t>(words[1]) << 32U;
}

inline bool FindSoleConstant(const std::uint32_t* words, std::size_t count, SoleConstant& sole) {
  // Vector and parameters; one group of one column; one comparison with one value.
  constexpr std::size_t kSoleWords = 13;
  if (count != kSoleWords) return false;
  const std::uint32_t parameters = words[kParameterCountWord];
  if (parameters > 1) return false;
  const std::uint32_t* group = words + kParameterCountWord + 1 + parameters;
  if (((group[0] ^ 1U) | (group[1] ^ 1U) | (group[5] ^ 1U) | (group[6] ^ 1U)) != 0) return false;
  sole.column = {group[2], LongAt(group + 3)};
  if (parameters == 0) {
    sole.hash = LongAt(group + 8);
    return group[7] == kHashBit && LongAt(words) == FoldHash(0, sole.hash);
  }
  sole.parameter = static_cast<int>(group[8]);
  return group[7] == 1U << kCountShift && words[kParameterCountWord + 1] == group[8] && LongAt(words) == 0;
}

}  // namespace privacy_score
