/*
 * noise.cpp - draws a second of exact discrete Laplace noise, against the textbook's sampler in doubles.
 *
 * Both take their bits from the same source, the system's, in the batches that the server uses. The textbook's sampler
 * is the inverse distribution function, floor(-ln(U)/epsilon) with a sign: fast, and not private. Rounds are interleaved;
 * the median counts. Prints a Markdown section. Without arguments epsilon is 0.1, 1, 0.001 and one of 30 digits.
 */
#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/noise/discrete_laplace.hpp"
#include "median.hpp"

namespace {

using bench::Median;
using privacy_score::DiscreteLaplace;
using privacy_score::RandomSource;
using privacy_score::Rational;

constexpr int kDraws = 1000000;
constexpr int kRounds = 9;

class SystemRandom : public RandomSource {
 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    const std::size_t bytes = count * sizeof *words;
    if (getrandom(words, bytes, 0) != static_cast<ssize_t>(bytes))
      throw privacy_score::Error("58000", "could not generate random values");
  }
};

std::int64_t Textbook(double epsilon, RandomSource& random) {
  const std::uint64_t word = random.Word();
  const double uniform = (static_cast<double>(word >> 11U) + 0.5) * 0x1p-53;
  const double magnitude = std::floor(-std::log(uniform) / epsilon);
  return static_cast<std::int64_t>((word & 1U) != 0 ? -magnitude : magnitude);
}

// Nanoseconds a draw. The sum of the draws goes to `sink`, so that no compiler leaves them out.
template <typename Draw>
double Time(Draw draw, std::int64_t& sink) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kDraws; ++i) sink += draw();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / kDraws;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> epsilons(argv + 1, argv + argc);
  if (epsilons.empty()) epsilons = {"0.1", "1", "0.001", "0.100000000000000000000000000001"};
  SystemRandom random;
  std::int64_t sink = 0;
  std::printf("Discrete Laplace noise, %d draws, median of %d interleaved rounds, one core; bits from getrandom().\n\n", kDraws,
              kRounds);
  std::printf("| epsilon | exact, ns a draw | exact, draws a second | doubles, ns a draw | rate of exact to doubles |\n");
  std::printf("|---|---|---|---|---|\n");
  for (const std::string& text : epsilons) {
    const Rational epsilon = privacy_score::ParseEpsilon(text);
    const DiscreteLaplace law(Rational(1) / epsilon);
    const double rounded = privacy_score::ToDouble(epsilon);
    std::vector<double> exact;
    std::vector<double> doubles;
    for (int round = 0; round < kRounds; ++round) {
      exact.push_back(Time([&] { return law.Draw(random); }, sink));
      doubles.push_back(Time([&] { return Textbook(rounded, random); }, sink));
    }
    const double a = Median(exact);
    const double b = Median(doubles);
    std::printf("| %s | %.1f | %.1f million | %.1f | %.2f |\n", text.c_str(), a, 1e3 / a, b, b / a);
  }
  return sink == 42 ? 1 : 0;
}
