/*
 * hall_cuts.cpp - finding broken cuts (see hall_cuts.hpp).
 */
#include "core/buckets/hall_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/buckets/bucket_flow.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostSingleCuts = 50;

}  // namespace

double SlackOf(const BucketCut& cut, const std::vector<std::int64_t>& whole, const std::vector<double>& rest) {
  __int128 exact = cut.limit;
  double slack = 0;
  for (std::size_t k = 0; k < whole.size(); ++k) {
    exact -= static_cast<__int128>(cut.coefficients[k]) * whole[k];
    slack -= cut.coefficients[k] * rest[k];
  }
  return static_cast<double>(exact) + slack;
}

BucketCut HallCuts::CutOf(const std::vector<char>& group_inside) const {
  BucketCut cut;
  const std::vector<int>& sizes = problem_.sizes();
  std::vector<std::int64_t> others(sizes.size());
  for (std::size_t g = 0; g < group_inside.size(); ++g) {
    const ValueGroup& group = problem_.groups()[g];
    const auto members = static_cast<std::int64_t>(group.members.size());
    if (group_inside[g] != 0) {
      cut.limit += members * group.count;
    } else {
      problem_.Work(sizes.size());
      const std::int32_t* capacities = problem_.Capacities(group.capacity_class);
      for (std::size_t k = 0; k < sizes.size(); ++k) others[k] += members * capacities[k];
    }
  }
  for (std::size_t k = 0; k < sizes.size(); ++k)
    cut.coefficients.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(0, sizes[k] - others[k])));
  return cut;
}

BucketCut HallCuts::UsableSizes() const { return CutOf(std::vector<char>(problem_.groups().size())); }

std::vector<BucketCut> HallCuts::Broken(const std::vector<std::int64_t>& whole, const std::vector<double>& rest,
                                        double tolerance) const {
  const std::size_t places = problem_.sizes().size();
  // Of a class the value with the greatest count is the farthest from fitting.
  std::vector<std::pair<double, std::size_t>> single;
  for (std::size_t c = 0; c < problem_.classes(); ++c) {
    const std::size_t end = problem_.ClassBegin(c + 1);
    if (problem_.ClassBegin(c) == end) continue;
    problem_.Work(places);
    const std::int32_t* capacities = problem_.Capacities(c);
    std::int64_t missing = problem_.groups()[end - 1].count;
    double excess = 0;
    for (std::size_t k = 0; k < places; ++k) {
      missing -= capacities[k] * whole[k];
      excess -= capacities[k] * rest[k];
    }
    excess += static_cast<double>(missing);
    if (excess > tolerance) single.emplace_back(excess, c);
  }
  std::sort(single.begin(), single.end(), std::greater<>());
  std::vector<BucketCut> cuts;
  for (const auto& [_, c] : single) {
    BucketCut& cut = cuts.emplace_back();
    cut.limit = problem_.rows() - problem_.groups()[problem_.ClassBegin(c + 1) - 1].count;
    for (std::size_t k = 0; k < places; ++k)
      cut.coefficients.push_back(problem_.sizes()[k] - problem_.Capacities(c)[k]);
    if (cuts.size() == kMostSingleCuts) break;
  }
  if (!cuts.empty()) return cuts;

  // Fractions as integers, in units as small as the 62 bits of a flow allow.
  int bits = 0;
  while (problem_.rows() >> bits != 0) ++bits;
  const std::int64_t scale = std::int64_t{1} << std::min(20, 61 - bits);
  std::vector<std::int64_t> units;
  for (std::size_t k = 0; k < places; ++k) {
    const std::int64_t unit = whole[k] * scale + std::llround(rest[k] * static_cast<double>(scale));
    units.push_back(std::max<std::int64_t>(0, unit));
  }
  BucketFlow flow(problem_, units, scale);
  if (flow.Solve()) return cuts;
  BucketCut cut = CutOf(flow.TightGroups());
  if (SlackOf(cut, whole, rest) < -tolerance) cuts.push_back(std::move(cut));
  return cuts;
}

bool HallCuts::FirstBroken(const std::vector<std::int64_t>& buckets, BucketCut& cut) const {
  BucketFlow flow(problem_, buckets, 1);
  if (flow.Solve()) return false;
  cut = CutOf(flow.TightGroups());
  return true;
}

}  // namespace privacy_score
