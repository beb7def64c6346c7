/*
 * bucket_setting.cpp - losses of settings; one size and the best two sizes in closed form (see bucket_setting.hpp).
 *
 * For sizes S1 < S2 with greatest common divisor g, and rows divisible by g, the pairs (b1, b2) that use up the rows
 * are (B1 - k s2, B2 + k s1) for k = 0..floor(B1 / s2) with s = S/g; the loss rises with k. Each condition of [Wang,
 * theorem 4.17] holds on a run of k that one division finds:
 * - privacy, min(o, c1 b1) + min(o, c2 b2) >= o, is c1 b1 + c2 b2 >= o, because either minimum that is o does, and no
 *   term is negative: linear in k. Of a class only the greatest count matters.
 * - fill, sum of min(o_i, c_i b) >= S b, holds for b up to a bound that depends on the size alone, because the left
 * side less the right one is concave in b and 0 at 0.
 */
#include "core/buckets/bucket_setting.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/base/whole_division.hpp"

namespace privacy_score {

namespace {

// The greatest number of buckets of a size that the values can fill: the last b <= rows/size with
// sum of min(o_i, c_i b) >= size b. From above along tangents, which lie above the concave difference.
std::int64_t FillLimit(const BucketProblem& problem, std::size_t place) {
  const std::int64_t size = problem.sizes()[place];
  std::int64_t buckets = problem.rows() / size;
  for (;;) {
    problem.Work(4 * problem.groups().size());
    std::int64_t whole = 0;  // records of values that go in completely
    std::int64_t slope = 0;  // records of the others for each bucket
    for (const ValueGroup& group : problem.groups()) {
      const std::int64_t capacity = problem.Capacities(group.capacity_class)[place];
      const auto members = static_cast<std::int64_t>(group.members.size());
      if (group.count <= capacity * buckets) {
        whole += members * group.count;
      } else {
        slope = std::min(slope + members * capacity, size);  // more than the size changes nothing
      }
    }
    if (slope >= size || whole + slope * buckets >= size * buckets) return buckets;
    buckets = whole / (size - slope);
  }
}

// What the search of two sizes knows of the problem before it looks at a pair.
struct PairSearch {
  const BucketProblem& problem;
  std::vector<std::int64_t> fill_limits;        // by place
  std::vector<const std::int32_t*> capacities;  // by class that occurs
  std::vector<std::int64_t> greatest_counts;    // by class that occurs
  std::int64_t best_loss = std::numeric_limits<std::int64_t>::max();
  BucketSetting best;

  explicit PairSearch(const BucketProblem& of) : problem(of) {
    for (std::size_t place = 0; place < of.sizes().size(); ++place) fill_limits.push_back(FillLimit(of, place));
    for (std::size_t c = 0; c < of.classes(); ++c) {
      if (of.ClassBegin(c) == of.ClassBegin(c + 1)) continue;
      capacities.push_back(of.Capacities(c));
      greatest_counts.push_back(of.groups()[of.ClassBegin(c + 1) - 1].count);
    }
  }

