/*
 * private_sql.cpp - how far off noisy aggregates are, and what persons' sums cost, as core alone has it.
 *
 * Made-up persons (seeded, so that tables can be compared); the noise is drawn as the product draws it, and the bound
 * of a person comes from the norm histogram. Relative errors are medians over runs, with the 95 % quantile behind.
 * Prints a Markdown section. With the argument "quick" few runs.
 */
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/noise/laplace.hpp"
#include "core/private_sql/answer_intervals.hpp"
#include "core/private_sql/clipped_sums.hpp"
#include "core/private_sql/key_selection.hpp"
#include "core/private_sql/measurement_plan.hpp"
#include "core/private_sql/norm_histogram.hpp"
#include "core/private_sql/person_sums.hpp"

namespace {

using privacy_score::ClipGrid;
using privacy_score::Int128;
using privacy_score::MeasuredQuantity;
using privacy_score::MeasureKind;
using privacy_score::NormBins;
using privacy_score::NormReference;
using privacy_score::PersonRecords;
using privacy_score::PersonSums;
using privacy_score::Rational;

constexpr int kPersons = 100000;

class SystemRandom : public privacy_score::RandomSource {
 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    const std::size_t bytes = count * sizeof *words;
    if (getrandom(words, bytes, 0) != static_cast<ssize_t>(bytes))
      throw privacy_score::Error("58000", "could not generate random values");
  }
};

// --- people ---------------------------------------------------------------------------------------------------------

enum class Shape { kPareto, kLogNormal, kOne, kPoisson, kOneHeavy };

struct People {
  const char* name;
  Shape shape;
};

constexpr People kPeople[] = {{"Pareto 1.2", Shape::kPareto},
                              {"log-normal", Shape::kLogNormal},
                              {"all 1", Shape::kOne},
                              {"Poisson 40", Shape::kPoisson},
                              {"one of 10^6, others 3", Shape::kOneHeavy}};

// Rows of each person.
std::vector<std::int64_t> RowsOfPersons(Shape shape, int persons) {
  std::mt19937_64 engine(6);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(1, 1);
  std::poisson_distribution<std::int64_t> poisson(40);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(persons));
  for (auto& count : rows) {
    if (shape == Shape::kPareto) count = static_cast<std::int64_t>(std::pow(1 - uniform(engine), -1 / 1.2));
    if (shape == Shape::kLogNormal) count = std::max<std::int64_t>(1, std::llround(std::exp(normal(engine))));
    if (shape == Shape::kOne) count = 1;
    if (shape == Shape::kPoisson) count = poisson(engine);
    if (shape == Shape::kOneHeavy) count = 3;
  }
  if (shape == Shape::kOneHeavy) rows[0] = 1000000;
  return rows;
}

// Groups of Zipf sizes: group g has a share ~ 1/(g + 1).
class ZipfGroups {
 public:
  explicit ZipfGroups(std::size_t groups) {
    double sum = 0;
    for (std::size_t group = 0; group < groups; ++group) ends_.push_back(sum += 1.0 / static_cast<double>(group + 1));
  }
  std::uint32_t Draw(std::mt19937_64& engine) const {
    const double place = std::uniform_real_distribution<double>(0, ends_.back())(engine);
    return static_cast<std::uint32_t>(std::lower_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
  }

 private:
  std::vector<double> ends_;
};

// Their rows, each in a group: of Zipf sizes, or where `costs` says so of equal ones, with a column of log-normal costs
// (median 20, in cents).
PersonRecords RecordsOf(const std::vector<std::int64_t>& rows, std::size_t groups, bool costs) {
  std::mt19937_64 engine(20260102);
  std::normal_distribution<double> normal(std::log(2000), 1);
  const ZipfGroups zipf(groups);
  PersonSums sums(costs ? 1 : 0);
  for (std::size_t person = 0; person < rows.size(); ++person)
    for (std::int64_t row = 0; row < rows[person]; ++row) {
      const std::int64_t value = costs ? std::llround(std::exp(normal(engine))) : 0;
      const std::uint32_t group = costs ? static_cast<std::uint32_t>(engine() % groups) : zipf.Draw(engine);
      sums.Add({person, 0}, group, &value);
    }
  return sums.Finish(groups);
}

// --- answers --------------------------------------------------------------------------------------------------------

struct Errors {
  double median;
  double upper;
};

Errors QuantilesOf(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors[errors.size() * 95 / 100]};
}

