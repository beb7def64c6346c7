/*
 * constant_groups.cpp - see constant_groups.hpp.
 */
#include "core/scoring/constant_groups.hpp"

#include <algorithm>
#include <utility>

#include "core/base/keyed_hash.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

ComparedValues ValuesOf(const std::uint64_t* at) {
  ComparedValues comparisons(*at++);
  for (auto& values : comparisons) {
    const std::uint64_t size = *at++;
    values.assign(at, at + size);
    at += size;
  }
  return comparisons;
}

const std::uint64_t* EndOfComparisons(const std::uint64_t* at) {
  for (std::uint64_t left = *at++; left > 0; --left) at += *at + 1;
  return at;
}

const std::uint64_t* EndOfGroups(const std::uint64_t* at) {
  for (std::uint64_t left = *at++; left > 0; --left) at = EndOfComparisons(at + 1 + 2 * *at);
  return at;
}

std::vector<std::uint64_t> CombinedValues(const std::vector<ComparedValues>& positions) {
  std::size_t most = 0;
  for (const ComparedValues& comparisons : positions) most = std::max(most, comparisons.size());
  const bool pairwise = std::all_of(positions.begin(), positions.end(), [most](const ComparedValues& comparisons) {
    return comparisons.size() == most || comparisons.size() == 1;
  });
  std::vector<std::uint64_t> all;
  for (std::size_t round = 0; round < (pairwise ? most : 1); ++round) {
    std::vector<std::uint64_t> folded = {0};
    for (const ComparedValues& comparisons : positions) {
      std::vector<std::uint64_t> next;
      const std::size_t first = !pairwise || comparisons.size() == 1 ? 0 : round;
      const std::size_t end = pairwise ? first + 1 : comparisons.size();
      for (const std::uint64_t before : folded)
        for (std::size_t i = first; i < end; ++i)
          for (const std::uint64_t value : comparisons[i])
            if (all.size() + next.size() < kMostComparedValues) next.push_back(FoldHash(before, value));
      folded = std::move(next);
    }
    all.insert(all.end(), folded.begin(), folded.end());
  }
  return all;
}

}  // namespace privacy_score
