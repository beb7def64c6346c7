/*
 * order_law.hpp - what a released minimum, maximum or median tells of each of the independent records, by the laws of
 * order statistics.
 *
 * Values are ranks 0, 1, ... An outcome is the rank of the statistic; the median of an even number of records lies
 * between the two in the middle, so its outcome is a pair of ranks, first <= last. All formulas are sums of positive
 * terms: an improbable outcome has the same relative accuracy as a probable one.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/loss/sum_law.hpp"

namespace privacy_score {

enum class OrderStatistic { kMinimum, kMaximum, kMedian };

// e^log_scale times the probability of an outcome given that a record of a group has a rank below first, first, last,
// or above last. Between first and last it is 0, and where first is last at_first is what holds. Factors that depend on
// the number of records only are left out.
struct OrderWeights {
  double log_scale;
  double below, at_first, at_last, above;
};

class PauseCounter;

class OrderLaw {
 public:
  // Each group has a probability for each rank.
  OrderLaw(OrderStatistic statistic, std::vector<SumGroup> groups);

  // Weights by group; none when the outcome is impossible. Throws Paused, and Error 54000 for medians of too many
  // records with different priors.
  std::vector<OrderWeights> WeightsOf(std::size_t first, std::size_t last, const WorkControl& control) const;

 private:
  struct Shares {
    double less, equal, greater;  // than an outcome of one rank
  };
  Shares SharesOf(std::size_t group, std::size_t rank) const;
  std::vector<OrderWeights> Extreme(std::size_t rank) const;
  std::vector<OrderWeights> MedianOfOneGroup(std::size_t first, std::size_t last) const;
  std::vector<OrderWeights> MedianOfGroups(std::size_t first, std::size_t last, const WorkControl& control) const;
  std::vector<OrderWeights> MedianAtOneRank(std::size_t rank, PauseCounter* pause) const;
  std::vector<OrderWeights> MedianBetweenRanks(std::size_t first, std::size_t last, PauseCounter* pause) const;
  std::int64_t Middle() const;
  void RequireFewAdditions(double per_record) const;

  struct CountTable;
  static void Rescale(CountTable* table);
  template <typename SharesOfGroup, typename AddRecord, typename Weigh>
  std::vector<OrderWeights> WithoutOneRecord(const CountTable& none, SharesOfGroup shares_of, AddRecord add_record,
                                             Weigh weigh) const;

  OrderStatistic statistic_;
  std::vector<SumGroup> groups_;
  std::int64_t records_ = 0;
  std::vector<std::vector<double>> up_to_;  // by group: probability of ranks below r, r = 0 ... ranks
  std::vector<std::vector<double>> from_;   // of ranks r and above
};

}  // namespace privacy_score