// Answers a measure again and again: all that is not noise is computed once.
class Answerer {
 public:
  Answerer(const PersonRecords& records, MeasureKind kind)
      : records_(records), quantity_{kind, 0, {}, 0}, bins_(CountNorms(records, quantity_, {})) {
    const ClipGrid unclipped = {std::int64_t{1} << 62, 0, Rational(1)};
    truth_ = ClippedTotals(records, quantity_, unclipped, {});
  }

  // What is asked for says how epsilon is divided; the relative error of each run is that of the median group, in %.
  Errors Ask(const Rational& epsilon, const NormReference& reference, int runs) {
    const bool is_sum = quantity_.kind == MeasureKind::kSum;
    privacy_score::PlannedAggregate aggregate;
    aggregate.kind = is_sum ? privacy_score::AggregateKind::kSum : privacy_score::AggregateKind::kCountRows;
    const privacy_score::MeasurementPlan plan = privacy_score::PlanMeasurements({aggregate}, {}, epsilon);
    const Rational& measured = plan.measurements[0].epsilon;
    const Rational& histogram = plan.norms[0].epsilon;
    std::vector<double> errors;
    for (int run = 0; run < runs; ++run) {
      const NormBins noisy = NoisyNorms(bins_, histogram, random_);
      const auto groups = static_cast<std::int64_t>(records_.groups());
      const int log_bound = ChooseNormBound(noisy, histogram, reference, groups, measured).log_bound;
      const ClipGrid grid = privacy_score::ChooseClipGrid(std::int64_t{1} << log_bound, measured, false);
      std::vector<Int128> answer = TotalsFor(log_bound, grid);
      AddNoise(answer, grid, {}, random_);
      std::vector<double> off;
      for (std::size_t group = 0; group < answer.size(); ++group) {
        const auto truth = static_cast<double>(truth_[group]);
        off.push_back(std::abs(static_cast<double>(privacy_score::WholeUnits(answer[group], grid.exponent)) - truth) /
                      truth);
      }
      std::nth_element(off.begin(), off.begin() + static_cast<std::ptrdiff_t>(off.size() / 2), off.end());
      errors.push_back(100 * off[off.size() / 2]);
    }
    return QuantilesOf(std::move(errors));
  }

 private:
  const std::vector<Int128>& TotalsFor(int log_bound, const ClipGrid& grid) {
    std::vector<Int128>& totals = totals_[{log_bound, grid.exponent}];
    if (totals.empty()) totals = ClippedTotals(records_, quantity_, grid, {});
    return totals;
  }

  const PersonRecords& records_;
  MeasuredQuantity quantity_;
  NormBins bins_;
  std::vector<Int128> truth_;
  std::map<std::pair<int, int>, std::vector<Int128>> totals_;
  SystemRandom random_;
};

void PrintRow(const std::string& name, const PersonRecords& records, MeasureKind kind, const NormReference& reference,
              int runs) {
  Answerer answerer(records, kind);
  std::printf("| %s |", name.c_str());
  for (const Rational& epsilon : {Rational(1, 10), Rational(1)}) {
    const Errors errors = answerer.Ask(epsilon, reference, runs);
    std::printf(" %.2g | %.2g |", errors.median, errors.upper);
  }
  std::printf("\n");
}

void PrintHead(const char* rows) {
  std::printf("| %s | epsilon 0.1 | 95 %% | epsilon 1 | 95 %% |\n|---|---:|---:|---:|---:|\n", rows);
}

// A handful of persons of 20 rows, and the reference that 1,000 of the like make.
void PrintHandful(int runs) {
  const PersonRecords few = RecordsOf(std::vector<std::int64_t>(20, 20), 1, false);
  const PersonRecords many = RecordsOf(std::vector<std::int64_t>(1000, 20), 1, false);
  SystemRandom random;
  const Rational epsilon = privacy_score::ParseRational("epsilon", privacy_score::kReferenceEpsilon);
  const NormBins noisy = NoisyNorms(CountNorms(many, {}, {}), epsilon, random);
  PrintHead("20 persons of 20 rows");
  PrintRow("without a reference", few, MeasureKind::kRows, {}, runs);
  PrintRow("with one", few, MeasureKind::kRows, privacy_score::ReferenceOf(noisy, ToDouble(epsilon)), runs);
}

