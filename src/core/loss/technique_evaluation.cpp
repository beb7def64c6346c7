/*
 * technique_evaluation.cpp - see technique_evaluation.hpp.
 *
 * What is seen of a record is one word: its value's number or that it is not in the sample; the places in the domain
 * that its bounds are; its released number. The random numbers of a round depend on seed, strength and repetition only,
 * so all subsets see the same release.
 */
#include "core/loss/technique_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/loss/equivocation.hpp"
#include "core/loss/probabilities.hpp"
#include "core/loss/simulation_random.hpp"
#include "core/loss/technique_posteriors.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostKnown = 16;
constexpr std::uint64_t kNotInSample = ~std::uint64_t{0};
constexpr std::size_t kMostMeasured = 200'000;
constexpr std::size_t kLongestRemembered = 64;  // words seen: of larger groups no two are alike

void Shuffle(std::vector<std::uint32_t>* order, std::size_t first, RandomSource& random) {
  for (std::size_t i = 0; i < first; ++i) std::swap((*order)[i], (*order)[i + random.Below(order->size() - i)]);
}

}  // namespace

TechniqueEvaluation::TechniqueEvaluation(EvaluatedTable table, Technique technique, std::vector<double> strengths,
                                         int repetitions, std::uint64_t seed)
    : table_(std::move(table)),
      technique_(technique),
      strengths_(std::move(strengths)),
      repetitions_(repetitions),
      seed_(seed) {
  if (table_.known.empty() || table_.known.size() > kMostKnown)
    throw InvalidValue("known must name 1 to 16 columns, not " + std::to_string(table_.known.size()),
                       "All their subsets are tried.");
  if (repetitions_ < 1)
    throw InvalidValue("repetitions must be at least 1, not " + std::to_string(repetitions_),
                       "Each draws a release anew.");
  if (table_.sensitive.empty()) throw InvalidValue("there are no records with a sensitive value", "NULL is left out.");
  CheckStrengths();
  SortDomain();
  total_ = static_cast<std::int64_t>((std::uint64_t{1} << table_.known.size()) - 1) *
           static_cast<std::int64_t>(strengths_.size()) * repetitions_;
  sums_.assign(strengths_.size(), std::vector<Sum>(table_.known.size()));
  seen_.resize(table_.sensitive.size());
}

void TechniqueEvaluation::CheckStrengths() const {
  if (strengths_.empty()) throw InvalidValue("there must be at least one strength", "List those to compare.");
  for (const double strength : strengths_) {
    if (technique_ == Technique::kSampling && !(strength > 0 && strength <= 1))
      throw InvalidValue("fractions must be greater than 0 and at most 1, not " + TextOf(strength),
                         "A fraction is the share of records in the sample.");
    if (technique_ == Technique::kQueryRestriction && (strength < 2 || std::fmod(strength, 2) != 0))
      throw InvalidValue("query_sizes must be even and at least 2, not " + std::to_string(std::lround(strength)),
                         "Each sum begins half its records behind the one before.");
    if (technique_ == Technique::kNoise) MaxNoise(strength, 1);
  }
}

void TechniqueEvaluation::SortDomain() {
  decimals_ = CommonDecimals(table_.domain);
  std::vector<Int128> given;
  for (const Decimal& value : table_.domain) given.push_back(StepsOf("sensitive", value, decimals_));
  std::vector<std::uint32_t> order(given.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return given[a] < given[b]; });
  // Sums of all records must fit, too.
  const Int128 most = kMostSteps / (4 * static_cast<Int128>(table_.sensitive.size()));
  std::vector<std::uint32_t> place(given.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Int128 step = given[order[i]] - given[order[0]];
    if (step >= most)
      throw Error("22003", "the sensitive values span too many steps of their common grid",
                  "Round them to fewer decimals.");
    place[order[i]] = static_cast<std::uint32_t>(i);
    steps_.push_back(static_cast<std::int64_t>(step));
  }
  for (std::uint32_t& value : table_.sensitive) value = place[value];
}

bool TechniqueEvaluation::Run(const WorkControl& control) try {
  const auto rounds = static_cast<std::int64_t>(strengths_.size()) * repetitions_;
  for (; done_ < total_; ++done_) {
    PauseIfInterrupted(control);
    const auto subset = static_cast<std::uint32_t>(done_ / rounds + 1);
    const auto strength = static_cast<std::size_t>(done_ % rounds / repetitions_);
    if (subset != grouped_) GroupRecords(subset);
    Observe(strength, static_cast<int>(done_ % repetitions_));
    Round(strength, subset, control);
  }
  return true;
} catch (const Paused&) {
  return false;
}

// Bit k of a subset: attribute k is known. Groups are refined attribute by attribute.
void TechniqueEvaluation::GroupRecords(std::uint32_t subset) {
  const std::size_t records = table_.sensitive.size();
  std::vector<std::uint32_t> group(records);
  std::uint32_t groups = 1;
  for (std::size_t k = 0; k < table_.known.size(); ++k) {
    if ((subset >> k & 1U) == 0) continue;
    std::unordered_map<std::uint64_t, std::uint32_t> finer;
    for (std::size_t i = 0; i < records; ++i) {
      const std::uint64_t key = static_cast<std::uint64_t>(group[i]) << 32U | table_.known[k][i];
      group[i] = finer.emplace(key, static_cast<std::uint32_t>(finer.size())).first->second;
    }
    groups = static_cast<std::uint32_t>(finer.size());
  }
  group_ends_.assign(groups, 0);
  for (const std::uint32_t g : group) ++group_ends_[g];
  std::size_t before = 0;
  for (std::size_t& end : group_ends_) {
    const std::size_t count = end;
    end = before;
    before += count;
  }
  order_.resize(records);
  for (std::size_t i = 0; i < records; ++i) order_[group_ends_[group[i]]++] = static_cast<std::uint32_t>(i);
  grouped_ = subset;
}

