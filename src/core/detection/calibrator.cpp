/*
 * calibrator.cpp - see calibrator.hpp.
 */
#include "core/detection/calibrator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/base/sort_unique.hpp"
#include "core/detection/held_out_days.hpp"

namespace privacy_score {

namespace {

// Fewer values of a figure than these have no 90th percentile to speak of: a role is then held against all roles.
constexpr std::size_t kFewestOfRole = 20;
// So many sessions with all figures are preferred to more of which some lack figures.
constexpr std::size_t kFewestComplete = 30;
constexpr double kDripShare = .1;
constexpr double kNewDripShare = .15;
constexpr double kNewDripReached = .8;
constexpr double kWeightOfTheory = 5;                          // excesses
constexpr double kTheoreticalExcess = 0.43429448190325182765;  // of -log10 of a uniform number

// The abstractions of a session, each once and sorted, with its executions. Repetitions in the list are of one that was
// executed once, unless executions are given.
std::vector<std::pair<AbstractionId, std::uint32_t>> Executions(const BaselineSession& session) {
  std::map<AbstractionId, std::int64_t> executions;
  for (std::size_t i = 0; i < session.abstractions.size(); ++i) {
    if (session.abstractions[i] == 0) continue;
    std::int64_t& all = executions[session.abstractions[i]];
    all = session.executions.empty() ? 1 : all + session.executions[i];
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::pair<AbstractionId, std::uint32_t>> list;
  for (const auto& [id, all] : executions) list.emplace_back(id, static_cast<std::uint32_t>(std::min(all, kMost)));
  return list;
}

double MedianOf(std::vector<std::size_t> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double upper = static_cast<double>(values[middle]);
  return values.size() % 2 == 1 ? upper : (static_cast<double>(values[middle - 1]) + upper) / 2;
}

}  // namespace

class Calibrator::Work {
 public:
  Work(std::vector<BaselineSession> sessions, const TokenMap& tokens, double expected_novelty, Calibration* calibration)
      : sessions_(std::move(sessions)), calibration_(calibration) {
    NumberRoles();
    NumberAbstractions(tokens);
    CountTokens();
    held_out_.emplace(numbered_, expected_novelty);
  }

  bool Run(const WorkControl& control) {
    if (!held_out_->Run(control)) return false;
    return Finishes([&] {
      MakeTails(control);
      MakeAlarm(control);
    });
  }

 private:
  // Of one session in one repetition.
  struct Combined {
    std::size_t session = 0;
    double number = 0;      // combined
    double new_number = 0;  // of what is new
  };

  void NumberRoles();
  void NumberAbstractions(const TokenMap& tokens);
  void CountTokens();
  void MakeTails(const WorkControl& control);
  void MakeAlarm(const WorkControl& control);
  std::vector<std::size_t> CalibratedOn();
  void MakeNewDrip(const std::vector<std::vector<Combined>>& combined);
  double Reached(std::vector<Combined> numbers, const DripLaw& law, double Combined::*number) const;
  SessionFigures FiguresOf(std::size_t session, std::size_t repetition) const;

  std::vector<BaselineSession> sessions_;
  Calibration* calibration_;
  NumberedSessions numbered_;
  std::optional<HeldOutDays> held_out_;
};

void Calibrator::Work::NumberRoles() {
  std::map<std::string_view, std::uint32_t> roles;
  std::map<std::int32_t, std::uint32_t> days;
  for (BaselineSession& session : sessions_) {
    session.figures.Check();
    if (!session.executions.empty() && session.executions.size() != session.abstractions.size())
      throw DamagedData("abstractions without executions");
    const auto executions = Executions(session);
    session.abstractions.clear();
    session.executions.clear();
    for (const auto& [id, all] : executions) {
      session.abstractions.push_back(id);
      session.executions.push_back(all);
    }
    roles.emplace(session.role, 0);
    days.emplace(session.day, 0);
  }
  for (auto& [day, number] : days) number = static_cast<std::uint32_t>(numbered_.days++);
  std::vector<std::vector<std::size_t>> sizes(roles.size());
  for (auto& [name, number] : roles) {
    number = static_cast<std::uint32_t>(numbered_.roles.size());
    numbered_.roles.push_back({std::string(name), 1});
  }
  for (const BaselineSession& session : sessions_) {
    const std::uint32_t role = roles.at(session.role);
    numbered_.sessions.push_back({role, days.at(session.day), {}, {}});
    sizes[role].push_back(session.abstractions.size());
  }
  calibration_->sessions = static_cast<std::int64_t>(sessions_.size());
  calibration_->roles.resize(roles.size());
  for (std::size_t role = 0; role < roles.size(); ++role) {
    numbered_.roles[role].usual_distinct = std::max(1.0, MedianOf(sizes[role]));
    calibration_->roles[role].name = numbered_.roles[role].name;
    calibration_->roles[role].sessions = static_cast<std::int64_t>(sizes[role].size());
    calibration_->roles[role].usual_distinct = numbered_.roles[role].usual_distinct;
  }
}

// Tokens are numbered in their order, so that nothing depends on that of the sessions.
void Calibrator::Work::NumberAbstractions(const TokenMap& tokens) {
  std::vector<AbstractionId> ids;
  for (const BaselineSession& session : sessions_)
    ids.insert(ids.end(), session.abstractions.begin(), session.abstractions.end());
  SortUnique(ids);
  std::vector<Tokens> counted;
  std::vector<std::string_view> texts;
  counted.reserve(ids.size());
  for (const AbstractionId id : ids) {
    const auto found = tokens.find(id);
    if (found == tokens.end()) throw DamagedData("an abstraction without tokens");
    counted.push_back(CountedTokens(found->second));
    texts.insert(texts.end(), counted.back().begin(), counted.back().end());
  }
  SortUnique(texts);
  numbered_.tokens = texts.size();
  calibration_->tokens.resize(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    calibration_->tokens[i].text = texts[i];
    numbered_.kinds.push_back(KindOf(texts[i]));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    NumberedSessions::Abstraction abstraction;
    abstraction.id = ids[i];
    for (const std::string& token : counted[i])
      abstraction.tokens.push_back(static_cast<TokenIndex::Token>(
          std::lower_bound(texts.begin(), texts.end(), std::string_view(token)) - texts.begin()));
    SortUnique(abstraction.tokens);
    numbered_.abstractions.push_back(std::move(abstraction));
  }
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    for (const AbstractionId id : sessions_[i].abstractions)
      numbered_.sessions[i].abstractions.push_back(
          static_cast<std::uint32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin()));
    numbered_.sessions[i].executions.assign(sessions_[i].executions.begin(), sessions_[i].executions.end());
    sessions_[i].abstractions = {};
    sessions_[i].executions = {};
  }
}