// The same count by the Race-to-the-Top [Dong, Fang, Yi, Tao, Machanavajjhala 2022]: the greatest of the counts with
// bounds 2^j, j = 1..20, each with noise and less what the noise is below but for 10 %; and 0.
Errors AskByRace(const std::vector<std::int64_t>& rows, double epsilon, int runs) {
  constexpr int kBounds = 20;
  SystemRandom random;
  std::vector<double> clipped(kBounds + 1);
  double truth = 0;
  for (const std::int64_t count : rows) {
    truth += static_cast<double>(count);
    for (int j = 1; j <= kBounds; ++j)
      clipped[static_cast<std::size_t>(j)] += static_cast<double>(std::min(count, std::int64_t{1} << j));
  }
  std::vector<double> errors;
  for (int run = 0; run < runs; ++run) {
    double best = 0;
    for (int j = 1; j <= kBounds; ++j) {
      const double scale = kBounds * std::ldexp(1.0, j) / epsilon;
      const double noise = privacy_score::DrawLaplace(scale, random);
      best = std::max(best, clipped[static_cast<std::size_t>(j)] + noise - scale * std::log(kBounds / 0.1));
    }
    errors.push_back(100 * std::abs(best - truth) / truth);
  }
  return QuantilesOf(std::move(errors));
}

struct NoisyTotal {
  Int128 steps;
  ClipGrid grid;
};

// A total of the whole table, by the plan's measurement.
NoisyTotal Total(const PersonRecords& records, const privacy_score::MeasurementPlan& plan, std::size_t i,
                                privacy_score::RandomSource& random) {
  const privacy_score::PlannedMeasurement& measurement = plan.measurements[i];
  const Rational& histogram = plan.norms[*measurement.norm].epsilon;
  const MeasuredQuantity quantity = {measurement.kind, 0, {}, 0};
  const NormBins noisy = NoisyNorms(CountNorms(records, quantity, {}), histogram, random);
  const int log_bound = ChooseNormBound(noisy, histogram, {}, 1, measurement.epsilon).log_bound;
  const ClipGrid grid = privacy_score::ChooseClipGrid(std::int64_t{1} << log_bound, measurement.epsilon, false);
  std::vector<Int128> totals = ClippedTotals(records, quantity, grid, {});
  AddNoise(totals, grid, {}, random);
  return {totals[0], grid};
}

// Counts and averages, and the half-widths that are stated with them.
void PrintIntervals(int runs) {
  const PersonRecords records = RecordsOf(RowsOfPersons(Shape::kLogNormal, kPersons), 1, true);
  double sum = 0;
  double rows = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    rows += static_cast<double>(records.RowsOf(i));
    sum += static_cast<double>(records.SumsOf(i, 0).sum);
  }
  privacy_score::PlannedAggregate average;
  average.kind = privacy_score::AggregateKind::kAverage;
  average.never_null = true;
  const privacy_score::MeasurementPlan plan = privacy_score::PlanMeasurements({average}, {}, Rational(1));
  SystemRandom random;
  std::vector<double> errors[2];
  std::vector<double> widths[2];
  for (int run = 0; run < runs / 10; ++run) {
    const NoisyTotal count = Total(records, plan, plan.used_by[0][1], random);
    const auto counted = static_cast<double>(privacy_score::WholeUnits(count.steps, count.grid.exponent));
    errors[0].push_back(100 * std::abs(counted - rows) / rows);
    widths[0].push_back(100 * privacy_score::HalfWidthOf(count.grid) / rows);
    const NoisyTotal added = Total(records, plan, plan.used_by[0][0], random);
    const auto ratio = privacy_score::RatioIntervals(added.grid, count.grid).Of(added.steps, count.steps);
    errors[1].push_back(100 * std::abs(ToDouble(ratio->value) * rows / sum - 1));
    widths[1].push_back(100 * ratio->half_width * rows / sum);
  }
  std::printf("| of an average | median error | 95 %% | half-width stated |\n|---|---:|---:|---:|\n");
  for (const int i : {0, 1}) {
    const Errors error = QuantilesOf(errors[i]);
    std::printf("| %s | %.2g | %.2g | %.2g |\n", i == 0 ? "its count" : "the average", error.median, error.upper,
                QuantilesOf(widths[i]).median);
  }
}

// --- time -----------------------------------------------------------------------------------------------------------

double Milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since).count();
}

