/*
 * window_cuts.cpp - see window_cuts.hpp.
 */
#include "core/loss/window_cuts.hpp"

#include <algorithm>
#include <limits>

namespace privacy_score {

namespace {

constexpr std::size_t kWindowBlock = 8;

// The best place to cut before boundary `to`, among places from..until: halves that cannot hold a better one are
// skipped.
struct Search {
  const Boundaries& boundaries;
  const std::vector<double>& costs;
  double to_sum;
  double best;
  std::size_t at;
  std::size_t looked = 0;

  void Try(std::size_t i) {
    const double cost = costs[i] + WindowCost(to_sum - boundaries.sums[i]);
    if (cost < best) {
      best = cost;
      at = i;
    }
    ++looked;
  }

  void Between(std::size_t from, std::size_t until) {
    if (from >= until) return;
    ++looked;
    // Costs increase, windows get shorter.
    if (costs[from] + WindowCost(to_sum - boundaries.sums[until - 1]) >= best) return;
    if (until - from <= kWindowBlock) {
      for (std::size_t i = from; i < until; ++i) Try(i);
      return;
    }
    const std::size_t middle = from + (until - from) / 2;
    Between(from, middle);
    Between(middle, until);
  }
};

}  // namespace

Boundaries AllBoundaries(const std::vector<std::int64_t>& values, const std::vector<double>& probabilities) {
  Boundaries all;
  const std::size_t n = values.size();
  long double sum = 0;
  for (std::size_t k = 0; k <= n; ++k) {
    all.first.push_back(k < n ? values[k] : values.back());
    all.last.push_back(k > 0 ? values[k - 1] : values.front());
    all.sums.push_back(static_cast<double>(sum));
    if (k < n) sum += probabilities[k];
  }
  return all;
}

Boundaries KeptBoundaries(const Boundaries& all, const std::vector<char>& keep) {
  Boundaries kept;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (keep[k] == 0 && k != 0 && k + 1 != all.size()) continue;
    kept.first.push_back(all.first[k]);
    kept.last.push_back(all.last[k]);
    kept.sums.push_back(all.sums[k]);
  }
  return kept;
}

CutResult BestCut(const Boundaries& boundaries, std::int64_t most, PauseCounter* pause) {
  const std::size_t size = boundaries.size();
  CutResult result{std::vector<double>(size), 0};
  std::vector<std::size_t> from(size);
  std::size_t low = 0;
  for (std::size_t j = 1; j < size; ++j) {
    while (boundaries.last[j] - boundaries.first[low] > most) ++low;
    Search search{boundaries, result.costs, boundaries.sums[j], std::numeric_limits<double>::infinity(), low};
    if (low < j) {
      search.Try(low);
      search.Try(j - 1);
      search.Between(low + 1, j - 1);
    }
    pause->Add(search.looked * kWindowBlock);
    result.costs[j] = search.best;
    from[j] = search.at;
  }
  for (std::size_t j = size - 1; j > 0 && from[j] < j; j = from[j])
    result.spread = std::max(result.spread, boundaries.last[j] - boundaries.first[from[j]]);
  return result;
}

std::vector<double> CostsBehind(const Boundaries& boundaries, std::int64_t most, PauseCounter* pause) {
  // The mirror image, in which all differences stay what they are.
  const std::size_t size = boundaries.size();
  Boundaries mirror;
  for (std::size_t k = size; k-- > 0;) {
    mirror.first.push_back(-boundaries.last[k]);
    mirror.last.push_back(-boundaries.first[k]);
    mirror.sums.push_back(boundaries.sums.back() - boundaries.sums[k]);
  }
  std::vector<double> costs = BestCut(mirror, most, pause).costs;
  std::reverse(costs.begin(), costs.end());
  return costs;
}

}  // namespace privacy_score
