/*
 * privacy_loss.cpp - see privacy_loss.hpp.
 */
#include "core/loss/privacy_loss.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/base/whole_division.hpp"
#include "core/loss/probabilities.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostPairs = 2'000'000;
constexpr std::int64_t kMostReleases = 20'000'000;

Error TooWide() { return Error("54000", "the values span too many grid steps", "Round them to a coarser grid."); }

std::int64_t Narrow(Int128 value) {
  if (value >= kMostSteps || value <= -kMostSteps) throw TooWide();
  return static_cast<std::int64_t>(value);
}

Int128 Product(Int128 a, Int128 b) {
  Int128 product;
  if (__builtin_mul_overflow(a, b, &product)) throw TooWide();
  return product;
}

Int128 Sum(Int128 a, Int128 b) {
  Int128 sum;
  if (__builtin_add_overflow(a, b, &sum)) throw TooWide();
  return sum;
}

Int128 PowerOf10(int exponent) {
  Int128 power = 1;
  for (int i = 0; i < exponent; ++i) power = Product(power, 10);
  return power;
}

// a/b, b > 0, rounded half away from zero as the server rounds.
Int128 RoundDivide(Int128 a, Int128 b) {
  const Int128 twice = Product(2, a < 0 ? -a : a);
  const Int128 rounded = Sum(twice, b) / Product(2, b);
  return a < 0 ? -rounded : rounded;
}

double RateOf(double noise_scale) {
  if (!(noise_scale > 0) || std::isinf(noise_scale))
    throw InvalidValue("noise_scale must be finite and greater than 0, not " + TextOf(noise_scale),
                       "NULL stands for no noise.");
  return 1 / noise_scale;
}

}  // namespace

ReleaseStatistic ReleaseStatisticOf(std::string_view name) {
  constexpr std::pair<std::string_view, ReleaseStatistic> kNames[] = {
      {"sum", ReleaseStatistic::kSum},         {"average", ReleaseStatistic::kAverage},
      {"count", ReleaseStatistic::kCount},     {"minimum", ReleaseStatistic::kMinimum},
      {"maximum", ReleaseStatistic::kMaximum}, {"median", ReleaseStatistic::kMedian}};
  for (const auto& [known, statistic] : kNames)
    if (known == name) return statistic;
  throw InvalidValue("unknown statistic \"" + std::string(name) + "\"",
                     "Statistics are sum, average, count, minimum, maximum and median.");
}

PrivacyLoss::PrivacyLoss(RecordPriors priors, ReleaseStatistic statistic)
    : priors_(std::move(priors)), statistic_(statistic) {
  for (const SumGroup& group : priors_.groups()) entropies_.push_back(EntropyOf(group.probability));
  if (Ordered()) {
    const auto order = statistic_ == ReleaseStatistic::kMinimum   ? OrderStatistic::kMinimum
                       : statistic_ == ReleaseStatistic::kMaximum ? OrderStatistic::kMaximum
                                                                  : OrderStatistic::kMedian;
    orders_ = std::make_unique<OrderLaw>(order, priors_.groups());
  } else {
    MakeImages();
  }
}

bool PrivacyLoss::Ordered() const {
  return statistic_ == ReleaseStatistic::kMinimum || statistic_ == ReleaseStatistic::kMaximum ||
         statistic_ == ReleaseStatistic::kMedian;
}

bool PrivacyLoss::MiddlePair() const { return statistic_ == ReleaseStatistic::kMedian && priors_.records() % 2 == 0; }

void PrivacyLoss::MakeImages() {
  const std::vector<Int128>& values = priors_.values();
  if (statistic_ == ReleaseStatistic::kCount) {
    offset_ = 0;
    for (const Int128 value : values) image_of_.push_back(value != 0 ? 1 : 0);
    images_ = {0, 1};
  } else {
    offset_ = values.front();
    grid_ = 0;
    for (const Int128 value : values) grid_ = CommonDivisor(grid_, value - offset_);
    if (grid_ == 0) grid_ = 1;
    for (std::size_t v = 0; v < values.size(); ++v) {
      image_of_.push_back(v);
      images_.push_back(Narrow((values[v] - offset_) / grid_));
    }
  }
  std::vector<SumGroup> groups;
  for (const SumGroup& group : priors_.groups()) {
    std::vector<double> probability(images_.size());
    for (std::size_t v = 0; v < image_of_.size(); ++v) probability[image_of_[v]] += group.probability[v];
    groups.push_back({std::move(probability), group.records});
  }
  sums_ = std::make_unique<SumLaw>(images_, std::move(groups));
}

