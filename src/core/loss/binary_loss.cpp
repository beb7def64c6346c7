/*
 * binary_loss.cpp - see binary_loss.hpp.
 */
#include "core/loss/binary_loss.hpp"

#include <cmath>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

// From here on the expectation is its expansion in 1/n to a relative error of 1e-15.
constexpr std::int64_t kManyRecords = 30'000'000;

// 1 - H((1 + y)/2) = [(1+y) ln(1+y) + (1-y) ln(1-y)] / (2 ln 2); by its series where that cancels.
double LossAtLean(double y) {
  y = std::abs(y);
  if (y >= 1) return 1;
  if (y > 0.2) return ((1 + y) * std::log1p(y) + (1 - y) * std::log1p(-y)) / (2 * M_LN2);
  const double square = y * y;
  double sum = 0;
  double power = square;
  for (int j = 1; j <= 12; ++j, power *= square) sum += power / (2 * j * (2 * j - 1));
  return sum / M_LN2;
}

void RequireRecords(std::int64_t n) {
  if (n < 1) throw InvalidValue("n must be at least 1, not " + std::to_string(n), "It is the number of records.");
}

}  // namespace

double BinaryLoss(std::int64_t n, std::int64_t k) {
  RequireRecords(n);
  if (k < 0 || k > n)
    throw InvalidValue("k must be from 0 to n = " + std::to_string(n) + ", not " + std::to_string(k),
                       "It is the sum of n records that are 0 or 1.");
  // k - (n-k) cannot overflow.
  return LossAtLean(static_cast<double>(k - (n - k)) / static_cast<double>(n));
}

double ExpectedBinaryLoss(std::int64_t n) {
  RequireRecords(n);
  const auto records = static_cast<double>(n);
  // E y^2 = 1/n, E y^4 = 3/n^2 - 2/n^3, E y^6 = 15/n^3 + ...: y^2/2 + y^4/12 + y^6/30 + ..., by ln 2.
  if (n >= kManyRecords) return (1 / (2 * records) + 3 / (12 * records * records)) / M_LN2;
  // From the middle outwards, probabilities relative to that of the middle.
  const std::int64_t middle = n / 2;
  long double total = 0;
  long double sum = 0;
  long double probability = 1;
  for (std::int64_t k = middle; k <= n && probability > 1e-25L; ++k) {
    // Both k and n - k, unless they are one.
    const long double times = 2 * k == n ? 1 : 2;
    if (2 * k >= n) {
      total += times * probability;
      sum += times * probability * static_cast<long double>(BinaryLoss(n, k));
    }
    probability *= static_cast<long double>(n - k) / static_cast<long double>(k + 1);
  }
  return static_cast<double>(sum / total);
}

}  // namespace privacy_score
