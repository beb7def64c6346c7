/*
 * detection_feedback.cpp - what accepting false alarms saves, and whether somebody is told who raises her habits so
 * slowly that each baseline takes her for normal.
 *
 *   detection_feedback choosing|reporting [WORLDS]   prints Markdown, and "@" lines as detection.cpp does
 *
 * Feedback: a DBA accepts the first twenty alarms of normal sessions after the baseline; then the next thirty days of
 * the same people are judged, with and without what was accepted, and so are attacks, which pay for it.
 *
 * Poisoning: somebody raises what she does by 5 % a day for sixty working days: customers, rows, new statements. The
 * baseline is made of the latest 22 days, anew each fifth day.
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detection_attacks.hpp"
#include "detection_world.hpp"

namespace {

using namespace bank;

const std::vector<std::uint64_t> kChoosingSeeds = {11, 12, 13, 14, 15, 16, 17, 18};
const std::vector<std::uint64_t> kReportingSeeds = {7101, 7102, 7103, 7104, 7105, 7106, 7107, 7108};

constexpr int kAccepted = 20;
constexpr int kMostDays = 90;  // until so many were accepted
constexpr int kAttacksAFamily = 20;
constexpr int kPoisonDays = 60;
constexpr double kDaily = 1.05;

enum class Way { kNothing, kPerson, kRole };
constexpr std::array kWays = {Way::kNothing, Way::kPerson, Way::kRole};

struct Outcome {
  std::int64_t accepted = 0, sessions = 0, alarms = 0, attacks = 0, caught = 0;
};

std::vector<std::vector<Session>> DaysOf(World& world, int from, int to) {
  std::vector<std::vector<Session>> days;
  for (int day = from; day < to; ++day) {
    days.emplace_back();
    for (int person = 0; person < world.Persons(); ++person)
      for (Session& session : world.people().DayOf(person, day)) days.back().push_back(std::move(session));
  }
  return days;
}

void MeasureFeedback(std::uint64_t seed, std::array<Outcome, kWays.size()>* outcomes) {
  World world(seed, kBank, kBaselineDays);
  People& people = world.people();
  const std::vector<std::vector<Session>> days = DaysOf(world, kBaselineDays, kBaselineDays + kMostDays + kTestDays);
  world.Calibrate(Scope::kSession);
  Attacks attacks(people);
  std::vector<Session> made;
  for (const FamilyName& family : kFamilies)
    for (int i = 0; i < kAttacksAFamily; ++i)
      made.push_back(attacks.Make(family.family, Below(world.Persons(), people.random()), kBaselineDays + kMostDays));
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    Outcome& outcome = (*outcomes)[way];
    std::vector<Accepted> accepted(At(world.Persons()));
    std::vector<Past> pasts(At(world.Persons()));
    int done = 0;
    for (std::size_t day = 0; day < days.size(); ++day) {
      const bool tested = day >= static_cast<std::size_t>(kMostDays);
      for (const Session& session : days[day]) {
        const Judged judged = world.Judge(session.role, session.day, session.executions, &pasts[At(session.person)],
                                          &accepted[At(session.person)]);
        if (tested) ++outcome.sessions;
        if (!judged.IsAlarm()) continue;
        if (tested) ++outcome.alarms;
        if (tested || kWays[way] == Way::kNothing || done >= kAccepted) continue;
        ++done;
        if (judged.drip) pasts[At(session.person)].drip = pasts[At(session.person)].new_drip = 0;
        const Accepted before = accepted[At(session.person)];
        Accepted added = before;
        world.Accept(session, judged, &added);
        for (int person = 0; person < world.Persons(); ++person) {
          const bool of_role = people.people()[At(person)].role == session.role;
          if (person == session.person || (of_role && kWays[way] == Way::kRole)) accepted[At(person)].Add(added);
        }
      }
    }
    outcome.accepted += done;
    for (const Session& attack : made) {
      Past none;
      ++outcome.attacks;
      outcome.caught +=
          world.Judge(attack.role, attack.day, attack.executions, &none, &accepted[At(attack.person)]).IsAlarm();
    }
  }
}

// One session of hers, with all that she does raised by a factor.
Session Raised(People& people, int person, int day, int number, double factor) {
  Session session = people.Begin(person, day, number);
  Person& who = people.people()[At(person)];
  const double usual = who.new_work;
  who.new_work = std::min(.9, usual * factor);
  const double tasks = factor * std::exp(people.RoleOf(person).tasks + who.pace + .8 * Normal(people.random()));
  people.Work(session, person, static_cast<int>(std::min(2000., std::max(1., std::round(tasks)))));
  who.new_work = usual;
  for (Execution& execution : session.executions)
    if (execution.limit == 0) execution.rows = static_cast<std::int64_t>(static_cast<double>(execution.rows) * factor);
  return session;
}

struct Poisoned {
  int told = 0;                             // first day, from 1; 0: never
  std::array<int, 3> alarms{}, sessions{};  // in twenty days each
};

// What somebody's alarms are, with habits that rise by a factor a day, 1: as they are.
Poisoned MeasurePoisoning(std::uint64_t seed, double daily) {
  World world(seed, kBank, kBaselineDays);
  People& people = world.people();
  const int who = Below(world.Persons(), people.random());
  std::vector<std::vector<Session>> days = DaysOf(world, kBaselineDays, kBaselineDays + kPoisonDays);
  for (std::size_t day = 0; day < days.size(); ++day) {
    int number = 0;
    for (Session& session : days[day])
      if (session.person == who) {
        session = Raised(people, who, session.day, number, std::pow(daily, static_cast<double>(day + 1)));
        ++number;
      }
  }
  std::vector<Session> latest = world.baseline();
  world.Calibrate(Scope::kSession);
  Poisoned poisoned;
  Past past;
  for (std::size_t day = 0; day < days.size(); ++day) {
    if (day > 0 && day % kWorkdays == 0) {
      const int from = kBaselineDays + static_cast<int>(day) - kBaselineDays;
      latest.erase(
          std::remove_if(latest.begin(), latest.end(), [&](const Session& session) { return session.day < from; }),
          latest.end());
      world.SetBaseline(latest);
    }
    for (const Session& session : days[day]) {
      if (session.person == who) {
        const bool alarm = world.Judge(session.role, session.day, session.executions, &past).IsAlarm();
        ++poisoned.sessions[day / 20];
        poisoned.alarms[day / 20] += alarm;
        if (alarm && poisoned.told == 0) poisoned.told = static_cast<int>(day) + 1;
      }
      latest.push_back(session);
    }
  }
  return poisoned;
}

double Percent(std::int64_t among, std::int64_t all) {
  return 100 * static_cast<double>(among) / static_cast<double>(all);
}

void PrintFeedback(const std::vector<std::uint64_t>& seeds) {
  std::array<Outcome, kWays.size()> outcomes;
  for (const std::uint64_t seed : seeds) MeasureFeedback(seed, &outcomes);
  constexpr std::array kNames = {"nothing", "for the person", "for the role"};
  std::printf(
      "| accepted | alarms accepted | normal sessions after that | false alarms | share | attacks caught "
      "|\n|---|---|---|---|---|---|\n");
  for (std::size_t way = 0; way < kWays.size(); ++way) {
    const Outcome& outcome = outcomes[way];
    std::printf("| %s | %lld | %lld | %lld | %.2f %% | %.1f %% |\n", kNames[way],
                static_cast<long long>(outcome.accepted), static_cast<long long>(outcome.sessions),
                static_cast<long long>(outcome.alarms), Percent(outcome.alarms, outcome.sessions),
                Percent(outcome.caught, outcome.attacks));
  }
  std::printf("@ left_person %.1f\n@ left_role %.1f\n", Percent(outcomes[1].alarms, outcomes[0].alarms),
              Percent(outcomes[2].alarms, outcomes[0].alarms));
}

void PrintPoisoning(const std::vector<std::uint64_t>& seeds) {
  std::printf(
      "\n| habits | people | told within 60 days | first alarm, median day | last | sessions with an alarm: days 1 to "
      "20 | 21 to 40 | 41 to 60 |\n|---|---|---|---|---|---|---|---|\n");
  for (const double daily : {1.0, kDaily}) {
    std::vector<int> told;
    std::array<std::int64_t, 3> alarms{}, sessions{};
    for (const std::uint64_t seed : seeds) {
      const Poisoned poisoned = MeasurePoisoning(seed, daily);
      told.push_back(poisoned.told == 0 ? kPoisonDays + 1 : poisoned.told);
      for (std::size_t i = 0; i < 3; ++i) {
        alarms[i] += poisoned.alarms[i];
        sessions[i] += poisoned.sessions[i];
      }
    }
    std::sort(told.begin(), told.end());
    const auto within = std::count_if(told.begin(), told.end(), [](int day) { return day <= kPoisonDays; });
    const auto shown = [](int day) { return day > kPoisonDays ? std::string("never") : std::to_string(day); };
    std::printf("| %s | %zu | %ld | %s | %s | %.1f %% | %.1f %% | %.1f %% |\n",
                daily > 1 ? "raised by 5 % a day" : "as they are", told.size(), within,
                shown(told[told.size() / 2]).c_str(), shown(told.back()).c_str(), Percent(alarms[0], sessions[0]),
                Percent(alarms[1], sessions[1]), Percent(alarms[2], sessions[2]));
    if (daily > 1) std::printf("@ poisoned %.1f\n", Percent(within, static_cast<std::int64_t>(told.size())));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "choosing";
  if (what != "choosing" && what != "reporting") {
    std::fprintf(stderr, "detection_feedback choosing|reporting [WORLDS]\n");
    return 2;
  }
  std::vector<std::uint64_t> seeds = what == "choosing" ? kChoosingSeeds : kReportingSeeds;
  if (argc > 2) seeds.resize(std::min<std::size_t>(seeds.size(), std::strtoul(argv[2], nullptr, 10)));
  PrintFeedback(seeds);
  PrintPoisoning(seeds);
  return 0;
}