// Draws a release and notes what is seen of each record.
void TechniqueEvaluation::Observe(std::size_t strength, int repetition) {
  SimulationRandom random(seed_, static_cast<std::uint64_t>(strength) << 32U | static_cast<std::uint32_t>(repetition));
  const std::size_t records = seen_.size();
  if (technique_ == Technique::kNoise) {
    const std::int64_t most = MaxNoise(strengths_[strength], static_cast<std::int64_t>(steps_.size()));
    for (std::size_t i = 0; i < records; ++i)
      seen_[i] = static_cast<std::uint64_t>(table_.sensitive[i] + 1 + DrawBinomialNoise(most, random));
    return;
  }
  std::vector<std::uint32_t> order(records);
  std::iota(order.begin(), order.end(), 0U);
  if (technique_ == Technique::kSampling) {
    const auto sampled = static_cast<std::size_t>(SampleSize(strengths_[strength], static_cast<std::int64_t>(records)));
    Shuffle(&order, sampled, random);
    std::fill(seen_.begin(), seen_.end(), kNotInSample);
    for (std::size_t i = 0; i < sampled; ++i) seen_[order[i]] = table_.sensitive[order[i]];
    return;
  }
  Shuffle(&order, records, random);
  std::vector<std::int64_t> values(records);
  for (std::size_t i = 0; i < records; ++i) values[i] = steps_[table_.sensitive[order[i]]];
  const std::vector<ValueRange> bounds =
      ShiftedSumBounds(values, std::llround(strengths_[strength] / 2), 0, steps_.back());
  for (std::size_t i = 0; i < records; ++i) {
    const auto lower = std::lower_bound(steps_.begin(), steps_.end(), bounds[i].lower) - steps_.begin();
    const auto upper = std::upper_bound(steps_.begin(), steps_.end(), bounds[i].upper) - steps_.begin() - 1;
    seen_[order[i]] = static_cast<std::uint64_t>(lower) << 32U | static_cast<std::uint64_t>(upper);
  }
}

// Adds the laws of all groups. Nothing is added before all are known, so that a round can begin anew.
void TechniqueEvaluation::Round(std::size_t strength, std::uint32_t subset, const WorkControl& control) {
  PauseCounter pause(control);
  if (measured_strength_ != strength) measured_.clear();
  measured_strength_ = strength;
  Sum sum;
  std::vector<std::uint64_t> seen;
  std::size_t begin = 0;
  for (const std::size_t end : group_ends_) {
    seen.clear();
    for (std::size_t i = begin; i < end; ++i) seen.push_back(seen_[order_[i]]);
    begin = end;
    std::sort(seen.begin(), seen.end());
    Measured measured;
    if (seen.size() <= kLongestRemembered) {
      const std::string key(reinterpret_cast<const char*>(seen.data()), seen.size() * sizeof seen[0]);
      const auto found = measured_.find(key);
      if (found != measured_.end()) {
        measured = found->second;
      } else {
        measured = Measure(seen, strength, control);
        pause.Add(steps_.size() * steps_.size());
        if (measured_.size() >= kMostMeasured) measured_.clear();
        measured_.emplace(key, measured);
      }
    } else {
      measured = Measure(seen, strength, control);
      pause.Add(steps_.size() * steps_.size() + seen.size());
    }
    sum.entropy += measured.entropy;
    sum.area += measured.area;
    ++sum.samples;
  }
  Sum& all = sums_[strength][static_cast<std::size_t>(__builtin_popcount(subset)) - 1];
  all.entropy += sum.entropy;
  all.area += sum.area;
  all.samples += sum.samples;
}

TechniqueEvaluation::Measured TechniqueEvaluation::Measure(const std::vector<std::uint64_t>& seen, std::size_t strength,
                                                           const WorkControl& control) const {
  const auto values = static_cast<std::int64_t>(steps_.size());
  std::vector<double> law(steps_.size());
  if (technique_ == Technique::kSampling) {
    std::vector<std::int64_t> counts(steps_.size());
    for (const std::uint64_t value : seen)
      if (value != kNotInSample) ++counts[value];
    law = SamplingProbabilities(counts, static_cast<std::int64_t>(seen.size()));
  } else if (technique_ == Technique::kQueryRestriction) {
    for (const std::uint64_t range : seen)
      AddBetween(static_cast<std::int64_t>(range >> 32U), static_cast<std::int64_t>(range & 0xffffffffU),
                 1 / static_cast<double>(seen.size()), &law);
  } else {
    std::vector<std::int64_t> released;
    for (const std::uint64_t number : seen) released.push_back(static_cast<std::int64_t>(number));
    law = NoisePosterior(values, released, BinomialNoise(MaxNoise(strengths_[strength], values)));
  }
  std::vector<Decimal> domain;
  for (const std::int64_t step : steps_) domain.push_back({step, 0});
  EquivocationCurve curve(ValueLaw(domain, &law));
  if (!curve.Run(control)) throw Paused{};
  return {EntropyOf(law), curve.Area(decimals_)};
}

std::vector<EvaluationResult> TechniqueEvaluation::Results() const {
  std::vector<EvaluationResult> results;
  for (std::size_t s = 0; s < strengths_.size(); ++s) {
    for (std::size_t k = 0; k < sums_[s].size(); ++k) {
      const Sum& sum = sums_[s][k];
      const auto samples = static_cast<long double>(sum.samples);
      results.push_back({strengths_[s], static_cast<int>(k + 1), static_cast<double>(sum.entropy / samples),
                         static_cast<double>(sum.area / samples), sum.samples});
    }
  }
  return results;
}

}  // namespace privacy_score
