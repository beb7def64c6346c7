/*
 * order_law.cpp - see order_law.hpp.
 */
#include "core/loss/order_law.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/paused.hpp"
#include "core/loss/leave_one_out.hpp"
#include "core/loss/median_integrals.hpp"

namespace privacy_score {

namespace {

// Additions of probabilities that somebody may wait for.
constexpr double kMostAdditions = 4e10;

// Below this a table of probabilities is brought back to 1.
constexpr double kTiny = 1e-100;

// log(rest / all) where rest = all - part.
double LogShare(double rest, double part, double all) {
  return part < all / 2 ? std::log1p(-part / all) : std::log(rest / all);
}

}  // namespace

// How many of the records added so far lie where, as a table of probabilities e^log_scale times as great.
struct OrderLaw::CountTable {
  std::vector<double> cells;
  double log_scale = 0;
  std::int64_t added = 0;
};

void OrderLaw::Rescale(CountTable* table) {
  const double greatest = *std::max_element(table->cells.begin(), table->cells.end());
  if (greatest == 0 || greatest >= kTiny) return;
  for (double& cell : table->cells) cell /= greatest;
  table->log_scale += std::log(greatest);
}

OrderLaw::OrderLaw(OrderStatistic statistic, std::vector<SumGroup> groups)
    : statistic_(statistic), groups_(std::move(groups)) {
  for (const SumGroup& group : groups_) {
    records_ += group.records;
    const std::size_t ranks = group.probability.size();
    std::vector<double> up_to(ranks + 1);
    std::vector<double> from(ranks + 1);
    for (std::size_t r = 0; r < ranks; ++r) up_to[r + 1] = up_to[r] + group.probability[r];
    for (std::size_t r = ranks; r-- > 0;) from[r] = from[r + 1] + group.probability[r];
    up_to_.push_back(std::move(up_to));
    from_.push_back(std::move(from));
  }
}

std::vector<OrderWeights> OrderLaw::WeightsOf(std::size_t first, std::size_t last, const WorkControl& control) const {
  if (statistic_ != OrderStatistic::kMedian) return Extreme(first);
  return groups_.size() == 1 ? MedianOfOneGroup(first, last) : MedianOfGroups(first, last, control);
}

// The maximum is the minimum in reverse order.
OrderLaw::Shares OrderLaw::SharesOf(std::size_t group, std::size_t rank) const {
  const double equal = groups_[group].probability[rank];
  return {up_to_[group][rank], equal, from_[group][rank + 1]};
}

// All records must lie at the outcome or on one side of it, and not all beyond it.
std::vector<OrderWeights> OrderLaw::Extreme(std::size_t rank) const {
  const std::size_t count = groups_.size();
  const bool minimum = statistic_ == OrderStatistic::kMinimum;
  // Sums over the records of the groups before and after one: logs of the share that is possible, and within it of the
  // share that lies beyond the outcome.
  std::vector<double> possible(count), beyond(count), possible_after(count + 1), beyond_after(count + 1);
  bool any = false;
  for (std::size_t g = 0; g < count; ++g) {
    const Shares shares = SharesOf(g, rank);
    const double rest = minimum ? shares.greater : shares.less;
    const double all = minimum ? from_[g][rank] : up_to_[g][rank + 1];
    if (all <= 0) return {};
    any = any || shares.equal > 0;
    possible[g] = std::log(all);
    beyond[g] = LogShare(rest, shares.equal, all);
  }
  if (!any) return {};
  for (std::size_t g = count; g-- > 0;) {
    const auto records = static_cast<double>(groups_[g].records);
    possible_after[g] = possible_after[g + 1] + records * possible[g];
    beyond_after[g] = beyond_after[g + 1] + records * beyond[g];
  }
  double possible_before = 0;
  double beyond_before = 0;
  std::vector<OrderWeights> weights(count);
  for (std::size_t g = 0; g < count; ++g) {
    const auto records = static_cast<double>(groups_[g].records);
    double others = beyond_before + beyond_after[g + 1];
    if (records > 1) others += (records - 1) * beyond[g];
    const double reached = -std::expm1(others);  // by another record
    weights[g].log_scale = possible_before + possible_after[g + 1] + (records - 1) * possible[g];
    weights[g].at_first = weights[g].at_last = 1;
    weights[g].below = minimum ? 0 : reached;
    weights[g].above = minimum ? reached : 0;
    possible_before += records * possible[g];
    beyond_before += records * beyond[g];
  }
  return weights;
}

std::vector<OrderWeights> OrderLaw::MedianOfOneGroup(std::size_t first, std::size_t last) const {
  const auto interval = [this](std::size_t rank) {
    return UniformInterval{up_to_[0][rank], from_[0][rank], up_to_[0][rank + 1], from_[0][rank + 1],
                           groups_[0].probability[rank]};
  };
  if (groups_[0].probability[first] <= 0 || groups_[0].probability[last] <= 0) return {};
  return {first == last ? MedianWithin(records_, interval(first))
                        : MedianBetween(records_, interval(first), interval(last))};
}

// The middle one of so many is the k-th.
std::int64_t OrderLaw::Middle() const { return (records_ + 1) / 2; }

void OrderLaw::RequireFewAdditions(double per_record) const {
  const double depth = 1 + std::log2(static_cast<double>(groups_.size()));
  if (static_cast<double>(records_) * depth * per_record > kMostAdditions)
    throw Error("54000", "the median of " + std::to_string(records_) + " records with different priors takes too long",
                "Give all records one prior.");
}

std::vector<OrderWeights> OrderLaw::MedianOfGroups(std::size_t first, std::size_t last,
                                                   const WorkControl& control) const {
  const auto side = static_cast<double>(Middle());
  RequireFewAdditions(first == last ? side * side : 4 * side);
  PauseCounter pause(control);
  std::vector<OrderWeights> weights =
      first == last ? MedianAtOneRank(first, &pause) : MedianBetweenRanks(first, last, &pause);
  const bool possible = std::any_of(weights.begin(), weights.end(),
                                    [](const OrderWeights& weight) { return weight.at_first + weight.at_last > 0; });
  if (!possible) weights.clear();
  return weights;
}

// Cell (l, m): l records below the outcome and m above it, at most k - 1 of each.
std::vector<OrderWeights> OrderLaw::MedianAtOneRank(std::size_t rank, PauseCounter* pause) const {
  const std::int64_t k = Middle();
  const auto width = [k](std::int64_t added) { return static_cast<std::size_t>(std::min(added, k - 1) + 1); };
  const auto add_record = [&](CountTable* table, const Shares& shares) {
    const std::size_t before = width(table->added);
    const std::size_t after = width(++table->added);
    std::vector<double> next(after * after);
    for (std::size_t l = 0; l < before; ++l) {
      for (std::size_t m = 0; m < before; ++m) {
        const double p = table->cells[l * before + m];
        next[l * after + m] += p * shares.equal;
        if (l + 1 < after) next[(l + 1) * after + m] += p * shares.less;
        if (m + 1 < after) next[l * after + m + 1] += p * shares.greater;
      }
    }
    pause->Add(before * before);
    table->cells = std::move(next);
    Rescale(table);
  };
  const auto weigh = [&](const CountTable& table) {
    OrderWeights weight = {table.log_scale, 0, 0, 0, 0};
    const std::size_t size = width(table.added);
    const auto most = static_cast<std::size_t>(k - 1);
    for (std::size_t l = 0; l < size; ++l) {
      for (std::size_t m = 0; m < size; ++m) {
        const double p = table.cells[l * size + m];
        weight.at_first += p;
        if (l < most) weight.below += p;
        if (m < most) weight.above += p;
      }
    }
    weight.at_last = weight.at_first;
    return weight;
  };
  CountTable none;
  none.cells = {1.0};
  return WithoutOneRecord(
      none, [&](std::size_t g) { return SharesOf(g, rank); }, add_record, weigh);
}

// Cell 4 c + 2 a + b: c records up to first and the others from last on; a: one is first; b: one is last.
std::vector<OrderWeights> OrderLaw::MedianBetweenRanks(std::size_t first, std::size_t last, PauseCounter* pause) const {
  struct PairShares {
    double below, at_first, at_last, above;
  };
  const std::int64_t k = Middle();
  const auto add_record = [&](CountTable* table, const PairShares& shares) {
    const auto before = static_cast<std::size_t>(std::min(table->added, k) + 1);
    const auto after = static_cast<std::size_t>(std::min(++table->added, k) + 1);
    std::vector<double> next(4 * after);
    for (std::size_t c = 0; c < before; ++c) {
      for (std::size_t flags = 0; flags < 4; ++flags) {
        const double p = table->cells[4 * c + flags];
        next[4 * c + flags] += p * shares.above;
        next[4 * c + (flags | 1U)] += p * shares.at_last;
        if (c + 1 >= after) continue;
        next[4 * (c + 1) + flags] += p * shares.below;
        next[4 * (c + 1) + (flags | 2U)] += p * shares.at_first;
      }
    }
    pause->Add(8 * before);
    table->cells = std::move(next);
    Rescale(table);
  };
  const auto weigh = [&](const CountTable& table) {
    const double* one_less = &table.cells[static_cast<std::size_t>(4 * (k - 1))];
    const double* full = one_less + 4;  // all others but k - 1 lie above: there are 2 k - 1
    return OrderWeights{table.log_scale, one_less[3], one_less[3] + one_less[1], full[3] + full[2], full[3]};
  };
  const auto shares_of = [&](std::size_t g) {
    const std::vector<double>& probability = groups_[g].probability;
    return PairShares{up_to_[g][first], probability[first], probability[last], from_[g][last + 1]};
  };
  CountTable none;
  none.cells = {1.0, 0, 0, 0};
  return WithoutOneRecord(none, shares_of, add_record, weigh);
}

// The weights by group: those of the table of all records but one of the group.
template <typename SharesOfGroup, typename AddRecord, typename Weigh>
std::vector<OrderWeights> OrderLaw::WithoutOneRecord(const CountTable& none, SharesOfGroup shares_of,
                                                     AddRecord add_record, Weigh weigh) const {
  std::vector<OrderWeights> weights(groups_.size());
  const auto add = [&](CountTable* table, std::size_t g, std::int64_t count) {
    const auto shares = shares_of(g);
    for (; count > 0; --count) add_record(table, shares);
  };
  LeaveOneOut(
      0, groups_.size(), none, [this](std::size_t g) { return groups_[g].records; }, add,
      [&](const CountTable& table, std::size_t g) { weights[g] = weigh(table); });
  return weights;
}

}  // namespace privacy_score
