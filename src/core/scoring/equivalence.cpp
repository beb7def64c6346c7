/*
 * equivalence.cpp - privacy equivalence of two statements.
 */
#include "core/scoring/equivalence.hpp"

#include "core/base/error.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

RevealOrder CompareRates(double rate1, double rate2, double combined_rate) {
  for (const double rate : {rate1, rate2, combined_rate}) {
    if (!(rate >= 0 && rate <= 1))
      throw InvalidValue("discrimination rate must be between 0 and 1, not " + TextOf(rate),
                         "0 tells nobody apart, 1 everybody.");
  }
  const bool at_most = combined_rate - rate2 <= kRateTolerance;
  const bool at_least = combined_rate - rate1 <= kRateTolerance;
  if (at_most && at_least) return RevealOrder::kEquivalent;
  if (at_most) return RevealOrder::kLess;
  if (at_least) return RevealOrder::kMore;
  return RevealOrder::kIncomparable;
}

std::string TextOf(RevealOrder order) {
  switch (order) {
    case RevealOrder::kEquivalent:
      return "equivalent";
    case RevealOrder::kLess:
      return "reveals less";
    case RevealOrder::kMore:
      return "reveals more";
    case RevealOrder::kIncomparable:
      break;
  }
  return "incomparable";
}

}  // namespace privacy_score
