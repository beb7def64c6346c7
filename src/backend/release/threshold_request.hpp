/*
 * threshold_request.hpp - which thresholds a caller asks for, by their arguments.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
}

#include <vector>

#include "backend/rows/value_list.hpp"
#include "core/base/rational.hpp"

namespace privacy_score {

// One key of the thresholds, and its threshold, as text.
struct ListedThreshold {
  const char* key;
  const char* threshold;
  int64 number;  // of the value that it names, -1 when no record has it
};

// Which thresholds a caller asks for: by value, by frequency, or 1/l for all.
struct ThresholdRequest {
  enum Kind { kNone, kListed, kByFrequency, kDiversity } kind;
  int listed_count;
  ListedThreshold* listed;
  const char* theta;
  const char* floor;
  int l;
};

// Reads the arguments thresholds, theta, floor and l from `first` on. Raises 22023 unless exactly one of thresholds,
// theta and l is given (none only with `optional`), and for what is not of their form.
ThresholdRequest ThresholdArguments(FunctionCallInfo fcinfo, int first, bool optional);

// Finds the values that the keys of a request name among the first `count` of a list. Keys that name none are an error
// 22023, with `allow` a warning: a value that is misspelt there has no threshold. The key "null" names NULL and the
// text null.
void FindListedValues(ThresholdRequest* request, ValueList* values, int64 count, bool allow);

// The thresholds of values with these counts, for use within CallCore. Throws Error 22023.
std::vector<privacy_score::Rational> ThresholdsOf(const ThresholdRequest& request,
                                                  const std::vector<std::int64_t>& counts);

}  // namespace privacy_score
