/*
 * median.hpp - the median of timings, as all benchmarks take it.
 */
#pragma once

#include <algorithm>
#include <vector>

namespace bench {

// Of an even number of values the mean of the two in the middle. There is at least one.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace bench