// The sum of the images that the release stands for, if any. With noise, which is a whole number of units, the sum need
// not lie between the least and the greatest.
std::optional<std::int64_t> PrivacyLoss::SumOf(const Decimal& released, bool noisy) const {
  const Int128 records = priors_.records();
  if (statistic_ == ReleaseStatistic::kCount) {
    const Decimal count = Shortest(released);
    if (count.decimals > 0) return {};
    return Narrow(count.digits);
  }
  const bool average = statistic_ == ReleaseStatistic::kAverage;
  // The sum in steps of the finer of both grids.
  const int decimals = std::max(priors_.decimals(), released.decimals);
  const Int128 finer = PowerOf10(decimals - priors_.decimals());
  const Int128 given = StepsOf("released", released, decimals);
  const Int128 base = Product(Product(records, offset_), finer);
  const Int128 sum = Sum(Product(given, average ? records : Int128{1}), -base);
  const Int128 grid = Product(grid_, finer);
  const Int128 nearest = FloorDivide(Sum(sum, grid / 2), grid);
  if (sum == Product(nearest, grid)) return Narrow(nearest);
  if (!average || noisy) return {};
  // An average may be rounded to the decimals it is written with.
  const Int128 unit = PowerOf10(decimals - released.decimals);
  const auto rounds_to = [&](Int128 image) {
    const Int128 exact = Sum(base, Product(image, grid));
    return RoundDivide(exact, Product(records, unit)) == released.digits;
  };
  const bool fits = rounds_to(nearest);
  if (rounds_to(nearest - 1) || rounds_to(nearest + 1))
    throw InvalidValue("the average " + DecimalText(released.digits, released.decimals) + " stands for several sums",
                       "Give it with more decimals, or release the sum.");
  if (!fits) return {};
  return Narrow(nearest);
}

bool PrivacyLoss::GivenSum(std::int64_t sum, const SumNoise& noise, const WorkControl& control, Posteriors* posteriors,
                           double* log_probability) const {
  const SumPosterior given = sums_->Given(sum, noise, control);
  if (!given.possible) return false;
  *log_probability = given.log_probability;
  posteriors->clear();
  for (std::size_t g = 0; g < priors_.groups().size(); ++g) {
    const std::vector<double>& prior = priors_.groups()[g].probability;
    std::vector<double> share(images_.size());
    for (std::size_t v = 0; v < prior.size(); ++v) share[image_of_[v]] += prior[v];
    std::vector<double> row(prior.size());
    for (std::size_t v = 0; v < prior.size(); ++v) {
      const std::size_t u = image_of_[v];
      if (prior[v] > 0) row[v] = given.probability[g][u] * (prior[v] / share[u]);
    }
    posteriors->push_back(std::move(row));
  }
  return true;
}

// What the release may be, weighed by the noise that makes it so.
std::vector<PrivacyLoss::Outcome> PrivacyLoss::OutcomesOf(const Decimal& released, std::optional<double> rate) const {
  const std::vector<Int128>& values = priors_.values();
  const int decimals = std::max(priors_.decimals(), released.decimals);
  const Int128 finer = PowerOf10(decimals - priors_.decimals());
  const Int128 twice = Product(2, StepsOf("released", released, decimals));
  const Int128 unit = Product(2, PowerOf10(decimals));
  std::vector<Outcome> outcomes;
  const auto consider = [&](std::size_t a, std::size_t b) {
    const Int128 noise = Sum(twice, -Product(values[a] + values[b], finer));
    if (noise == 0)
      outcomes.push_back({a, b, 0});
    else if (rate && noise % unit == 0)
      outcomes.push_back({a, b, -*rate * std::abs(static_cast<double>(noise / unit))});
  };
  if (!MiddlePair()) {
    for (std::size_t v = 0; v < values.size(); ++v) consider(v, v);
    return outcomes;
  }
  if (rate && values.size() * values.size() > kMostPairs) throw TooWide();
  if (rate) {
    for (std::size_t a = 0; a < values.size(); ++a)
      for (std::size_t b = a; b < values.size(); ++b) consider(a, b);
    return outcomes;
  }
  std::size_t b = values.size();
  for (std::size_t a = 0; a < b; ++a) {
    while (b > a && Product(values[a] + values[b - 1], finer) > twice) --b;
    if (b > a) consider(a, b - 1);
  }
  return outcomes;
}