  void Try(std::size_t place1, std::size_t place2);
};

void PairSearch::Try(std::size_t place1, std::size_t place2) {
  const std::int64_t rows = problem.rows();
  const std::int64_t size1 = problem.sizes()[place1];
  const std::int64_t size2 = problem.sizes()[place2];
  problem.Work(16);
  const std::int64_t divisor = std::gcd(size1, size2);
  if (rows % divisor != 0) return;
  const std::int64_t step2 = size1 / divisor;  // of b2; b1 goes down by step1
  const std::int64_t step1 = size2 / divisor;
  const std::int64_t b2 = rows / divisor % step2 * InverseModulo(step1, step2) % step2;
  if (b2 * size2 > rows) return;
  const std::int64_t b1 = (rows - b2 * size2) / size1;

  const std::int64_t loss1 = BucketLoss(problem.sizes()[place1]);
  const std::int64_t loss2 = BucketLoss(problem.sizes()[place2]);
  const std::int64_t loss = b1 * loss1 + b2 * loss2;
  if (loss >= best_loss) return;
  const std::int64_t loss_step = step2 * loss2 - step1 * loss1;
  std::int64_t low = 0;
  std::int64_t high = std::min(b1 / step1, (best_loss - 1 - loss) / loss_step);
  if (b1 > fill_limits[place1]) low = CeilDivide(b1 - fill_limits[place1], step1);
  high = std::min(high, FloorDivide(fill_limits[place2] - b2, step2));
  problem.Work(4 * capacities.size());
  for (std::size_t c = 0; c < capacities.size() && low <= high; ++c) {
    const std::int64_t capacity1 = capacities[c][place1];
    const std::int64_t capacity2 = capacities[c][place2];
    const std::int64_t missing = greatest_counts[c] - (capacity1 * b1 + capacity2 * b2);
    const std::int64_t gain = capacity2 * step2 - capacity1 * step1;  // for each step
    if (gain > 0) {
      if (gain * low < missing) low = CeilDivide(missing, gain);
    } else if (gain * high < missing) {
      if (gain == 0) return;
      high = FloorDivide(-missing, -gain);
    }
  }
  if (low > high) return;
  best_loss = loss + low * loss_step;
  best.clear();
  if (b1 > low * step1) best.push_back({problem.sizes()[place1], b1 - low * step1});
  if (b2 + low * step2 > 0) best.push_back({problem.sizes()[place2], b2 + low * step2});
}

}  // namespace

BucketSetting MakeSetting(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& buckets) {
  if (sizes.size() != buckets.size())
    throw InvalidValue("sizes and buckets must have the same length, not " + std::to_string(sizes.size()) + " and " +
                           std::to_string(buckets.size()),
                       "Each size has its number of buckets.");
  std::map<int, std::int64_t> numbers;
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    if (sizes[k] < 1 || sizes[k] > std::numeric_limits<int>::max())
      throw InvalidValue("a bucket size must be at least 1, not " + std::to_string(sizes[k]),
                         "It is the number of records of a bucket.");
    if (buckets[k] < 0)
      throw InvalidValue("a number of buckets must not be negative, as " + std::to_string(buckets[k]) + " is",
                         "Leave sizes without buckets out, or give them 0.");
    std::int64_t& number = numbers[static_cast<int>(sizes[k])];
    if (__builtin_add_overflow(number, buckets[k], &number))
      throw Error("22003", "there are too many buckets of size " + std::to_string(sizes[k]),
                  "Publish fewer records at a time.");
  }
  BucketSetting setting;
  for (const auto& [size, number] : numbers)
    if (number > 0) setting.push_back({size, number});
  return setting;
}

Integer Loss(const BucketSetting& setting) {
  Integer loss = 0;
  for (const SizeBuckets& part : setting) loss += Integer(BucketLoss(part.size)) * part.buckets;
  return loss;
}

Integer Records(const BucketSetting& setting) {
  Integer records = 0;
  for (const SizeBuckets& part : setting) records += Integer(part.size) * part.buckets;
  return records;
}

Rational MeanSquaredError(const BucketSetting& setting) {
  const Integer records = Records(setting);
  return records <= 1 ? Rational() : Rational(Loss(setting), records - 1);
}

std::int64_t SearchLoss(const BucketSetting& setting) {
  std::int64_t loss = 0;
  for (const SizeBuckets& part : setting) loss += BucketLoss(part.size) * part.buckets;
  return loss;
}

bool OneSizeValid(const BucketProblem& problem, std::size_t place, std::int64_t buckets) {
  if (static_cast<__int128>(buckets) * problem.sizes()[place] != problem.rows()) return false;
  for (const ValueGroup& group : problem.groups()) {
    if (static_cast<__int128>(problem.Capacities(group.capacity_class)[place]) * buckets < group.count) return false;
  }
  return true;
}

std::optional<BucketSetting> BestTwoSizes(const BucketProblem& problem) {
  if (problem.rows() == 0) return BucketSetting{};
  const std::vector<int>& sizes = problem.sizes();
  if (sizes.size() == 1) {  // has no pairs
    const std::int64_t buckets = problem.rows() / sizes[0];
    if (!OneSizeValid(problem, 0, buckets)) return std::nullopt;
    return BucketSetting{{sizes[0], buckets}};
  }
  PairSearch search(problem);
  for (std::size_t place1 = 0; place1 < sizes.size(); ++place1)
    for (std::size_t place2 = place1 + 1; place2 < sizes.size(); ++place2) search.Try(place1, place2);
  if (search.best.empty()) return std::nullopt;
  return search.best;
}

}  // namespace privacy_score
