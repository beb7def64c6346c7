/*
 * neighbour_fixture.hpp - is a mechanism (epsilon, delta)-differentially private on two given neighbours?
 *
 * Each of the neighbours answers `draws` times, and an answer becomes one number (a score). From these answers the
 * event is chosen, score >= k or score <= k, that speaks most against the mechanism; then as many new answers are
 * asked, and the event's probabilities p, p' are bounded by Chernoff's inequality, P(KL(p^ || p) >= x) <= exp(-N x) on
 * either side. An alarm is lower(p) > e^epsilon upper(p') + delta, or the same with the neighbours exchanged. Each of
 * the four bounds fails with a probability of 10^-7/4 at most, so a private mechanism raises an alarm with at most
 * 10^-7.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/base/random_source.hpp"
#include "sanitizers.hpp"

namespace privacy_score::testing_support {

// The score of one answer.
using Answer = std::function<double(privacy_score::RandomSource&)>;

class NeighbourTest {
 public:
  // In the long form (PS_LONG) there are 100,000 draws at least.
  NeighbourTest(double epsilon, double delta, int draws)
      : factor_(std::exp(epsilon)), delta_(delta), draws_(HasManyDraws() ? std::max(draws, kManyDraws) : draws) {}

  static constexpr int kManyDraws = 100000;
  static bool HasManyDraws() { return !kSanitized && std::getenv("PS_LONG") != nullptr; }

  // Whether the answers of the neighbours cannot come from a mechanism that is private as declared.
  bool IsBroken(const Answer& first, const Answer& second, privacy_score::RandomSource& random) const {
    const std::vector<double> scores[2] = {Scores(first, random), Scores(second, random)};
    Event event = {0, false, false};
    double worst = -1;
    for (const bool exchanged : {false, true})
      for (const bool above : {false, true})
        Choose(scores[exchanged], scores[!exchanged], above, exchanged, worst, event);
    const std::vector<double> anew[2] = {Scores(first, random), Scores(second, random)};
    return Excess(CountOf(anew[event.exchanged], event), CountOf(anew[!event.exchanged], event)) > 0;
  }

 private:
  struct Event {
    double from;
    bool above;      // score >= from, else score <= from
    bool exchanged;  // the second neighbour has it more often
  };

  std::vector<double> Scores(const Answer& answer, privacy_score::RandomSource& random) const {
    std::vector<double> scores(static_cast<std::size_t>(draws_));
    for (double& score : scores) score = answer(random);
    std::sort(scores.begin(), scores.end());
    return scores;
  }

  static std::int64_t CountOf(const std::vector<double>& sorted, const Event& event) {
    return event.above ? sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), event.from)
                       : std::upper_bound(sorted.begin(), sorted.end(), event.from) - sorted.begin();
  }

  // Tries about a thousand events, those of few answers too.
  void Choose(const std::vector<double>& often, const std::vector<double>& seldom, bool above, bool exchanged,
              double& worst, Event& event) const {
    const std::size_t step = std::max<std::size_t>(1, often.size() / 1000);
    for (std::size_t i = 0; i < often.size(); i += step) {
      const Event tried = {above ? often[often.size() - 1 - i] : often[i], above, exchanged};
      const double excess = Excess(CountOf(often, tried), CountOf(seldom, tried));
      if (excess <= worst) continue;
      worst = excess;
      event = tried;
    }
  }

  double Excess(std::int64_t often, std::int64_t seldom) const {
    return Bound(often, false) - factor_ * Bound(seldom, true) - delta_;
  }

  // The least, or greatest, probability that is not refuted by so many of the draws.
  double Bound(std::int64_t count, bool upper) const {
    const double share = static_cast<double>(count) / draws_;
    const double limit = std::log(4e7) / draws_;
    double held = share;
    double refuted = upper ? 1 : 0;
    for (int i = 0; i < 60; ++i) {
      const double middle = (held + refuted) / 2;
      (Divergence(share, middle) <= limit ? held : refuted) = middle;
    }
    return held;
  }

  static double Divergence(double share, double probability) {
    const auto part = [](double p, double q) { return p <= 0 ? 0.0 : q <= 0 ? HUGE_VAL : p * std::log(p / q); };
    return part(share, probability) + part(1 - share, 1 - probability);
  }

  double factor_;
  double delta_;
  int draws_;
};

}  // namespace privacy_score::testing_support
