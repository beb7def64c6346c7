/*
 * targets.cpp - the list of targets and what they share.
 */
#include "targets.hpp"

#include <cstdio>
#include <cstdlib>

namespace privacy_score::fuzz {

const std::vector<Target>& Targets() {
  static const std::vector<Target> kTargets = {{"abstraction", FuzzAbstraction}, {"predicate", FuzzPredicate},
                                               {"thresholds", FuzzThresholds},   {"record_sets", FuzzRecordSets},
                                               {"baseline", FuzzBaseline},       {"calibration", FuzzCalibration}};
  return kTargets;
}

void Require(bool holds, std::string_view property) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(property.size()), property.data());
  std::abort();
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace privacy_score::fuzz