// What sessions to come are weighed by: nothing is withheld. One role after the other, so that one list of counts does.
void Calibrator::Work::CountTokens() {
  std::vector<std::vector<std::size_t>> of_roles(numbered_.roles.size());
  for (std::size_t i = 0; i < numbered_.sessions.size(); ++i) of_roles[numbered_.sessions[i].role].push_back(i);
  std::vector<std::size_t> last(numbered_.tokens, 0);  // session that had it, plus 1
  std::vector<std::int64_t> counts(numbered_.tokens, 0);
  for (std::size_t role = 0; role < of_roles.size(); ++role) {
    for (const std::size_t session : of_roles[role]) {
      for (const std::uint32_t abstraction : numbered_.sessions[session].abstractions) {
        for (const TokenIndex::Token token : numbered_.abstractions[abstraction].tokens) {
          if (last[token] == session + 1) continue;
          last[token] = session + 1;
          ++counts[token];
        }
      }
    }
    for (std::uint32_t token = 0; token < numbered_.tokens; ++token) {
      if (counts[token] == 0) continue;
      calibration_->roles[role].tokens.push_back({token, counts[token]});
      calibration_->tokens[token].sessions += counts[token];
      counts[token] = 0;
    }
  }
}

SessionFigures Calibrator::Work::FiguresOf(std::size_t session, std::size_t repetition) const {
  SessionFigures figures = held_out_->Figures(session, repetition);
  for (const Figure figure : kFigures)
    if (!IsNovelty(figure)) figures[figure] = sessions_[session].figures[figure];
  return figures;
}

void Calibrator::Work::MakeTails(const WorkControl& control) {
  for (const Figure figure : kFigures) {
    PauseIfInterrupted(control);
    const auto place = static_cast<std::size_t>(figure);
    std::vector<double> all;
    std::vector<std::vector<double>> of_roles(numbered_.roles.size());
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      // The figures that are stored are the same in all repetitions.
      for (std::size_t repetition = 0; repetition < (IsNovelty(figure) ? kRepetitions : 1); ++repetition) {
        const std::optional<double> value = FiguresOf(i, repetition)[figure];
        if (!value) continue;
        all.push_back(*value);
        if (!IsNovelty(figure)) of_roles[numbered_.sessions[i].role].push_back(*value);
      }
    }
    calibration_->tails[place] = Tail(std::move(all));
    for (std::size_t role = 0; role < of_roles.size(); ++role) {
      calibration_->roles[role].tails[place].reset();
      if (of_roles[role].size() >= kFewestOfRole)
        calibration_->roles[role].tails[place].emplace(std::move(of_roles[role]), calibration_->tails[place]);
    }
  }
}

