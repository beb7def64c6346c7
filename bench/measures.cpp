/*
 * measures.cpp - measures the posterior under a released sum and the whole equivocation curve, each against the plain
 * way in the same run. Processor time of one thread; the table it prints is Markdown.
 *
 * The plain ways: convolution of all other records, and the published recurrence at every difference of values: of 100
 * values run as a whole, else at differences drawn at random, from which the whole is estimated.
 */
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>

#include "../test/support/equivocation_recurrence.hpp"
#include "core/loss/equivocation.hpp"
#include "core/loss/sum_law.hpp"

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

// The whole of the published algorithm: the recurrence at every difference of values. False when it finds another area
// than the curve has.
bool RunRecurrence(const ValueLaw& law, const EquivocationCurve& curve) {
  const std::vector<std::int64_t>& x = law.steps();
  std::vector<std::int64_t> differences = {0};
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) differences.push_back(x[i] - x[j]);
  std::sort(differences.begin(), differences.end());
  double area = 0;
  for (std::size_t i = 0; i + 1 < differences.size(); ++i)
    area += EquivocationByRecurrence(law, differences[i]) * static_cast<double>(differences[i + 1] - differences[i]);
  return std::abs(area / curve.Area(law.decimals()) - 1) < 1e-9;
}

// The recurrence at some differences of values, drawn at random. False when it finds another entropy.
bool TryRecurrence(const ValueLaw& law, const EquivocationCurve& curve, std::size_t tries, std::mt19937_64* random) {
  const std::vector<std::int64_t>& x = law.steps();
  bool agrees = true;
  for (std::size_t i = 0; i < tries; ++i) {
    const std::int64_t epsilon = std::abs(x[(*random)() % x.size()] - x[(*random)() % x.size()]);
    agrees = agrees && std::abs(EquivocationByRecurrence(law, epsilon) - curve.EntropyAt(epsilon)) < 1e-9;
  }
  return agrees;
}

void Curves(bool large) {
  std::mt19937_64 random(2);
  std::printf(
      "| equivocation curve and area | steps | ms | recurrence, s | of so many differences run | ratio |\n"
      "|---|---|---|---|---|---|\n");
  for (const std::size_t n : {100, 1000, 2000, 10'000}) {
    if (n == 10'000 && !large) continue;
    std::vector<Decimal> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back({static_cast<std::int64_t>(random() % 1'000'000'000'000), 0});
    const std::vector<double> p = DrawLaw(&random, n);
    const ValueLaw law(values, &p);
    std::clock_t begin = std::clock();
    EquivocationCurve curve(law);
    curve.Run({});
    curve.Area(law.decimals());
    const double fast = Milliseconds(begin);
    const std::size_t differences = n * (n - 1) / 2;
    const std::size_t tries = n <= 100 ? differences : n <= 1000 ? 400 : n <= 2000 ? 100 : 20;
    begin = std::clock();
    const bool agrees = tries == differences ? RunRecurrence(law, curve) : TryRecurrence(law, curve, tries, &random);
    const double plain = Milliseconds(begin) / static_cast<double>(tries) * static_cast<double>(differences);
    if (!agrees) std::printf("the curve of %zu values is wrong\n", n);
    std::printf("| %zu real values | %zu | %.1f | %.3g | %zu of %zu | %.0f |\n", n, curve.steps().size(), fast,
                plain / 1e3, tries, differences, plain / fast);
  }
}

}  // namespace

// With an argument also the curve of 10,000 values, which takes a minute or two.
int main(int argc, char**) {
  Sums();
  Curves(argc > 1);
}
