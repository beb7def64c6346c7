/*
 * thresholds_fuzz.cpp - thresholds as they are written, and bucket settings that satisfy them.
 *
 * A text of lines: theta, floor, l, least and greatest size, then a count and a threshold for each value.
 */
#include <algorithm>
#include <optional>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/buckets/bucket_flow.hpp"
#include "core/buckets/bucket_plan.hpp"
#include "core/buckets/bucket_thresholds.hpp"
#include "core/buckets/optimal_buckets.hpp"
#include "targets.hpp"

namespace privacy_score::fuzz {

namespace {

using Counts = std::vector<std::int64_t>;
using Thresholds = std::vector<Rational>;

constexpr std::size_t kMostValues = 12;
constexpr int kGreatestSize = 24;
constexpr std::int64_t kMostRowsOfSearch = 2000;

void RequireRefusal(const Error& error) {
  Require(error.sqlstate() == "22023" || error.sqlstate() == "22003", "a bad number is refused as one");
}

void CheckRational(const Rational& value) {
  const std::string text = TextOf(value);
  if (text.size() <= 1000) Require(ParseRational("text", text) == value, "a rational reads as it is written");
  for (const int decimals : {0, 3, 20}) {
    const Rational step(1, PowerOfTen(decimals));
    const std::string down = DecimalTextOf(value, decimals, false);
    const std::string up = DecimalTextOf(value, decimals, true);
    if (down.size() > 1000 || up.size() > 1000) continue;
    const Rational below = ParseRational("down", down);
    const Rational above = ParseRational("up", up);
    Require(below <= value && value <= above, "decimals are rounded as asked");
    Require(value - below < step && above - value < step, "by less than their last place");
  }
  const Rational floor(Floor(value), 1);
  Require(floor <= value && value < floor + 1, "the floor is the next integer below");
  const double nearest = ToDouble(value);
  Require((nearest < 0) == (value < 0 && nearest != 0), "a double has the sign");
  if (nearest > -1e300 && nearest < 1e300 && (nearest > 1e-300 || nearest < -1e-300)) {
    const Rational exact = RationalOf("double", nearest);
    const Rational error = exact < value ? value - exact : exact - value;
    const Rational magnitude = value < 0 ? Rational(0) - value : value;
    Require(error <= magnitude * Rational(1, PowerOfTwo(51)), "a double is near");
  }
}

std::optional<Rational> Read(std::string_view text) {
  try {
    const Rational value = ParseRational("number", text);
    CheckRational(value);
    return value;
  } catch (const Error& error) {
    Require(error.sqlstate() == "22023", "a bad number is refused as one");
    return std::nullopt;
  }
}

// A whole number, and 0 for what is none.
std::int64_t Whole(std::string_view text) {
  try {
    return ParseInteger(text);
  } catch (const Error& error) {
    Require(error.sqlstate() == "XX001", "internal data that cannot be read");
    return 0;
  }
}

bool IsThreshold(const Rational& value) {
  try {
    CheckThreshold("threshold", value);
    Require(value > 0 && value <= 1, "a threshold that passes is in range");
    return true;
  } catch (const Error& error) {
    Require(error.sqlstate() == "22023" && (value <= 0 || value > 1), "only thresholds out of range are refused");
    return false;
  }
}

void CheckFrequencies(const Counts& counts, const Rational& theta, const Rational& floor) {
  try {
    const Thresholds thresholds = FrequencyThresholds(counts, theta, floor);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      Require(IsThreshold(thresholds[i]), "thresholds by frequency are in range");
      for (std::size_t k = 0; k < i; ++k)
        Require(counts[k] > counts[i] || thresholds[k] <= thresholds[i], "they grow with the frequency");
    }
  } catch (const Error& error) {
    RequireRefusal(error);
  }
}

void CheckDiversity(std::int64_t l) {
  try {
    Require(IsThreshold(DiversityThreshold(l)), "1/l is a threshold");
  } catch (const Error& error) {
    Require(error.sqlstate() == "22023" && l < 1, "only l below 1 is refused");
  }
}

void CheckSmallest(const Thresholds& thresholds) {
  try {
    const int size = SmallestBucket(thresholds);
    const Rational greatest = *std::max_element(thresholds.begin(), thresholds.end());
    Require(Rational(1, size) <= greatest, "the smallest bucket holds a value");
    Require(size == 1 || Rational(1, size - 1) > greatest, "and is the smallest");
  } catch (const Error& error) {
    RequireRefusal(error);
  }
}

void CheckBroken(const Counts& counts, Thresholds thresholds, int least, int greatest) {
  const std::vector<BrokenThreshold> broken = BrokenThresholds(counts, thresholds, least, greatest);
  for (const BrokenThreshold& each : broken) {
    Require(each.threshold < each.least_threshold && each.share <= each.least_threshold, "what is broken is too low");
    Require(each.threshold == thresholds[each.value], "and is what was asked");
    thresholds[each.value] = each.least_threshold;
  }
  Require(BrokenThresholds(counts, thresholds, least, greatest).empty(), "the least thresholds would do");
}

void CheckPlan(const BucketProblem& problem, const BucketPlan& plan) {
  Require(Records(plan.setting) == problem.rows(), "a plan holds all records");
  Require(Loss(plan.setting) == plan.loss, "a plan's loss is its setting's");
  Require(!plan.bound || *plan.bound <= plan.loss, "no plan is better than its bound");
  for (std::size_t value = 0; value < problem.values(); ++value) {
    std::int64_t records = 0;
    for (std::size_t i = 0; i < plan.setting.size(); ++i) {
      const std::size_t place = problem.PlaceOf(plan.setting[i].size);
      Require(place < problem.sizes().size(), "a plan has sizes of the problem");
      Require(plan.Records(value, i) >= 0, "no records are owed");
      Require(plan.Records(value, i) <= problem.Capacity(value, place) * plan.setting[i].buckets,
              "no bucket holds more of a value than its threshold allows");
      records += plan.Records(value, i);
    }
    Require(records == problem.count(value), "each record has its place");
  }
  Require(PlanOf(problem, plan.setting).has_value(), "the exact flow agrees");
  const Rational error = MeanSquaredError(plan.setting);
  Require(error >= 0, "a squared error is not negative");
}

void CheckSettings(const Counts& counts, const Thresholds& thresholds, int least, int greatest, int patience) {
  const BucketProblem problem = BucketProblem::WithSizes(counts, thresholds, least, greatest);
  const std::optional<BucketPlan> two = TwoSizePlan(problem);
  const std::optional<BucketPlan> many = MultiSizePlan(problem);
  Require(two.has_value() == BestTwoSizes(problem).has_value(), "a setting of two sizes is a plan");
  if (two) CheckPlan(problem, *two);
  if (many) CheckPlan(problem, *many);
  Require(!two || (many && many->loss <= two->loss), "splitting further loses nothing");
  if (problem.rows() > kMostRowsOfSearch) return;
  OptimalBuckets search(problem);
  SearchControl control;
  control.expired = [&patience] { return --patience < 0; };
  const SearchOutcome outcome = search.Run(control);
  Require(outcome != SearchOutcome::kRunning, "nobody interrupts the search");
  Require((outcome == SearchOutcome::kFound) == search.plan().has_value(), "what is found is there");
  Require(!two || outcome == SearchOutcome::kFound, "what two sizes do is found");
  if (!search.plan()) return;
  CheckPlan(problem, *search.plan());
  Require(!many || search.plan()->loss <= many->loss, "the search is never worse");
  if (search.plan()->bound && many) Require(*search.plan()->bound <= many->loss, "a bound is below all plans");
}

}  // namespace

