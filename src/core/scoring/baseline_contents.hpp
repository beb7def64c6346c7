/*
 * baseline_contents.hpp - what sessions contribute to a baseline.
 */
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/scoring/ngram.hpp"

namespace privacy_score {

// How often each n-gram stands in the sessions, and how many of them have each set of distinct abstractions. Sessions
// without statements do not count.
struct BaselineContents {
  std::int64_t sessions = 0;
  std::map<NGram, std::int64_t> ngrams;
  std::map<std::vector<AbstractionId>, std::int64_t> session_sets;

  void Add(const Sequence& sequence);
};

}  // namespace privacy_score
