/*
 * measurement_plan.cpp - dividing the epsilon of a level (see measurement_plan.hpp).
 */
#include "core/private_sql/measurement_plan.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

const Rational& Quarter() {
  static const Rational quarter(1, 4);
  return quarter;
}

bool HasOwnNorm(MeasureKind kind) { return kind == MeasureKind::kSum || kind == MeasureKind::kSpread; }

bool CountsPersons(MeasureKind kind) { return kind == MeasureKind::kPersons || kind == MeasureKind::kHolders; }

class Planner {
 public:
  explicit Planner(const LevelShape& shape) : shape_(shape) {}

  void Add(const PlannedAggregate& aggregate) {
    std::vector<std::size_t> uses;
    const std::size_t column = aggregate.column;
    const auto count = [&] {
      return aggregate.never_null ? Measure(MeasureKind::kRows, 0) : Measure(MeasureKind::kCount, column);
    };
    switch (aggregate.kind) {
      case AggregateKind::kCountRows:
        uses = {Measure(MeasureKind::kRows, 0)};
        break;
      case AggregateKind::kCountValues:
        uses = {count()};
        break;
      case AggregateKind::kCountPersons:
        uses = {Measure(MeasureKind::kPersons, 0)};
        break;
      case AggregateKind::kCountHolders:
        uses = {aggregate.never_null ? Measure(MeasureKind::kPersons, 0) : Measure(MeasureKind::kHolders, column)};
        break;
      case AggregateKind::kSum:
        uses = {Measure(MeasureKind::kSum, column)};
        break;
      case AggregateKind::kAverage:
        uses = {Measure(MeasureKind::kSum, column)};
        uses.push_back(count());
        break;
      case AggregateKind::kVariance:
        uses = {Measure(MeasureKind::kSum, column)};
        uses.push_back(count());
        uses.push_back(Measure(MeasureKind::kSpread, column));
        break;
    }
    plan_.used_by.push_back(std::move(uses));
  }

  MeasurementPlan Finish(const Rational& epsilon) {
    FindWhatShows();
    Rational rest = epsilon;
    if (shape_.unknown_keys && !plan_.shown_by) {
      plan_.key_epsilon = plan_.measurements.empty() ? epsilon : epsilon * Quarter();
      rest = rest - plan_.key_epsilon;
    }
    rest = rest - PlanSharedNorms(epsilon * Quarter());
    for (PlannedMeasurement& measurement : plan_.measurements) {
      measurement.epsilon = rest / Rational(static_cast<std::int64_t>(plan_.measurements.size()));
      if (!HasOwnNorm(measurement.kind)) continue;
      measurement.norm = plan_.norms.size();
      plan_.norms.push_back({measurement.kind, measurement.column, measurement.epsilon * Quarter()});
      measurement.epsilon = measurement.epsilon - plan_.norms.back().epsilon;
    }
    return std::move(plan_);
  }

 private:
  // The place of a quantity among the measurements, which it joins when it is not there.
  std::size_t Measure(MeasureKind kind, std::size_t column) {
    for (std::size_t i = 0; i < plan_.measurements.size(); ++i)
      if (plan_.measurements[i].kind == kind && plan_.measurements[i].column == column) return i;
    PlannedMeasurement& measurement = plan_.measurements.emplace_back();
    measurement.kind = kind;
    measurement.column = column;
    if (!HasOwnNorm(kind)) {
      const bool in_one_group = CountsPersons(kind) && shape_.keys_follow_person;
      measurement.bound = in_one_group ? 1 : shape_.most_rows;
      measurement.proven = in_one_group || (shape_.most_rows > 0 && shape_.rows_are_proven);
    }
    return plan_.measurements.size() - 1;
  }

  // A count by which groups are shown: for unknown keys one of which a person can have 1 at most, so that the choice of
  // keys costs nothing; for public ones any, which is added when there is none.
  void FindWhatShows() {
    const bool for_unknown = shape_.unknown_keys;
    if (!for_unknown && !shape_.shows_present_groups) return;
    for (const MeasureKind kind : {MeasureKind::kPersons, MeasureKind::kRows})
      for (std::size_t i = 0; i < plan_.measurements.size() && !plan_.shown_by; ++i)
        if (plan_.measurements[i].kind == kind && (!for_unknown || plan_.measurements[i].bound == 1))
          plan_.shown_by = i;
    if (plan_.shown_by) return;
    const bool is_alone = plan_.measurements.empty() && (shape_.keys_follow_person || shape_.most_rows == 1);
    if (!for_unknown || is_alone) plan_.shown_by = Measure(MeasureKind::kPersons, 0);
  }

  // Histograms that several measurements share; returns what they cost, `epsilon` or nothing.
  Rational PlanSharedNorms(const Rational& epsilon) {
    const auto wants = [](bool persons) {
      return [persons](const PlannedMeasurement& measurement) {
        return !HasOwnNorm(measurement.kind) && measurement.bound == 0 && CountsPersons(measurement.kind) == persons;
      };
    };
    auto& measurements = plan_.measurements;
    const bool wanted[2] = {std::any_of(measurements.begin(), measurements.end(), wants(false)),
                            std::any_of(measurements.begin(), measurements.end(), wants(true))};
    const Rational each = wanted[0] && wanted[1] ? epsilon / Rational(2) : epsilon;
    for (const bool persons : {false, true}) {
      if (!wanted[persons]) continue;
      for (PlannedMeasurement& measurement : measurements)
        if (wants(persons)(measurement)) measurement.norm = plan_.norms.size();
      plan_.norms.push_back({persons ? MeasureKind::kPersons : MeasureKind::kRows, 0, each});
    }
    return wanted[0] || wanted[1] ? epsilon : Rational(0);
  }

  LevelShape shape_;
  MeasurementPlan plan_;
};

}  // namespace

MeasurementPlan PlanMeasurements(const std::vector<PlannedAggregate>& aggregates, const LevelShape& shape,
                                 const Rational& epsilon) {
  if (epsilon <= Rational(0))
    throw InvalidValue("epsilon must be greater than zero, not " + TextOf(epsilon),
                       "The smaller it is, the more noise there is.");
  Planner planner(shape);
  for (const PlannedAggregate& aggregate : aggregates) planner.Add(aggregate);
  return planner.Finish(epsilon);
}

}  // namespace privacy_score
