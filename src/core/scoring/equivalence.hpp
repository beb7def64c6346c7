/*
 * equivalence.hpp - privacy equivalence of two statements (ours, strong form).
 *
 * The first reveals at most the second iff CDR(Y1 u Y2) = CDR(Y2), within kRateTolerance. Equal rates are not enough:
 * {firstName} and {gender, department} of the example have .6555 each and 1 together.
 */
#pragma once

#include <string>

namespace privacy_score {

// Rates that differ by no more than this are equal: the rest is rounding.
inline constexpr double kRateTolerance = 1e-12;

enum class RevealOrder { kEquivalent, kLess, kMore, kIncomparable };

// Places the first set against the second from CDR(Y1), CDR(Y2) and CDR(Y1 u Y2). Throws Error 22023 on a rate outside
// [0,1].
RevealOrder CompareRates(double rate1, double rate2, double combined_rate);

// equivalent, reveals less, reveals more, incomparable.
std::string TextOf(RevealOrder order);

}  // namespace privacy_score
