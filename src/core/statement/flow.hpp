/*
 * flow.hpp - where the columns of a statement flow, in the order in which the statement names them.
 *
 * The common ground of the two written forms of an abstraction, the canonical tokens and the published form.
 */
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/statement/statement.hpp"

namespace privacy_score {

// What becomes of a column, or of a relation (kTable). Marks before kUnderAggregate appear in the abstraction.
enum class Mark {
  kProjected,
  kTable,
  kFilter,
  kJoin,
  kGroup,
  kOrder,
  kLimit,
  kWritten,
  kCell,            // names the rows that an aggregate is taken over (cells.hpp)
  kMonths,          // grouped by where an aggregate is taken, but in months or longer
  kNested,          // grouped by, but not where an aggregate is taken
  kUnderAggregate,  // an argument of one aggregate or window function
  kOwnGroup,        // grouped by where an aggregate is taken
  kOrderKey,        // in an expression that is ordered by
  kNothing          // does not appear; aggregates and subqueries on the way still do
};

constexpr std::size_t kNamedMarks = static_cast<std::size_t>(Mark::kUnderAggregate);

// An aggregate or window function with the qualified base columns under it, sorted, without duplicates.
struct FunctionUse {
  std::string_view name;
  std::vector<std::string> columns;
};

struct Flow {
  std::string_view command;                                 // one lower-case word; empty when the abstraction is
  std::array<std::vector<std::string>, kNamedMarks> names;  // by mark: qualified names, perhaps repeated
  std::vector<FunctionUse> functions;
  // Estimates of its plan tell of columns that these marks do not name; where the statement is explained they do.
  bool estimates_tell_more = false;

  const std::vector<std::string>& Names(Mark mark) const { return names[static_cast<std::size_t>(mark)]; }
};

// A column of a base relation.
struct BaseColumn {
  const Relation* relation;
  int column;
};

// For each output of the statement the base columns that are projected into it, perhaps repeated.
std::vector<std::vector<BaseColumn>> FollowOutputs(const Statement& statement);

// Whether temporary relations are named as they are called, or as abstractions write them (statement.hpp).
enum class TemporaryNames { kNumbered, kAsCalled };

// Follows every column of the statement from where it is read to where it is used. The views point into the statement.
Flow FollowColumns(const Statement& statement, TemporaryNames temporary = TemporaryNames::kNumbered);

}  // namespace privacy_score
