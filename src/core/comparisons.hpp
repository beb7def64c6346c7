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

#include "statement.hpp"

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

// Where the numbers of the parameters stand in the words: their count is word 2, they follow it.
inline constexpr std::size_t kParameterCountWord = 2;

// A parameter when the statement runs. Plain data: the backend fills it.
struct ParameterValue {
  int number = 0;
  bool is_null = true;                      // also of one that is not given
  std::uint64_t hash = 0;                   // of the whole value
  const std::uint64_t* elements = nullptr;  // of an array, when it stands for its elements; nulls left out
  int element_count = 0;
};

// The constants of one execution. A comparison with NULL compares with nothing.
struct ExecutionConstants {
  struct Group {
    std::vector<ComparedColumn> columns;
    std::vector<std::vector<std::uint64_t>> comparisons;
  };
  std::uint64_t vector = 0;
  std::vector<Group> groups;
};

// Throws Error XX001 on damaged words. At most kMostComparedValues values.
ExecutionConstants Resolve(const std::uint32_t* words, std::size_t count, const ParameterValue* parameters,
                           std::size_t parameter_count);

}  // namespace privacy_score
