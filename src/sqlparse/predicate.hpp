/*
 * predicate.hpp - the text of a condition as a checked tree.
 */
#pragma once

#include <string_view>

#include "core/statement/predicate.hpp"

namespace privacy_score {

// What a predicate may not exceed.
constexpr std::size_t kMostPredicateBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostPredicateMemory = std::size_t{64} << 20U;  // while it is read
constexpr std::size_t kMostComparisons = 1000;

// The tree of a condition (UTF-8), as one would write it after WHERE. Throws Error PS003, which names the offending
// part, for anything but columns, constants, =, <>, <, <=, >, >=, IN, BETWEEN, LIKE, IS [NOT] NULL, IS [NOT] DISTINCT
// FROM, AND, OR and NOT, and boolean columns with IS [NOT] TRUE and FALSE: what could fail on a row, or call
// somebody's code. The last part of a qualified column is its name; `relation` is what may stand before it.
Predicate ParsePredicate(std::string_view text, std::string_view relation);

}  // namespace privacy_score
