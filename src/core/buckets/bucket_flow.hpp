/*
 * bucket_flow.hpp - whether a setting of any number of sizes can hold all records: an exact maximum flow.
 *
 * Records flow from groups of values (count times members) to sizes (floor(f' S) b for each member) to the buckets (S
 * b). All numbers are integers, so a flow of all records is an assignment of records. Members of a group are alike:
 * their common flow can be dealt out evenly (bucket_plan.cpp).
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/buckets/bucket_problem.hpp"

namespace privacy_score {

class BucketFlow {
 public:
  // buckets[k] buckets of the size at place k, in units of 1/scale: a search for bounds asks about fractions of
  // buckets. rows * scale and all size * buckets fit 62 bits. `problem` must outlive the object.
  BucketFlow(const BucketProblem& problem, const std::vector<std::int64_t>& buckets, std::int64_t scale);

  // Finds a maximum flow; returns whether it moves all records.
  bool Solve();

  // After Solve(): records of the group, all members together, in the buckets of the size at `place`.
  std::int64_t Flow(std::size_t group, std::size_t place) const;

  // After Solve() was false: the groups V for which the records that must go to V exceed those that there are (the
  // condition of Hall's kind in hall_cuts.hpp); by group, 0 or 1.
  std::vector<char> TightGroups() const;

 private:
  bool FindLevels();
  std::int64_t PushFromGroup(std::size_t group, std::int64_t limit);
  std::int64_t PushFromSize(std::size_t used, std::int64_t limit);

  const BucketProblem& problem_;
  std::vector<std::size_t> used_;     // places with buckets
  std::vector<std::int64_t> supply_;  // by group: records that have not gone
  std::vector<std::int64_t> room_;    // by used size: records it still takes
  std::vector<std::int64_t> left_;    // group by used size: capacity that is left
  std::vector<std::int64_t> moved_;   // group by used size: the flow
  std::vector<int> group_level_;      // distance from the source; -1: not reachable
  std::vector<int> size_level_;
  std::vector<std::size_t> group_next_;  // the next edge to try in this phase
  std::vector<std::size_t> size_next_;
};

}  // namespace privacy_score