void PrintTimes(std::size_t columns, std::size_t groups) {
  constexpr std::size_t kRows = 1000000;
  std::mt19937_64 engine(20260103);
  std::vector<std::uint64_t> persons(kRows);
  std::vector<std::uint32_t> group_of(kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    persons[row] = engine() % kPersons;
    group_of[row] = static_cast<std::uint32_t>(engine() % groups);
  }
  std::sort(group_of.begin(), group_of.end());
  std::vector<std::vector<double>> times(4);
  const std::vector<std::uint64_t> hashes(groups, 1);
  SystemRandom random;
  for (int round = 0; round < 9; ++round) {
    const std::vector<std::int64_t> values(columns, 7);
    auto began = std::chrono::steady_clock::now();
    PersonSums sums(columns);
    for (std::size_t row = 0; row < kRows; ++row) sums.Add({persons[row], 0}, group_of[row], values.data());
    times[0].push_back(Milliseconds(began));
    began = std::chrono::steady_clock::now();
    const PersonRecords records = sums.Finish(groups);
    times[1].push_back(Milliseconds(began));
    began = std::chrono::steady_clock::now();
    const Rational epsilon(1);
    const std::int64_t threshold = privacy_score::VoteThreshold(epsilon, Rational(1, 1000000));
    ShowByVotes(CountVotes(records, hashes, {1, 2}), epsilon, threshold, random);
    times[2].push_back(Milliseconds(began));
    began = std::chrono::steady_clock::now();
    const MeasuredQuantity quantity;
    CountNorms(records, quantity, {});
    const ClipGrid grid = privacy_score::ChooseClipGrid(8, epsilon, false);
    privacy_score::ShowByCounts(ClippedTotals(records, quantity, grid, {}), privacy_score::PresenceThreshold(grid));
    times[3].push_back(Milliseconds(began));
  }
  std::printf("| %zu | %zu |", groups, columns);
  for (auto& part : times) std::printf(" %.1f ms |", QuantilesOf(part).median);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 && std::strcmp(argv[1], "quick") == 0 ? 50 : 1000;
  std::printf("Relative errors in %%, median and 95 %% quantile of %d runs.\n\n", runs);
  std::printf("A count over %d persons:\n\n", kPersons);
  PrintHead("rows a person");
  for (const People& people : kPeople)
    PrintRow(people.name, RecordsOf(RowsOfPersons(people.shape, kPersons), 1, false), MeasureKind::kRows, {}, runs);
  std::printf("\nThe same by R2T, which declares no bound either:\n\n");
  PrintHead("rows a person, R2T");
  for (const People& people : kPeople) {
    std::printf("| %s, R2T |", people.name);
    for (const double epsilon : {0.1, 1.0}) {
      const Errors errors = AskByRace(RowsOfPersons(people.shape, kPersons), epsilon, runs);
      std::printf(" %.2g | %.2g |", errors.median, errors.upper);
    }
    std::printf("\n");
  }
  std::printf("\nCounts of 50 groups of Zipf sizes, the median group (30,000 persons for Poisson 40):\n\n");
  PrintHead("rows a person, 50 groups");
  for (const People& people : {kPeople[1], kPeople[0], kPeople[3]}) {
    const int persons = people.shape == Shape::kPoisson ? 30000 : kPersons;
    const PersonRecords records = RecordsOf(RowsOfPersons(people.shape, persons), 50, false);
    PrintRow(people.name + std::string(", 50 groups"), records, MeasureKind::kRows, {}, runs);
  }
  std::printf("\nSums of log-normal costs, log-normal rows a person; no bound is declared:\n\n");
  PrintHead("groups");
  for (const std::size_t groups : {1U, 20U}) {
    const PersonRecords records = RecordsOf(RowsOfPersons(Shape::kLogNormal, kPersons), groups, true);
    PrintRow("sums of " + std::to_string(groups), records, MeasureKind::kSum, {}, runs);
  }
  std::printf("\n");
  PrintHandful(runs);
  std::printf(
      "\nAn average of those costs, epsilon 1; half-widths speak of noise, not of what the bound leaves out:\n\n");
  PrintIntervals(runs);
  std::printf("\nTime of 1,000,000 rows of %d persons, median of nine:\n\n", kPersons);
  std::printf(
      "| groups | columns | rows in | sorted and added up | keys chosen | clipped "
      "|\n|---:|---:|---:|---:|---:|---:|\n");
  PrintTimes(0, 1);
  PrintTimes(0, 50);
  PrintTimes(2, 50);
  return 0;
}
