/*
 * plain_calibration.hpp - a calibration by its definition, in the plainest way, for small worlds.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/detection/calibrator.hpp"
#include "core/detection/held_out_days.hpp"
#include "detection_fixture.hpp"

namespace privacy_score::testing_support {

constexpr std::size_t kOfNew = 8;  // figures, the first ones

// Sets of text, every profile built anew, every session compared with each
// abstraction.
class Plain {
 public:
  Plain(std::vector<BaselineSession> sessions, TokenMap tokens, double share)
      : sessions_(std::move(sessions)), tokens_(std::move(tokens)), share_(share) {
    for (const auto& session : sessions_) roles_.insert(session.role);
    for (std::size_t f = 0; f < kFigureCount; ++f) {
      for (std::size_t i = 0; i < sessions_.size(); ++i) {
        for (std::size_t r = 0; r < (f < kOfNew ? kRepetitions : 1); ++r) {
          const auto value = FiguresOf(i, r)[f];
          if (!value) continue;
          all_[f].push_back(*value);
          of_role_[{sessions_[i].role, f}].push_back(*value);
        }
      }
    }
  }

  using Figures = std::vector<std::optional<double>>;

  Figures FiguresOf(std::size_t which, std::size_t repetition) {
    const auto found = figures_.find({which, repetition});
    if (found != figures_.end()) return found->second;
    Figures figures(kFigureCount);
    for (std::size_t f = kOfNew; f < kFigureCount; ++f) figures[f] = sessions_[which].figures[kFigures[f]];
    Novelty(which, repetition, &figures);
    return figures_[{which, repetition}] = figures;
  }

  double Median(const std::string& role) const {
    std::vector<double> sizes;
    for (const auto& session : sessions_)
      if (session.role == role) sizes.push_back(static_cast<double>(AbstractionsOf(session).size()));
    std::sort(sizes.begin(), sizes.end());
    const std::size_t n = sizes.size();
    return std::max(1.0, (sizes[(n - 1) / 2] + sizes[n / 2]) / 2);
  }

  double Unusual(const std::string& role, std::size_t f, double x) const {
    const std::vector<double>& all = all_[f];
    if (all.empty()) return 0;
    const auto own = of_role_.find({role, f});
    const bool by_role = f >= kOfNew && own != of_role_.end() && own->second.size() >= 20;
    const std::vector<double>& seen = by_role ? own->second : all;
    const auto [q, rate, beta] = Beyond(role, f, by_role);
    if (x <= q) return -std::log10(Share(seen, [&](double value) { return value >= x; }));
    return -std::log10(rate) + (x - q) / beta / std::log(10);
  }

  double Combined(std::size_t which, std::size_t repetition) {
    double combined = 0;
    const Figures figures = FiguresOf(which, repetition);
    for (std::size_t f = 0; f < kFigureCount; ++f)
      if (figures[f]) combined = std::max(combined, Unusual(sessions_[which].role, f, *figures[f]));
    return std::min(combined, 8.0);
  }

  std::vector<std::size_t> CalibratedOn() {
    std::vector<std::size_t> any;
    std::vector<std::size_t> complete;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      const Figures figures = FiguresOf(i, 0);
      std::size_t known = 0;
      std::size_t wanted = 0;
      for (std::size_t f = 0; f < kFigureCount; ++f) {
        known += figures[f] ? 1U : 0U;
        wanted += all_[f].empty() ? 0U : 1U;
      }
      if (known > 0) any.push_back(i);
      if (known > 0 && known == wanted) complete.push_back(i);
    }
    return complete.size() >= 30 ? complete : any;
  }

  // What adds up to a new drip: the more unusual of new_runs and new_repeats.
  double NewNumber(std::size_t which, std::size_t repetition) {
    const Figures figures = FiguresOf(which, repetition);
    double number = 0;
    for (const std::size_t f : {std::size_t{6}, std::size_t{7}})
      if (figures[f]) number = std::max(number, Unusual(sessions_[which].role, f, *figures[f]));
    return std::min(number, 3.0);
  }

  double DripReached(double from) {
    return Reached(from, [&](std::size_t i, std::size_t r) { return Combined(i, r); });
  }
  // One day after the other is of another repetition.
  double NewDripReached(double from) {
    std::set<std::int32_t> days;
    for (const auto& session : sessions_) days.insert(session.day);
    return .8 * Reached(from, [&](std::size_t i, std::size_t r) {
             const auto day = std::distance(days.begin(), days.find(sessions_[i].day));
             return NewNumber(i, (r + static_cast<std::size_t>(day)) % kRepetitions);
           });
  }

  const std::set<std::string>& roles() const { return roles_; }

 private:
  static std::set<AbstractionId> AbstractionsOf(const BaselineSession& session) {
    return {session.abstractions.begin(), session.abstractions.end()};
  }
  template <typename Number>
  double Reached(double from, Number number_of) {
    double reached = 0;
    const auto calibrated_on = CalibratedOn();
    for (std::size_t r = 0; r < kRepetitions; ++r) {
      std::map<std::string, std::vector<std::pair<std::int64_t, double>>> principals;
      for (const std::size_t i : calibrated_on)
        principals[sessions_[i].principal].emplace_back(sessions_[i].begin, number_of(i, r));
      for (auto& [principal, numbers] : principals) {
        std::sort(numbers.begin(), numbers.end());
        double drip = 0;
        for (const auto& [begin, number] : numbers) {
          drip = std::max(0.0, drip + number - from);
          reached = std::max(reached, drip);
        }
      }
    }
    return reached;
  }
  static std::int64_t ExecutionsOf(const BaselineSession& session, AbstractionId id) {
    std::int64_t all = 0;
    for (std::size_t i = 0; i < session.abstractions.size(); ++i)
      if (session.abstractions[i] == id) all += session.executions.empty() ? 0 : session.executions[i];
    return std::max(all, std::int64_t{1});
  }
  template <typename Holds>
  static double Share(const std::vector<double>& values, Holds holds) {
    return static_cast<double>(std::count_if(values.begin(), values.end(), holds)) / static_cast<double>(values.size());
  }
  // The least of the values that at most a tenth of them are above.
  static double Percentile90(std::vector<double> values) {
    std::sort(values.begin(), values.end(), std::greater<>());
    return values[values.size() / 10];
  }
  static double Rate(const std::vector<double>& values, double q) {
    const double rate = Share(values, [&](double value) { return value > q; });
    return rate > 0 ? rate : 1 / (static_cast<double>(values.size()) + 1);
  }
  static double Excess(const std::vector<double>& values, double q) {
    double sum = 0;
    double count = 0;
    for (const double value : values) {
      if (value <= q) continue;
      sum += value - q;
      ++count;
    }
    return count > 0 ? sum / count : 1;
  }

  struct Excesses {
    double q, rate, beta;
  };
  // Of a role by itself, or of all.
  Excesses Beyond(const std::string& role, std::size_t f, bool by_role) const {
    const auto known = beyond_.find({role, f});
    if (known != beyond_.end()) return known->second;
    const std::vector<double>& all = all_[f];
    Excesses beyond = {Percentile90(all), Rate(all, Percentile90(all)), Excess(all, Percentile90(all))};
    if (by_role) {
      const std::vector<double>& seen = of_role_.at({role, f});
      beyond.q = Percentile90(seen);
      double k = 0;
      double sum = 0;
      for (const double value : seen) {
        if (value <= beyond.q) continue;
        ++k;
        sum += value - beyond.q;
      }
      beyond.beta = (sum + 5 * beyond.beta) / (k + 5);
      beyond.rate = (k + 5) / (static_cast<double>(seen.size()) + 5 / beyond.rate);
    }
    return beyond_[{role, f}] = beyond;
  }

  void Novelty(std::size_t which, std::size_t repetition, Figures* figures) const {
    const BaselineSession& held = sessions_[which];
    bool one_day = true;
    std::size_t of_role = 0;
    for (const auto& session : sessions_) {
      if (session.role != held.role) continue;
      ++of_role;
      one_day = one_day && session.day == held.day;
    }
    if (of_role == 1) return;
    std::map<std::string, double> own;
    std::map<std::string, double> every;
    std::set<AbstractionId> baseline;
    double own_sessions = 0;
    double all_sessions = 0;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      const auto& session = sessions_[i];
      if (one_day ? i == which : session.day == held.day) continue;
      std::set<std::string> tokens;
      for (const AbstractionId id : session.abstractions) {
        if (IsWithheld(session.role, id, repetition, share_)) continue;
        const auto list = PlainCounted(tokens_.at(id));
        tokens.insert(list.begin(), list.end());
        if (session.role == held.role) baseline.insert(id);
      }
      ++all_sessions;
      for (const auto& token : tokens) ++every[token];
      if (session.role != held.role) continue;
      ++own_sessions;
      for (const auto& token : tokens) ++own[token];
    }
    std::set<AbstractionId> of_others;
    std::set<std::string> of_baseline;
    for (const auto& session : sessions_)
      if (session.role != held.role) of_others.insert(session.abstractions.begin(), session.abstractions.end());
    for (const AbstractionId id : baseline)
      for (const std::string& token : PlainCounted(tokens_.at(id))) of_baseline.insert(token);
    std::vector<double> sums(kOfNew, 0);
    std::set<std::string> columns;
    for (const AbstractionId id : AbstractionsOf(held)) {
      if (baseline.count(id) > 0) continue;
      const auto counted = PlainCounted(tokens_.at(id));
      const auto lacking = [&](const std::vector<std::string>& other, bool conditions_only) {
        double bits = 0;
        for (const std::string& token : counted) {
          if (conditions_only && token[0] != 'w') continue;
          if (std::find(other.begin(), other.end(), token) == other.end())
            bits -= std::log2(.8 * (own[token] + .02) / (own_sessions + 1) +
                              .2 * (every[token] + .02) / (all_sessions + 1));
        }
        return bits;
      };
      double least = lacking({}, false);
      double conditions = lacking({}, true);
      for (const AbstractionId other : baseline) {
        least = std::min(least, lacking(PlainCounted(tokens_.at(other)), false));
        conditions = std::min(conditions, lacking(PlainCounted(tokens_.at(other)), true));
      }
      const auto executions = static_cast<double>(ExecutionsOf(held, id));
      sums[0] += least;
      sums[1] = std::max(sums[1], least);
      ++sums[2];
      if (std::none_of(counted.begin(), counted.end(), [](const auto& token) { return token[0] == 'f'; }))
        sums[3] += conditions * executions;
      sums[4] += of_others.count(id) > 0 ? 1 : 0;
      bool is_strange = false;
      for (const std::string& token : counted) {
        if (of_baseline.count(token) > 0) continue;
        is_strange = true;
        if (token[0] == 'p') columns.insert(token);
      }
      if (is_strange) sums[6] += executions;
      sums[7] = std::max(sums[7], executions);
    }
    sums[2] /= std::max(sums[2], Median(held.role));
    sums[5] = static_cast<double>(columns.size());
    for (std::size_t f = 0; f < kOfNew; ++f) (*figures)[f] = sums[f];
  }

  std::vector<BaselineSession> sessions_;
  TokenMap tokens_;
  double share_;
  std::set<std::string> roles_;
  std::map<std::pair<std::size_t, std::size_t>, Figures> figures_;
  std::vector<double> all_[kFigureCount];
  std::map<std::pair<std::string, std::size_t>, std::vector<double>> of_role_;
  mutable std::map<std::pair<std::string, std::size_t>, Excesses> beyond_;
};

}  // namespace privacy_score::testing_support
