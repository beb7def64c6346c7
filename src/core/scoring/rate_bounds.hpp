/*
 * rate_bounds.hpp - a rate between two bounds, and how far one can have moved since it was computed.
 */
#pragma once

#include <cstdint>

namespace privacy_score {

// A rate, or a difference of rates, between two bounds.
struct RateBounds {
  double lower = 0;
  double upper = 0;
  bool exact() const { return lower == upper; }
};

// What a rate that was exact for `rows` rows can be after at most `modified` rows were inserted, updated or deleted.
// `subject_entropy` is H(X) of then, in bits. With f(n) = n lg n, S = rows H(X|Y) and T = rows H(X) of then, and with
// n' rows of now, concavity of conditional entropy and the chain rule over "was modified or not" give
//   S - (f(rows) - f(rows - modified)) <= n' H'(X|Y) <= S + (f(rows + modified) - f(rows)),
// the same for T and H'(X), and so the bounds of 1 - H'(X|Y)/H'(X) (ours). Exact for modified = 0.
RateBounds AfterModifications(double rate, double subject_entropy, std::int64_t rows, std::int64_t modified);

}  // namespace privacy_score
