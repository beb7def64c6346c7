/*
 * subset_entropies.hpp - entropies of many sets of columns from one pass over the rows.
 *
 * Exact: the class sizes of every wanted set are counted, and entropy.hpp makes the entropy of them, so the result is
 * the same to the last bit as by GROUP BY, whatever the order of the rows. How they are counted is told in
 * subset_cube.hpp and, for tuples too wide for a word, subset_refinement.hpp. A wanted set costs up to some kilobytes
 * for its class sizes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/work_control.hpp"
#include "core/entropy/coded_rows.hpp"

namespace privacy_score {

// The partition of the rows by a set of columns.
struct SubsetFacts {
  double entropy = 0;  // in bits
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  std::int64_t uniques = 0;  // classes of one row
};

class SubsetEntropies {
 public:
  // Facts of each of `sets`: columns of `rows` by number from 0, in any order. Sets may repeat and may be empty (one
  // class). `rows` must outlive the object and is used up by it. Throws Error 22023 on a column that `rows` does not
  // have.
  SubsetEntropies(CodedRows& rows, const std::vector<std::vector<std::size_t>>& sets);
  ~SubsetEntropies();

  // Works until everything is known (true) or `control` interrupts it (false); the next call goes on from there. Asks
  // first, and then when it has looked at work_between_questions rows or cells, but not within one step over all
  // tuples: a pass takes about 10 ms a million of them, a sort 20 ms. Progress is counted in sets.
  [[nodiscard]] bool Run(const WorkControl& control);

  // One a set, in the order given; complete after Run() has returned true.
  const std::vector<SubsetFacts>& facts() const { return facts_; }

 private:
  class Walk;

  std::vector<SubsetFacts> facts_;
  std::vector<std::size_t> walked_;  // for each set, its place among the different ones
  std::unique_ptr<Walk> walk_;
};

}  // namespace privacy_score
