/*
 * privacy_loss.hpp - how much a released statistic lowers the entropy of a record [Chirayath, Longpre, Kreinovich].
 *
 * Records are independent with known priors. The loss of a record is H(X) - H(X | release) in bits; it may be negative,
 * because an improbable release can make a record that was nearly certain uncertain. The loss of a release is that of
 * the record that loses most.
 */
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/loss/order_law.hpp"
#include "core/loss/record_priors.hpp"

namespace privacy_score {

// Count: of records whose value is not zero. Median of an even number: half the sum of the two in the middle.
enum class ReleaseStatistic { kSum, kAverage, kCount, kMinimum, kMaximum, kMedian };

// Throws Error 22023 for any other name.
ReleaseStatistic ReleaseStatisticOf(std::string_view name);

// In bits, and in percent of entropy_before (0 where that is 0).
struct RecordLoss {
  double entropy_before = 0;
  double entropy_after = 0;
  double loss = 0;
  double percent = 0;
};

// So many records have a value.
struct ValueCount {
  Decimal value;
  std::int64_t count;
};

class PrivacyLoss {
 public:
  // Throws Error 22023 as RecordPriors does, 54000 when the values span too much.
  PrivacyLoss(RecordPriors priors, ReleaseStatistic statistic);

  // What the release tells, with discrete Laplace noise of a scale or none. Returns false when it was interrupted: call
  // it again. Throws Error 22023 for a scale that is not greater than 0, and for an average that is rounded so far that
  // it stands for several sums.
  bool Release(const Decimal& released, std::optional<double> noise_scale, const WorkControl& control);
  // The same for the statistic of records that are known, and noise that came out as 0. Throws Error 22023 when a
  // record has a value that the priors exclude.
  bool ReleaseOf(const std::vector<ValueCount>& database, std::optional<double> noise_scale,
                 const WorkControl& control);
  // Whether the release can occur at all; the losses are those of one that can.
  bool possible() const { return possible_; }
  const RecordLoss& LossOf(std::int64_t record) const { return losses_[priors_.GroupOf(record)]; }
  // The first record that loses most.
  std::int64_t GreatestLoser() const;

  // The expectation of the greatest loss over what may be released, without noise. Goes on where it was when it is
  // called again; false when it was interrupted.
  bool Expect(const WorkControl& control);
  double expected() const { return expected_; }

  const RecordPriors& priors() const { return priors_; }

 private:
  // One outcome of an order statistic, and the logarithm of how much it counts.
  struct Outcome {
    std::size_t first, last;
    double log_weight;
  };
  using Posteriors = std::vector<std::vector<double>>;  // by group and value

  void MakeImages();
  SumNoise NoiseOf(std::optional<double> rate);
  void ReleaseSum(std::int64_t sum, const SumNoise& noise, const WorkControl& control);
  void ReleaseOutcomes(const std::vector<Outcome>& outcomes, const WorkControl& control);
  std::optional<std::int64_t> SumOf(const Decimal& released, bool noisy) const;
  bool GivenSum(std::int64_t sum, const SumNoise& noise, const WorkControl& control, Posteriors* posteriors,
                double* log_probability) const;
  std::vector<Outcome> OutcomesOf(const Decimal& released, std::optional<double> rate) const;
  bool GivenOutcomes(const std::vector<Outcome>& outcomes, const WorkControl& control, Posteriors* posteriors,
                     double* log_probability) const;
  bool Ordered() const;
  bool MiddlePair() const;
  void SetLosses(const Posteriors& posteriors);
  double GreatestLoss(const Posteriors& posteriors) const;
  void ListReleases();

  RecordPriors priors_;
  ReleaseStatistic statistic_;
  std::vector<double> entropies_;  // by group

  // Sums, averages and counts: value v is image_of_[v], which is (value - offset)/grid for sums.
  std::unique_ptr<SumLaw> sums_;
  std::vector<std::size_t> image_of_;
  std::vector<std::int64_t> images_;
  Int128 offset_ = 0;
  Int128 grid_ = 1;
  std::unique_ptr<OrderLaw> orders_;

  bool possible_ = false;
  std::vector<RecordLoss> losses_;

  // Expect: what is still to be seen, and what was.
  bool listed_ = false;
  std::int64_t next_sum_ = 0;
  std::int64_t last_sum_ = -1;
  std::vector<std::vector<Outcome>> outcomes_;
  std::size_t next_outcome_ = 0;
  std::vector<std::pair<double, double>> seen_;  // log of the probability, greatest loss
  double expected_ = 0;
};

}  // namespace privacy_score
