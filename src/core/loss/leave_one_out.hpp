/*
 * leave_one_out.hpp - for each of several groups of records a state to which all other records were added, without ever
 * taking one away again.
 *
 * Halves are added to each other's state on the way down, so that n groups take n lg n additions, and as many states as
 * the way is long exist at a time.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace privacy_score {

// add(state, group, count) adds that many records of a group; visit(state, group) sees all records but one of it.
// `records(group)` says how many the group has.
template <typename State, typename Records, typename Add, typename Visit>
void LeaveOneOut(std::size_t begin, std::size_t end, const State& state, const Records& records, const Add& add,
                 const Visit& visit) {
  if (begin == end) return;
  State more = state;
  if (end - begin == 1) {
    if (records(begin) > 1) add(&more, begin, records(begin) - 1);
    visit(more, begin);
    return;
  }
  const std::size_t middle = begin + (end - begin) / 2;
  for (std::size_t g = middle; g < end; ++g) add(&more, g, records(g));
  LeaveOneOut(begin, middle, more, records, add, visit);
  more = state;
  for (std::size_t g = begin; g < middle; ++g) add(&more, g, records(g));
  LeaveOneOut(middle, end, more, records, add, visit);
}

}  // namespace privacy_score
