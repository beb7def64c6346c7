/*
 * private_expressions.hpp - which functions of the server may be computed on persons' rows within a private query.
 *
 * What runs on rows that are hidden must give one value for one row, tell nothing by an error, and take about the same
 * time and space whatever the row is. So the table says what may, and all else may not. Functions are known by their
 * names in pg_catalog and, where overloads differ, the names of their argument types: these are the same on all
 * servers; an operator or a cast is the function behind it. The caller sees to it that a function is one of the
 * server's own, and that types, collations and operators which it goes on to use (of array elements, of ranges) are,
 * too.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

enum class ExpressionUse {
  kSafe,     // fails on no row
  kGuarded,  // may fail on a row, and gives NULL there: it is to be called through a guard
  kRefused,
};

struct ExpressionRule {
  ExpressionUse use = ExpressionUse::kRefused;
  unsigned constant_arguments = 0;  // bit i: argument i, from 0, must not depend on a row
  std::string reason;               // why it is refused, to go on after "cannot be computed on persons' rows: "
};

// The rule for a function of pg_catalog: its name and those of its argument types, as pg_type has them (int4,
// timestamptz). A function of language SQL that is allowed is to be inlined first, and its body judged.
ExpressionRule RuleOfFunction(std::string_view name, const std::vector<std::string_view>& argument_types);

}  // namespace privacy_score
