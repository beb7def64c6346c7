/*
 * figures.cpp - the figures of a session: names and limits.
 */
#include "core/detection/figures.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace privacy_score {

std::string_view NameOf(Figure figure) {
  static constexpr std::array<std::string_view, kFigureCount> kNames = {
      "tokens",      "tokens_max", "unknown", "filters", "other_roles", "new_columns", "new_runs",
      "new_repeats", "addressed",  "person",  "known",   "differ",      "repeats",     "volume"};
  return kNames[static_cast<std::size_t>(figure)];
}

std::optional<Figure> FigureNamed(std::string_view name) {
  const auto* const found =
      std::find_if(kFigures.begin(), kFigures.end(), [&](Figure figure) { return NameOf(figure) == name; });
  if (found == kFigures.end()) return std::nullopt;
  return *found;
}

double VolumeOf(std::int64_t rows) { return rows > 100 ? std::log2(static_cast<double>(rows) / 100) : 0; }

void SessionFigures::Check() const {
  for (const std::optional<double>& value : values_)
    if (value && !(std::isfinite(*value) && *value >= 0)) throw DamagedData("figures of a session");
}

}  // namespace privacy_score
