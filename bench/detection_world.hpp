/*
 * detection_world.hpp - a bank with its people and its alarms: these learn from the days of the baseline, and judge
 * sessions as the worker does.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"
#include "core/detection/accepted.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "core/detection/calibrator.hpp"
#include "core/detection/raised_by.hpp"
#include "core/detection/role_alarm.hpp"
#include "detection_people.hpp"
#include "detection_record.hpp"

namespace bank {

using namespace privacy_score;

constexpr double kAlarmRate = .01;
constexpr double kExpectedNovelty = .1;
constexpr Size kBank = {50000, 7, 8};
constexpr int kBaselineDays = 22;
constexpr int kTestDays = 30;

inline std::size_t At(int place) { return static_cast<std::size_t>(place); }

// Sessions are cut in these ways.
enum class Scope { kSession, kStatement };

struct Judged {
  double combined = 0;
  std::optional<Figure> reason;
  bool unusual = false;
  bool drip = false;
  std::int64_t known = 0;
  bool IsAlarm() const { return unusual || drip; }
};

// What a principal's sessions have added up to.
struct Past {
  double drip = 0;
  double new_drip = 0;
  Knowledge knowledge;
};

// A world with its alarms.
class World {
 public:
  World(std::uint64_t seed, const Size& size, int baseline_days) : people_(seed, size) {
    for (int day = 0; day < baseline_days; ++day)
      for (int person = 0; person < Persons(); ++person)
        for (Session& session : people_.DayOf(person, day)) baseline_.push_back(std::move(session));
  }

  People& people() { return people_; }
  int Persons() { return static_cast<int>(people_.people().size()); }
  const std::vector<Session>& baseline() const { return baseline_; }

  // Learns from the baseline, cut by scope.
  void Calibrate(Scope scope) {
    std::vector<BaselineSession> sessions;
    TokenMap tokens;
    std::vector<std::set<AbstractionId>> of_role(people_.roles().size());
    knowledge_.assign(people_.people().size(), {});
    for (const Session& session : baseline_) {
      for (const std::vector<Execution>& part : Cut(session.executions, scope)) {
        const Recorded recorded = Record(part);
        BaselineSession one;
        one.role = people_.roles()[At(session.role)].name;
        one.principal = people_.people()[At(session.person)].name;
        one.begin = session.begin * 1000 + static_cast<std::int64_t>(sessions.size() % 1000);
        one.day = session.day;
        for (const auto& [id, runs] : recorded.runs) {
          one.abstractions.push_back(id);
          one.executions.push_back(runs);
          of_roles_.insert(id);
          of_role[At(session.role)].insert(id);
          tokens[id] = people_.statements().Find(id)->tokens;
        }
        one.figures[Figure::kAddressed] = static_cast<double>(*recorded.figures.addressed);
        one.figures[Figure::kPerson] = static_cast<double>(*recorded.figures.person);
        one.figures[Figure::kKnown] = static_cast<double>(knowledge_[At(session.person)].Take(session.day, part));
        one.figures[Figure::kDiffer] = static_cast<double>(*recorded.figures.differ);
        one.figures[Figure::kRepeats] = static_cast<double>(recorded.repeats);
        one.figures[Figure::kVolume] = VolumeOf(*recorded.figures.most_rows);
        sessions.push_back(std::move(one));
      }
    }
    Calibrator calibrator(std::move(sessions), tokens, kExpectedNovelty);
    while (!calibrator.Run({})) continue;
    const std::string bytes = WriteCalibration(calibrator.calibration());
    alarms_.clear();
    for (std::size_t role = 0; role < people_.roles().size(); ++role) {
      std::vector<std::vector<std::optional<std::string>>> rows;
      for (const AbstractionId id : of_role[role])
        for (const std::string& token : tokens[id]) rows.push_back({std::to_string(id), token});
      WireWriter wire;
      wire.Section(2, rows);
      WireReader reader(wire.bytes());
      alarms_.push_back(std::make_unique<RoleAlarm>(*ReadRoleCalibration(bytes, people_.roles()[role].name), reader));
    }
  }

  static std::vector<std::vector<Execution>> Cut(const std::vector<Execution>& executions, Scope scope) {
    if (scope == Scope::kSession) return {executions};
    std::vector<std::vector<Execution>> parts;
    for (const Execution& execution : executions) parts.push_back({execution});
    return parts;
  }

  // What a person has come to know in the baseline's days.
  const Knowledge& KnowledgeOf(int person) const { return knowledge_[At(person)]; }

  // As the worker does, one session of a principal with a past, on a day, of whose work something may be accepted.
  Judged Judge(int role, int day, const std::vector<Execution>& executions, Past* past,
               const Accepted* accepted = nullptr) {
    RoleAlarm& alarm = *alarms_[At(role)];
    const AlarmLaw& law = alarm.calibration().alarm;
    Recorded recorded = Record(executions);
    recorded.figures.known = past->knowledge.Take(day, executions);
    JudgedSession session(alarm, accepted);
    Take(recorded, &session);
    const Judgement judgement = session.Judge();
    Judged judged{judgement.combined, judgement.reason, judgement.combined > law.Threshold(kAlarmRate).value, false};
    judged.known = *recorded.figures.known;
    const double drip = law.drip.After(past->drip, judgement.combined);
    const double new_drip = law.new_drip.After(past->new_drip, judgement.new_number);
    const auto passes = [](double before, double after, double limit) { return after > limit && before <= limit; };
    judged.drip = !judged.unusual && (passes(past->drip, drip, law.DripLimit(kAlarmRate)) ||
                                      passes(past->new_drip, new_drip, law.NewDripLimit(kAlarmRate)));
    past->drip = drip;
    past->new_drip = new_drip;
    return judged;
  }

  // The same of what is cut by scope; the parts of a session in order.
  std::vector<Judged> Judge(const Session& session, Scope scope, Past* past) {
    std::vector<Judged> all;
    for (const auto& part : Cut(session.executions, scope)) all.push_back(Judge(session.role, session.day, part, past));
    return all;
  }

  // What of a session a DBA accepts who accepts its alarm.
  void Accept(const Session& session, const Judged& judged, Accepted* accepted) {
    RoleAlarm& alarm = *alarms_[At(session.role)];
    Recorded recorded = Record(session.executions);
    recorded.figures.known = judged.known;
    JudgedSession taken(alarm, accepted);
    Take(recorded, &taken);
    const SessionFigures figures = taken.Figures();
    const AlarmLaw& law = alarm.calibration().alarm;
    std::vector<Figure> reasons;
    if (judged.reason) reasons.push_back(*judged.reason);
    const RaisedBy raised = FindRaisedBy(&alarm.calibration(), figures,
                                         judged.drip ? law.drip.from : law.Threshold(kAlarmRate).value, reasons);
    for (const Figure figure : raised.heights) accepted->Add(figure, *figures[figure]);
    if (!raised.statements && !judged.drip) return;
    for (const auto& [id, runs] : recorded.runs)
      if (!alarm.profile().Has(id)) accepted->Add(id, people_.statements().Find(id)->tokens);
  }

  // Makes the baseline of other sessions.
  void SetBaseline(std::vector<Session> baseline) {
    baseline_ = std::move(baseline);
    of_roles_.clear();
    Calibrate(Scope::kSession);
  }

 private:
  void Take(const Recorded& recorded, JudgedSession* session) {
    for (const auto& [id, runs] : recorded.runs)
      session->Take(id, runs, &people_.statements().Find(id)->tokens, of_roles_.count(id) > 0);
    session->Take(recorded.figures);
  }

  People people_;
  std::vector<Session> baseline_;
  std::vector<std::unique_ptr<RoleAlarm>> alarms_;
  std::vector<Knowledge> knowledge_;  // of each person
  std::set<AbstractionId> of_roles_;  // that the baseline of any has
};

}  // namespace bank