// The sessions that the alarm rests on: those with all figures of which anything is known, where they are not too few;
// else all that have any figure.
std::vector<std::size_t> Calibrator::Work::CalibratedOn() {
  std::vector<std::size_t> complete;
  std::vector<std::size_t> any;
  for (std::size_t i = 0; i < sessions_.size(); ++i) {
    const SessionFigures figures = FiguresOf(i, 0);
    const auto has = [&](Figure figure) { return figures[figure].has_value(); };
    const auto is_known = [&](Figure figure) {
      return calibration_->tails[static_cast<std::size_t>(figure)].seen().count() > 0;
    };
    if (std::none_of(kFigures.begin(), kFigures.end(), has)) continue;
    any.push_back(i);
    if (std::all_of(kFigures.begin(), kFigures.end(), [&](Figure figure) { return has(figure) || !is_known(figure); }))
      complete.push_back(i);
  }
  calibration_->alarm.complete = complete.size() == any.size() || complete.size() >= kFewestComplete;
  return calibration_->alarm.complete ? complete : any;
}

void Calibrator::Work::MakeAlarm(const WorkControl& control) {
  std::vector<Tails> tails(numbered_.roles.size());
  for (std::size_t role = 0; role < tails.size(); ++role) {
    for (std::size_t i = 0; i < kFigureCount; ++i) {
      const std::optional<Tail>& own = calibration_->roles[role].tails[i];
      tails[role][i] = own ? &*own : &calibration_->tails[i];
    }
  }
  const std::vector<std::size_t> sessions = CalibratedOn();
  std::vector<std::vector<Combined>> combined(kRepetitions);
  std::vector<double> numbers;
  for (std::size_t repetition = 0; repetition < kRepetitions; ++repetition) {
    PauseIfInterrupted(control);
    for (const std::size_t session : sessions) {
      const Judgement judgement = JudgeBy(tails[numbered_.sessions[session].role], FiguresOf(session, repetition));
      combined[repetition].push_back({session, judgement.combined, judgement.new_number});
      numbers.push_back(judgement.combined);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  AlarmLaw& alarm = calibration_->alarm;
  alarm.sessions = static_cast<std::int64_t>(sessions.size());
  alarm.combined = Quantiles(numbers);
  alarm.drip.from = alarm.combined.Exceeded(kDripShare);
  double excesses = kWeightOfTheory;
  double sum = kWeightOfTheory * kTheoreticalExcess;
  for (const double number : numbers) {
    if (number <= alarm.drip.from) continue;
    // The repetitions of a session are no further sessions.
    excesses += 1.0 / kRepetitions;
    sum += (number - alarm.drip.from) / kRepetitions;
  }
  alarm.mean_excess = sum / excesses;
  alarm.drip.reached = 0;
  for (const std::vector<Combined>& of_repetition : combined)
    alarm.drip.reached = std::max(alarm.drip.reached, Reached(of_repetition, alarm.drip, &Combined::number));
  MakeNewDrip(combined);
}

// What is withheld in a repetition is new in each session of it, as nothing is that comes for the first time: so one
// day after the other is of another repetition. What is reached is more than is reached without that all the same.
void Calibrator::Work::MakeNewDrip(const std::vector<std::vector<Combined>>& combined) {
  DripLaw& law = calibration_->alarm.new_drip;
  std::vector<double> numbers;
  for (const std::vector<Combined>& of_repetition : combined)
    for (const Combined& one : of_repetition) numbers.push_back(one.new_number);
  law.from = Quantiles(std::move(numbers)).Exceeded(kNewDripShare);
  law.reached = 0;
  for (std::size_t first = 0; first < kRepetitions; ++first) {
    std::vector<Combined> of_days;
    for (std::size_t i = 0; i < combined[first].size(); ++i) {
      const std::size_t day = numbered_.sessions[combined[first][i].session].day;
      of_days.push_back(combined[(first + day) % kRepetitions][i]);
    }
    law.reached = std::max(law.reached, kNewDripReached * Reached(std::move(of_days), law, &Combined::new_number));
  }
}

// The greatest C of a principal over its sessions in order.
double Calibrator::Work::Reached(std::vector<Combined> numbers, const DripLaw& law, double Combined::*number) const {
  const auto order = [&](const Combined& one) {
    const BaselineSession& session = sessions_[one.session];
    return std::make_tuple(std::string_view(session.principal), session.begin, one.*number);
  };
  std::sort(numbers.begin(), numbers.end(), [&](const Combined& a, const Combined& b) { return order(a) < order(b); });
  double reached = 0;
  double drip = 0;
  std::string_view before;
  for (const Combined& one : numbers) {
    const std::string_view principal = sessions_[one.session].principal;
    drip = law.After(principal == before ? drip : 0, one.*number);
    before = principal;
    reached = std::max(reached, drip);
  }
  return reached;
}

Calibrator::Calibrator(std::vector<BaselineSession> sessions, const TokenMap& tokens, double expected_novelty) {
  if (!(expected_novelty >= 0 && expected_novelty < 1))
    throw InvalidValue("expected_novelty must be at least 0 and below 1, not " + TextOf(expected_novelty));
  work_ = std::make_unique<Work>(std::move(sessions), tokens, expected_novelty, &calibration_);
}

Calibrator::~Calibrator() = default;

bool Calibrator::Run(const WorkControl& control) { return work_->Run(control); }

}  // namespace privacy_score
