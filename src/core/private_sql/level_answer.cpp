/*
 * level_answer.cpp - see level_answer.hpp.
 */
#include "core/private_sql/level_answer.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

class LevelMeasuring {
 public:
  LevelMeasuring(const PersonRecords& records, const LevelQuestion& question, RandomSource& random)
      : records_(records), question_(question), random_(random) {}

  LevelAnswer Measure() {
    answer_.plan = PlanMeasurements(question_.aggregates, question_.shape, question_.epsilon);
    answer_.measured.resize(answer_.plan.measurements.size());
    norms_.resize(answer_.plan.norms.size());
    ChooseGroups();
    for (std::size_t i = 0; i < answer_.measured.size(); ++i)
      if (answer_.measured[i].totals.empty()) MeasureOne(i);
    return std::move(answer_);
  }

 private:
  // Decides which groups are shown; while that is open all of them count.
  void ChooseGroups() {
    const MeasurementPlan& plan = answer_.plan;
    if (plan.shown_by) {
      MeasureOne(*plan.shown_by);
      const MeasuredTotals& by = answer_.measured[*plan.shown_by];
      answer_.shown = ShowByCounts(by.totals, question_.shape.unknown_keys
                                                  ? KeyThreshold(by.grid.scale, by.grid.bound, question_.delta)
                                                  : PresenceThreshold(by.grid));
    } else if (plan.key_epsilon > Rational(0)) {
      answer_.shown = ShowByVotes(CountVotes(records_, question_.group_hashes, question_.hash_key), plan.key_epsilon,
                                  VoteThreshold(plan.key_epsilon, question_.delta), random_);
    } else {
      answer_.shown.assign(records_.groups(), true);
    }
    shown_count_ = std::count(answer_.shown.begin(), answer_.shown.end(), true);
  }

  // The bound that the histogram of a norm chooses; each is read once.
  const NormBound& BoundOf(std::size_t norm, const Rational& measure_epsilon) {
    if (norms_[norm]) return *norms_[norm];
    const PlannedNorm& planned = answer_.plan.norms[norm];
    MeasuredQuantity quantity;
    quantity.kind = planned.kind;
    quantity.column = planned.column;
    const NormBins noisy = NoisyNorms(CountNorms(records_, quantity, answer_.shown), planned.epsilon, random_);
    const auto groups = answer_.shown.empty() ? static_cast<std::int64_t>(records_.groups()) : shown_count_;
    const NormReference none;
    const NormReference& reference = norm < question_.references.size() ? question_.references[norm] : none;
    norms_[norm] =
        ChooseNormBound(noisy, planned.epsilon, reference, std::max<std::int64_t>(groups, 1), measure_epsilon);
    return *norms_[norm];
  }

  void MeasureOne(std::size_t index) {
    const PlannedMeasurement& planned = answer_.plan.measurements[index];
    MeasuredTotals& measured = answer_.measured[index];
    std::int64_t bound = planned.bound;
    if (planned.norm) {
      const NormBound& chosen = BoundOf(*planned.norm, planned.epsilon);
      bound = std::int64_t{1} << chosen.log_bound;
      measured.left_out = chosen.left_out;
    } else if (!planned.proven) {
      measured.left_out = std::numeric_limits<double>::quiet_NaN();
    }
    measured.grid = ChooseClipGrid(bound, planned.epsilon, planned.proven);
    MeasuredQuantity quantity;
    quantity.kind = planned.kind;
    quantity.column = planned.column;
    measured.totals = ClippedTotals(records_, quantity, measured.grid, answer_.shown);
    AddNoise(measured.totals, measured.grid, answer_.shown, random_);
  }

  const PersonRecords& records_;
  const LevelQuestion& question_;
  RandomSource& random_;
  LevelAnswer answer_;
  std::vector<std::optional<NormBound>> norms_;
  std::int64_t shown_count_ = 0;
};

}  // namespace

std::vector<NormBins> MeasureReferences(const PersonRecords& records, const MeasurementPlan& plan,
                                        const Rational& epsilon, RandomSource& random) {
  std::vector<NormBins> measured;
  for (const PlannedNorm& planned : plan.norms) {
    MeasuredQuantity quantity;
    quantity.kind = planned.kind;
    quantity.column = planned.column;
    measured.push_back(NoisyNorms(CountNorms(records, quantity, {}), epsilon, random));
  }
  return measured;
}

LevelAnswer AnswerLevel(const PersonRecords& records, const LevelQuestion& question, RandomSource& random) {
  return LevelMeasuring(records, question, random).Measure();
}

}  // namespace privacy_score
