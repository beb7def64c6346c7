/*
 * record_sets_fixture.hpp - sets of records as tests write them.
 */
#pragma once

#include <vector>

#include "core/inference/answered_queries.hpp"

namespace privacy_score {

inline RecordSets SetsOf(const std::vector<std::vector<int>>& lists) {
  RecordSets sets;
  for (const std::vector<int>& list : lists) {
    sets.records.insert(sets.records.end(), list.begin(), list.end());
    sets.starts.push_back(static_cast<std::int64_t>(sets.records.size()));
  }
  return sets;
}

}  // namespace privacy_score
