/*
 * sort_unique.hpp - lists as sets: sorted, each element once.
 */
#pragma once

#include <algorithm>
#include <vector>

namespace privacy_score {

template <typename T>
void SortUnique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace privacy_score
