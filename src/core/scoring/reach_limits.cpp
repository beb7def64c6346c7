/*
 * reach_limits.cpp - see reach_limits.hpp.
 */
#include "core/scoring/reach_limits.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/json.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kLeastOutOfReach = 10;

}  // namespace

ReachLimits LeastOutOfReach(const GreatestReach& greatest, double factor, const GreatestReach& accepted) noexcept {
  ReachLimits least;
  least.fill(kNeverOutOfReach);
  for (std::size_t figure = 0; figure < least.size(); ++figure) {
    if (!greatest[figure]) continue;
    const double within = std::floor(factor * static_cast<double>(*greatest[figure]));
    if (within < static_cast<double>(kNeverOutOfReach))
      least[figure] =
          std::max({kLeastOutOfReach, static_cast<std::int64_t>(within) + 1, accepted[figure].value_or(0) + 1});
  }
  return least;
}

std::vector<ReachExcess> OutOfReach(const ReachFigures& figures, const GreatestReach& of_baseline, double factor,
                                    const GreatestReach& accepted) {
  std::vector<ReachExcess> excesses;
  const ReachLimits least = LeastOutOfReach(of_baseline, factor, accepted);
  for (int figure = 0; figure < kReachFigureCount; ++figure) {
    if (figures.values[figure] < least[static_cast<std::size_t>(figure)]) continue;
    const std::int64_t greatest = *of_baseline[static_cast<std::size_t>(figure)];
    excesses.push_back({figure, figures.values[figure], greatest, factor * static_cast<double>(greatest)});
  }
  return excesses;
}

std::string ReachExcessJson(const ReachExcess& excess, double factor, ReachScope scope) {
  JsonWriter json;
  json.BeginObject();
  json.Key("cause").Value(kReachFigureNames[excess.figure]);
  json.Key("figure").Value(kReachFigureNames[excess.figure]);
  if (scope == ReachScope::kDay) json.Key("scope").Value("day");
  json.Key("value").Value(excess.value);
  json.Key("baseline").Value(excess.greatest);
  json.Key("factor").Value(factor);
  return json.EndObject().text();
}

}  // namespace privacy_score
