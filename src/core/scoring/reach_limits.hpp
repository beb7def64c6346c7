/*
 * reach_limits.hpp - which figures of reach (reach.hpp) go further than a baseline lets them.
 */
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/scoring/model.hpp"

namespace privacy_score {

// In the order of ReachFigures.
inline constexpr std::string_view kReachFigureNames[kReachFigureCount] = {"reach", "subjects", "subject_columns"};

// A figure that is out of reach.
struct ReachExcess {
  int figure = 0;
  std::int64_t value = 0;
  std::int64_t greatest = 0;  // of the baseline's sessions
  double limit = 0;           // factor times that
};

// From where on each figure is out of reach: it exceeds `factor` times the greatest of the baseline and is at least 10.
// Of a figure that is not known of the baseline nothing is said: kNeverOutOfReach.
inline constexpr std::int64_t kNeverOutOfReach = std::numeric_limits<std::int64_t>::max();
using ReachLimits = std::array<std::int64_t, kReachFigureCount>;
ReachLimits LeastOutOfReach(const GreatestReach& greatest, double factor, const GreatestReach& accepted = {}) noexcept;
// The figures that are.
std::vector<ReachExcess> OutOfReach(const ReachFigures& figures, const GreatestReach& greatest, double factor,
                                    const GreatestReach& accepted = {});

// What figures are of.
enum class ReachScope { kSession, kDay };
// JSON of an alert: cause and figure (its name), scope of a day, value, baseline, factor.
std::string ReachExcessJson(const ReachExcess& excess, double factor, ReachScope scope = ReachScope::kSession);

}  // namespace privacy_score
