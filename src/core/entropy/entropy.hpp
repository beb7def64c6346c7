/*
 * entropy.hpp - entropy of a partition and the discrimination rate.
 *
 * A partition of N rows is given by the histogram of its class sizes, which is what GROUP BY over a GROUP BY yields: it
 * stays small for tables of any size. [Khan, equations 1 to 4], [Sondeck]. Everything in bits.
 */
#pragma once

#include <cstdint>
#include <vector>

namespace privacy_score {

// `count` classes that have `size` rows each.
struct SizeCount {
  std::int64_t size = 0;
  std::int64_t count = 0;
};

// The histogram of the class sizes of a partition; sizes in any order, also repeated.
using ClassSizes = std::vector<SizeCount>;

// Appends classes, to those of the same size where these are the last.
inline void AddClasses(ClassSizes* sizes, const SizeCount& classes) {
  if (!sizes->empty() && sizes->back().size == classes.size) {
    sizes->back().count += classes.count;
  } else {
    sizes->push_back(classes);
  }
}

// H = lg N - (sum of count size lg size)/N in bits; 0 for no rows. The same partition gives the same bits, whatever the
// order of the histogram. Throws Error 22023 on a size below 1 or a negative count.
double Entropy(const ClassSizes& sizes);

// DR_X(Y) = 1 - H(X|Y)/H(X) with H(X|Y) = H(X,Y) - H(Y) [Khan, equation 3]; in [0,1], 0 when H(X) = 0.
double DiscriminationRate(double entropy_x, double entropy_xy, double entropy_y);

}  // namespace privacy_score
