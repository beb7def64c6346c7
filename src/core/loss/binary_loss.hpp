/*
 * binary_loss.hpp - privacy loss of records that are 0 or 1 with equal probability, when their sum or average is
 * released [Chirayath, theorems 1 and 2; the sign in formula 5 mended].
 */
#pragma once

#include <cstdint>

namespace privacy_score {

// 1 - [k/n lg(n/k) + (n-k)/n lg(n/(n-k))] bits, for the sum k of n records; accurate also where k is near n/2. Throws
// Error 22023 unless 0 <= k <= n and n >= 1.
double BinaryLoss(std::int64_t n, std::int64_t k);

// Its expectation: the sum over k of C(n,k) 2^-n BinaryLoss(n, k). Throws Error 22023 unless n >= 1.
double ExpectedBinaryLoss(std::int64_t n);

}  // namespace privacy_score