bool PrivacyLoss::GivenOutcomes(const std::vector<Outcome>& outcomes, const WorkControl& control,
                                Posteriors* posteriors, double* log_probability) const {
  const std::vector<SumGroup>& groups = priors_.groups();
  const std::size_t values = priors_.values().size();
  struct Weighed {
    Outcome outcome;
    std::vector<OrderWeights> weights;
  };
  std::vector<Weighed> all;
  for (const Outcome& outcome : outcomes) {
    PauseIfInterrupted(control);
    std::vector<OrderWeights> weights = orders_->WeightsOf(outcome.first, outcome.last, control);
    if (!weights.empty()) all.push_back({outcome, std::move(weights)});
  }
  posteriors->clear();
  if (all.empty()) return false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    double greatest = -HUGE_VAL;
    for (const Weighed& one : all) greatest = std::max(greatest, one.weights[g].log_scale + one.outcome.log_weight);
    // Outcomes above a value count through their `below`, outcomes below it through their `above`.
    std::vector<double> row(values), below(values + 1), above(values + 1);
    for (const Weighed& one : all) {
      const OrderWeights& w = one.weights[g];
      const auto [first, last, log_weight] = one.outcome;
      const double scale = std::exp(w.log_scale + log_weight - greatest);
      below[first] += scale * w.below;
      above[last + 1] += scale * w.above;
      row[first] += scale * w.at_first;
      if (last != first) row[last] += scale * w.at_last;
    }
    double sum = 0;
    for (std::size_t v = 0; v < values; ++v) row[v] += sum += above[v];
    sum = 0;
    for (std::size_t v = values; v-- > 0;) {
      row[v] += sum;
      sum += below[v];
    }
    double total = 0;
    for (std::size_t v = 0; v < values; ++v) total += row[v] *= groups[g].probability[v];
    if (total <= 0) return false;
    for (double& p : row) p /= total;
    if (g == 0) *log_probability = greatest + std::log(total);
    posteriors->push_back(std::move(row));
  }
  return true;
}

// Noise in steps of the grid of sums, which is made finer where it does not hold a unit of the statistic.
SumNoise PrivacyLoss::NoiseOf(std::optional<double> rate) {
  if (!rate) return {};
  Int128 unit = statistic_ == ReleaseStatistic::kCount ? 1 : PowerOf10(priors_.decimals());
  if (statistic_ == ReleaseStatistic::kAverage) unit = Product(unit, priors_.records());
  const Int128 common = CommonDivisor(grid_, unit);
  if (common != grid_) {
    const Int128 times = grid_ / common;
    for (std::int64_t& image : images_) image = Narrow(Product(image, times));
    grid_ = common;
    sums_ = std::make_unique<SumLaw>(images_, priors_.groups());
  }
  return {*rate, Narrow(unit / grid_)};
}

void PrivacyLoss::ReleaseSum(std::int64_t sum, const SumNoise& noise, const WorkControl& control) {
  Posteriors posteriors;
  double log_probability = 0;
  possible_ = GivenSum(sum, noise, control, &posteriors, &log_probability);
  if (possible_) SetLosses(posteriors);
}

void PrivacyLoss::ReleaseOutcomes(const std::vector<Outcome>& outcomes, const WorkControl& control) {
  Posteriors posteriors;
  double log_probability = 0;
  possible_ = GivenOutcomes(outcomes, control, &posteriors, &log_probability);
  if (possible_) SetLosses(posteriors);
}

bool PrivacyLoss::Release(const Decimal& released, std::optional<double> noise_scale, const WorkControl& control) try {
  std::optional<double> rate;
  if (noise_scale) rate = RateOf(*noise_scale);
  if (Ordered()) {
    ReleaseOutcomes(OutcomesOf(released, rate), control);
    return true;
  }
  const SumNoise noise = NoiseOf(rate);
  const std::optional<std::int64_t> sum = SumOf(released, rate.has_value());
  possible_ = false;
  if (sum) ReleaseSum(*sum, noise, control);
  return true;
} catch (const Paused&) {
  return false;
}

bool PrivacyLoss::ReleaseOf(const std::vector<ValueCount>& database, std::optional<double> noise_scale,
                            const WorkControl& control) try {
  std::optional<double> rate;
  if (noise_scale) rate = RateOf(*noise_scale);
  const SumNoise noise = Ordered() ? SumNoise{} : NoiseOf(rate);
  const std::vector<Int128>& values = priors_.values();
  std::vector<std::int64_t> counts(values.size());
  Int128 sum = 0;
  for (const ValueCount& entry : database) {
    const Decimal shortest = Shortest(entry.value);
    const bool fits = shortest.decimals <= priors_.decimals();
    const Int128 steps = fits ? StepsOf("value", shortest, priors_.decimals()) : 0;
    const auto found = std::lower_bound(values.begin(), values.end(), steps);
    if (!fits || found == values.end() || *found != steps)
      throw InvalidValue("a record has a value that the prior excludes",
                         "The domain must hold all values of the column, each with a positive probability.");
    const auto v = static_cast<std::size_t>(found - values.begin());
    counts[v] += entry.count;
    if (!Ordered()) sum += Product(images_[image_of_[v]], entry.count);
  }
  if (!Ordered()) {
    ReleaseSum(Narrow(sum), noise, control);
    return true;
  }
  // Ranks of the statistic: of one record or of the two in the middle.
  const std::int64_t n = priors_.records();
  const auto rank_of = [&](std::int64_t record) {
    std::size_t v = 0;
    for (std::int64_t before = counts[0]; before <= record; before += counts[v]) ++v;
    return v;
  };
  const bool median = statistic_ == ReleaseStatistic::kMedian;
  const std::size_t first = rank_of(median ? (n - 1) / 2 : statistic_ == ReleaseStatistic::kMinimum ? 0 : n - 1);
  const std::size_t last = median ? rank_of(n / 2) : first;
  const Decimal statistic = {Product(5, values[first] + values[last]), priors_.decimals() + 1};
  ReleaseOutcomes(OutcomesOf(statistic, rate), control);
  return true;
} catch (const Paused&) {
  return false;
}

