/*
 * measures.cpp - measures the posterior under a released sum and the whole equivocation curve, each against the plain
 * way in the same run. Processor time of one thread; the table it prints is Markdown.
 *
 * The plain ways: convolution of all other records, and the published recurrence at every difference of values, of
 * which a few are run and the rest estimated.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>

#include "core/equivocation.hpp"
#include "core/sum_law.hpp"

using namespace privacy_score;

namespace {

double Milliseconds(std::clock_t begin) { return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; }

std::vector<double> DrawLaw(std::mt19937_64* random, std::size_t width) {
  std::vector<double> law(width);
  double total = 0;
  for (double& p : law) total += p = static_cast<double>(1 + (*random)() % 100);
  for (double& p : law) p /= total;
  return law;
}

// One posterior of sums near the mean, the least of five times.
double TimePosterior(const std::vector<std::int64_t>& images, const std::vector<SumGroup>& groups) {
  const SumLaw law(images, groups);
  double least = 1e300;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t begin = std::clock();
    law.Given(static_cast<std::int64_t>(law.mean()) + round, {}, {});
    least = std::min(least, Milliseconds(begin));
  }
  return least;
}

double TimeConvolution(std::size_t range, const SumGroup& group) {
  const std::clock_t begin = std::clock();
  std::vector<double> law = {1};
  for (std::int64_t i = 1; i < group.records; ++i) {
    std::vector<double> next(law.size() + range - 1);
    for (std::size_t s = 0; s < law.size(); ++s)
      for (std::size_t u = 0; u < range; ++u) next[s + u] += law[s] * group.probability[u];
    law = std::move(next);
  }
  return Milliseconds(begin);
}

void Sums() {
  std::mt19937_64 random(1);
  std::printf("| posterior under a sum | ms | convolution, ms | ratio |\n|---|---|---|---|\n");
  std::vector<std::int64_t> twenty, hundred, decimals;
  for (std::int64_t u = 0; u < 100; ++u) hundred.push_back(u);
  twenty.assign(hundred.begin(), hundred.begin() + 20);
  while (decimals.size() < 100) {
    decimals.push_back(static_cast<std::int64_t>(random() % 100'001));
    std::sort(decimals.begin(), decimals.end());
    decimals.erase(std::unique(decimals.begin(), decimals.end()), decimals.end());
  }
  const SumGroup thousand = {DrawLaw(&random, 20), 1000};
  const double fast = TimePosterior(twenty, {thousand});
  const double plain = TimeConvolution(20, thousand);
  std::printf("| 1,000 records, 20 values | %.3f | %.0f | %.0f |\n", fast, plain, plain / fast);
  const SumGroup many = {DrawLaw(&random, 100), 10'000};
  std::printf("| 10,000 records, 100 values | %.3f | | |\n", TimePosterior(hundred, {many}));
  std::printf("| 10,000 records, 100 values of 0.00 to 1000.00 | %.0f | | |\n", TimePosterior(decimals, {many}));
  std::vector<SumGroup> groups;
  for (int i = 0; i < 10'000; ++i) groups.push_back({DrawLaw(&random, 100), 1});
  std::printf("| 10,000 records, 100 values, 10,000 priors | %.0f | | |\n\n", TimePosterior(hundred, groups));
}

// The recurrence at one epsilon.
double Recurrence(const ValueLaw& law, std::int64_t epsilon) {
  const std::vector<std::int64_t>& x = law.steps();
  std::vector<double> h(x.size() + 1);
  for (std::size_t i = 1; i <= x.size(); ++i) {
    double sum = 0;
    h[i] = 1e300;
    for (std::size_t j = i; j > 0 && x[i - 1] - x[j - 1] <= epsilon; --j) {
      sum += law.probabilities()[j - 1];
      h[i] = std::min(h[i], h[j - 1] - sum * std::log(sum));
    }
  }
  return h.back();
}

void Curves(bool large) {
  std::mt19937_64 random(2);
  std::printf(
      "| equivocation curve and area | steps | ms | recurrence, estimated s | ratio |\n|---|---|---|---|---|\n");
  for (const std::size_t n : {100, 1000, 2000, 10'000}) {
    if (n == 10'000 && !large) continue;
    std::vector<Decimal> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back({static_cast<std::int64_t>(random() % 1'000'000'000'000), 0});
    const std::vector<double> p = DrawLaw(&random, n);
    const ValueLaw law(values, &p);
    std::clock_t begin = std::clock();
    EquivocationCurve curve(law);
    curve.Run({});
    const double fast = Milliseconds(begin);
    begin = std::clock();
    constexpr int kTries = 20;
    double check = 0;
    for (int i = 0; i < kTries; ++i) {
      const auto range = static_cast<std::uint64_t>(law.steps().back());
      const auto epsilon = static_cast<std::int64_t>(random() % range);
      check = std::max(check, std::abs(Recurrence(law, epsilon) / M_LN2 - curve.EntropyAt(epsilon)));
    }
    const double plain = Milliseconds(begin) / kTries * static_cast<double>(n) * static_cast<double>(n - 1) / 2;
    if (check > 1e-9) std::printf("the curve is wrong by %g\n", check);
    std::printf("| %zu real values | %zu | %.1f | %.3g | %.0f |\n", n, curve.steps().size(), fast, plain / 1e3,
                plain / fast);
  }
}

}  // namespace

// With an argument also the curve of 10,000 values, which takes a minute or two.
int main(int argc, char**) {
  Sums();
  Curves(argc > 1);
}
