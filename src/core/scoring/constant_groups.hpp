/*
 * constant_groups.hpp - the words in which an execution tells which columns it compares with which constants
 * (ExecutionConstants::groups): the number of groups; of each the number of its columns, two words a column, and a list
 * of comparisons: their number, and of each the number of its values, and these.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace privacy_score {

// The values of each comparison of a list.
using ComparedValues = std::vector<std::vector<std::uint64_t>>;
ComparedValues ValuesOf(const std::uint64_t* comparisons);

// Where a list of comparisons, or all groups, end.
const std::uint64_t* EndOfComparisons(const std::uint64_t* at);
const std::uint64_t* EndOfGroups(const std::uint64_t* at);

// Every way to take one value of each position, folded in order of the positions: comparison by comparison when all
// positions have as many or one only, else all with all. At most kMostComparedValues.
std::vector<std::uint64_t> CombinedValues(const std::vector<ComparedValues>& positions);

}  // namespace privacy_score
