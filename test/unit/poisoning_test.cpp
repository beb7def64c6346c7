/*
 * poisoning_test.cpp - somebody who raises her habits by 5 % a day, while the baseline is made anew each week, is told
 * by the comparison with her peers: her own days are part of every baseline, and not enough of it.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "alarm_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr int kPeople = 8;
constexpr int kBaselineDays = 22;
constexpr int kDays = 60;
constexpr double kAlarmRate = .01;

// Sessions of people who do as much as each other but for `factor`: about four customers, one of ten with a tail.
BaselineSession SessionOf(int person, int day, double factor, std::mt19937* random) {
  const auto draw = [&](std::uint32_t below) { return static_cast<int>((*random)() % below); };
  BaselineSession session;
  session.role = "clerk";
  session.principal = std::to_string(person);
  session.begin = day * 100 + person;
  session.day = day;
  for (int left = 4; left > 0; --left) session.abstractions.push_back(1 + draw(30));
  std::sort(session.abstractions.begin(), session.abstractions.end());
  session.abstractions.erase(std::unique(session.abstractions.begin(), session.abstractions.end()),
                             session.abstractions.end());
  const int customers = 2 + draw(5) + (draw(10) == 0 ? draw(12) : 0);
  session.figures[Figure::kAddressed] = std::round(customers * factor);
  session.figures[Figure::kPerson] = 1 + draw(6);
  session.figures[Figure::kRepeats] = std::round(customers * factor);
  session.figures[Figure::kVolume] = VolumeOf(static_cast<std::int64_t>(60 * customers * factor));
  return session;
}

RoleCalibration CalibratedOn(const std::vector<BaselineSession>& sessions) {
  TokenMap tokens;
  for (AbstractionId id = 1; id <= 30; ++id) tokens[id] = StatementTokens(id);
  Calibrator calibrator(sessions, tokens, .1);
  EXPECT_TRUE(calibrator.Run({}));
  return *ReadRoleCalibration(WriteCalibration(calibrator.calibration()), "clerk");
}

struct Told {
  int first = 0;  // day of her first alarm, from 1; 0: none
  int hers = 0;   // alarms in the last twenty days
  int others = 0, sessions_of_others = 0;
};

// Person 0 raises what she does by a factor a day.
Told Watch(double daily) {
  std::mt19937 random(11);
  std::vector<BaselineSession> all;
  for (int day = 0; day < kBaselineDays; ++day)
    for (int person = 0; person < kPeople; ++person) all.push_back(SessionOf(person, day, 1, &random));
  RoleCalibration calibration = CalibratedOn(all);
  Told told;
  for (int day = 0; day < kDays; ++day) {
    if (day > 0 && day % 5 == 0) {
      std::vector<BaselineSession> latest;
      std::copy_if(all.begin(), all.end(), std::back_inserter(latest),
                   [&](const BaselineSession& session) { return session.day >= day; });
      calibration = CalibratedOn(latest);
    }
    for (int person = 0; person < kPeople; ++person) {
      const double factor = person == 0 ? std::pow(daily, day + 1) : 1;
      all.push_back(SessionOf(person, kBaselineDays + day, factor, &random));
      const double threshold = calibration.alarm.Threshold(kAlarmRate).value;
      SessionFigures figures = all.back().figures;
      figures[Figure::kTokens] = figures[Figure::kTokensMax] = figures[Figure::kUnknown] = 0;
      const bool alarm = calibration.Judge(figures).combined > threshold;
      if (person > 0) {
        ++told.sessions_of_others;
        told.others += alarm;
        continue;
      }
      if (alarm && told.first == 0) told.first = day + 1;
      if (day >= kDays - 20) told.hers += alarm;
    }
  }
  return told;
}

TEST(Poisoning, IsToldByThePeers) {
  const Told raised = Watch(1.05);
  EXPECT_GT(raised.first, 0);
  EXPECT_LE(raised.first, 40);
  // Not once by chance: she goes on being told, though each week's baseline has what she did.
  EXPECT_GE(raised.hers, 5);
  EXPECT_LE(raised.others, raised.sessions_of_others / 40);
}

TEST(Poisoning, IsNotToldOfWhoDoesAsTheOthers) {
  const Told usual = Watch(1);
  EXPECT_LE(usual.hers, 1);
  EXPECT_LE(usual.others, usual.sessions_of_others / 40);
}

}  // namespace
}  // namespace privacy_score