void PrivacyLoss::SetLosses(const Posteriors& posteriors) {
  losses_.clear();
  for (std::size_t g = 0; g < posteriors.size(); ++g) {
    RecordLoss loss;
    loss.entropy_before = entropies_[g];
    loss.entropy_after = EntropyOf(posteriors[g]);
    loss.loss = loss.entropy_before - loss.entropy_after;
    loss.percent = loss.entropy_before > 0 ? 100 * loss.loss / loss.entropy_before : 0;
    losses_.push_back(loss);
  }
}

std::int64_t PrivacyLoss::GreatestLoser() const {
  std::int64_t greatest = 0;
  if (losses_.size() > 1)
    for (std::int64_t record = 1; record < priors_.records(); ++record)
      if (LossOf(record).loss > LossOf(greatest).loss) greatest = record;
  return greatest;
}

double PrivacyLoss::GreatestLoss(const Posteriors& posteriors) const {
  double greatest = -HUGE_VAL;
  for (std::size_t g = 0; g < posteriors.size(); ++g)
    greatest = std::max(greatest, entropies_[g] - EntropyOf(posteriors[g]));
  return greatest;
}

// All releases that Expect has to see: sums up to a probability of 1e-17, all outcomes of order statistics.
void PrivacyLoss::ListReleases() {
  if (!Ordered()) {
    next_sum_ = std::max(sums_->least(), static_cast<std::int64_t>(std::floor(sums_->mean() - sums_->reach())));
    last_sum_ = std::min(sums_->greatest(), static_cast<std::int64_t>(std::ceil(sums_->mean() + sums_->reach())));
    if (last_sum_ - next_sum_ >= kMostReleases) throw TooWide();
    return;
  }
  const std::vector<Int128>& values = priors_.values();
  if (!MiddlePair()) {
    for (std::size_t v = 0; v < values.size(); ++v) outcomes_.push_back({{v, v, 0}});
    return;
  }
  if (values.size() * values.size() > kMostPairs) throw TooWide();
  std::vector<Outcome> pairs;
  for (std::size_t a = 0; a < values.size(); ++a)
    for (std::size_t b = a; b < values.size(); ++b) pairs.push_back({a, b, 0});
  const auto sum = [&](const Outcome& pair) { return values[pair.first] + values[pair.last]; };
  std::sort(pairs.begin(), pairs.end(), [&](const Outcome& a, const Outcome& b) { return sum(a) < sum(b); });
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i == 0 || sum(pairs[i]) != sum(pairs[i - 1])) outcomes_.emplace_back();
    outcomes_.back().push_back(pairs[i]);
  }
}

bool PrivacyLoss::Expect(const WorkControl& control) try {
  if (!listed_) ListReleases();
  listed_ = true;
  Posteriors posteriors;
  double log_probability = 0;
  for (; next_sum_ <= last_sum_; ++next_sum_) {
    PauseIfInterrupted(control);
    if (GivenSum(next_sum_, {}, control, &posteriors, &log_probability))
      seen_.emplace_back(log_probability, GreatestLoss(posteriors));
  }
  for (; next_outcome_ < outcomes_.size(); ++next_outcome_)
    if (GivenOutcomes(outcomes_[next_outcome_], control, &posteriors, &log_probability))
      seen_.emplace_back(log_probability, GreatestLoss(posteriors));
  double most = -HUGE_VAL;
  for (const auto& [log_weight, loss] : seen_) most = std::max(most, log_weight);
  long double total = 0;
  long double sum = 0;
  for (const auto& [log_weight, loss] : seen_) {
    total += std::exp(log_weight - most);
    sum += std::exp(log_weight - most) * loss;
  }
  expected_ = static_cast<double>(sum / total);
  return true;
} catch (const Paused&) {
  return false;
}

}  // namespace privacy_score