void FuzzThresholds(std::string_view input) {
  const std::vector<std::string_view> lines = Split(input, '\n');
  std::vector<std::string_view> head = Split(lines[0], ' ');
  head.resize(5);
  const std::optional<Rational> theta = Read(head[0]);
  const std::optional<Rational> floor = Read(head[1]);
  CheckDiversity(Whole(head[2]));
  const int least = static_cast<int>(std::clamp<std::int64_t>(Whole(head[3]), 0, kGreatestSize));
  const int greatest = static_cast<int>(std::clamp<std::int64_t>(Whole(head[4]), std::max(least, 1), kGreatestSize));

  Counts counts;
  Thresholds thresholds;
  for (std::size_t i = 1; i < lines.size() && counts.size() < kMostValues; ++i) {
    const std::size_t blank = std::min(lines[i].find(' '), lines[i].size());
    const std::optional<Rational> threshold = Read(lines[i].substr(blank));
    if (!threshold) continue;
    if (!IsThreshold(*threshold)) continue;
    counts.push_back(Whole(lines[i].substr(0, blank)));
    thresholds.push_back(*threshold);
  }
  if (theta && floor) CheckFrequencies(counts, *theta, *floor);
  CheckSmallest(thresholds);
  try {
    TotalRows(counts);
  } catch (const Error& error) {
    return RequireRefusal(error);
  }
  if (!counts.empty()) CheckBroken(counts, thresholds, std::max(least, 1), greatest);
  try {
    CheckSettings(counts, thresholds, least, greatest, 3);
  } catch (const Error& error) {
    RequireRefusal(error);
  }
}

}  // namespace privacy_score::fuzz
