/*
 * calibration_test.cpp - one number of eight figures, thresholds for alarm rates, slow drips.
 */
#include "core/detection/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "detection_fixture.hpp"
#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

Tail TailOfTen() { return Tail({0, 1, 2, 3, 4, 5, 6, 7, 8, 10}); }  // q = 8, P(> q) = .1, beta = 2

RoleCalibration RoleWithTails() {
  RoleCalibration role;
  role.tails[static_cast<std::size_t>(Figure::kAddressed)] = TailOfTen();
  role.tails[static_cast<std::size_t>(Figure::kDiffer)] = Tail(std::vector<double>(99, 0.0));
  return role;
}

TEST(Calibration, TakesTheMostUnusualFigure) {
  const RoleCalibration role = RoleWithTails();
  SessionFigures figures;
  Judgement judgement = role.Judge(figures);
  EXPECT_EQ(judgement.combined, 0);
  EXPECT_FALSE(judgement.reason);
  // A figure of whose tail nothing is known is not unusual.
  figures[Figure::kVolume] = 1e9;
  figures[Figure::kDiffer] = 0;
  EXPECT_FALSE(role.Judge(figures).reason);
  figures[Figure::kAddressed] = 7;
  judgement = role.Judge(figures);
  EXPECT_EQ(judgement.reason, Figure::kAddressed);
  EXPECT_NEAR(judgement.combined, -std::log10(.3), 1e-12);
  EXPECT_NEAR(judgement.unusual[static_cast<std::size_t>(Figure::kAddressed)], -std::log10(.3), 1e-12);
  figures[Figure::kAddressed] = 12;
  EXPECT_NEAR(role.Judge(figures).combined, 1 + 2 / std::log(10), 1e-12);
  figures[Figure::kDiffer] = 1;
  judgement = role.Judge(figures);
  EXPECT_EQ(judgement.reason, Figure::kDiffer);
  EXPECT_NEAR(judgement.combined, 2 + 1 / std::log(10), 1e-12);
}

TEST(Calibration, LimitsUToEightAndStillSaysWhatIsMostUnusual) {
  const RoleCalibration role = RoleWithTails();
  SessionFigures figures;
  figures[Figure::kAddressed] = 1000;
  figures[Figure::kDiffer] = 100000;
  const Judgement judgement = role.Judge(figures);
  EXPECT_EQ(judgement.combined, 8);
  EXPECT_EQ(judgement.reason, Figure::kDiffer);
  EXPECT_EQ(judgement.unusual[static_cast<std::size_t>(Figure::kAddressed)], 8);
}

// How often new statements are run adds up to a new drip, by three at most a session; nothing else does.
TEST(Calibration, SaysWhatAddsUpToANewDrip) {
  RoleCalibration role;
  for (const Figure figure : {Figure::kTokens, Figure::kNewRuns, Figure::kNewRepeats, Figure::kAddressed})
    role.tails[static_cast<std::size_t>(figure)] = TailOfTen();
  SessionFigures figures;
  figures[Figure::kTokens] = figures[Figure::kAddressed] = 1000;
  EXPECT_EQ(role.Judge(figures).new_number, 0);
  figures[Figure::kNewRuns] = 7;
  EXPECT_NEAR(role.Judge(figures).new_number, -std::log10(.3), 1e-12);
  figures[Figure::kNewRepeats] = 12;
  EXPECT_NEAR(role.Judge(figures).new_number, 1 + 2 / std::log(10), 1e-12);
  figures[Figure::kNewRuns] = 1000;
  EXPECT_EQ(role.Judge(figures).new_number, 3);
}

TEST(Calibration, NeverFallsWhenFiguresRise) {
  std::mt19937_64 random(23);
  for (int round = 0; round < 40; ++round) {
    const DetectionWorld world = RandomWorld(random, {3, 12, 9, 80, 6});
    const Calibration calibration = Calibrated(world.sessions, world.tokens, .1);
    for (const Calibration::Role& role : calibration.roles) {
      const RoleCalibration of_role = calibration.Of(role);
      SessionFigures figures;
      double before = 0;
      for (int step = 0; step < 60; ++step) {
        std::optional<double>& figure = figures[kFigures[random() % kFigureCount]];
        figure = figure.value_or(0) + static_cast<double>(random() % 400) / 100;
        const Judgement judgement = of_role.Judge(figures);
        ASSERT_GE(judgement.combined, before);
        ASSERT_LE(judgement.combined, 8);
        ASSERT_EQ(judgement.combined, *std::max_element(judgement.unusual.begin(), judgement.unusual.end()));
        before = judgement.combined;
      }
    }
  }
}

AlarmLaw LawOf(std::vector<double> numbers, std::int64_t sessions) {
  AlarmLaw alarm;
  alarm.sessions = sessions;
  alarm.combined = Quantiles(std::move(numbers));
  alarm.drip.from = alarm.combined.Exceeded(.1);
  alarm.mean_excess = .5;
  return alarm;
}

// 400 sessions, whose numbers are 1 to 400.
TEST(Calibration, ThresholdIsWhatSessionsShow) {
  std::vector<double> numbers;
  for (int i = 1; i <= 400; ++i) numbers.push_back(i / 100.0);
  const AlarmLaw alarm = LawOf(numbers, 400);
  AlarmThreshold threshold = alarm.Threshold(.01);
  EXPECT_EQ(threshold.value, 3.96);
  EXPECT_EQ(threshold.calibrated_on, 400);
  EXPECT_FALSE(threshold.extrapolated);
  EXPECT_FALSE(alarm.Threshold(.0075).extrapolated);
  EXPECT_EQ(alarm.Threshold(.0075).value, 3.97);
  threshold = alarm.Threshold(.00075);
  EXPECT_TRUE(threshold.extrapolated);
  EXPECT_NEAR(threshold.value, 3.97 + .5 * std::log(10), 1e-12);
  EXPECT_EQ(alarm.Threshold(.5).value, 2);
  // Rarer alarms have a higher threshold.
  double before = 0;
  for (double rate = .9; rate > 1e-6; rate /= 1.1) {
    EXPECT_GE(alarm.Threshold(rate).value, before) << rate;
    before = alarm.Threshold(rate).value;
  }
}

// One in 100 is shown by 300 sessions, not by 299, however many repetitions there were.
TEST(Calibration, ThreeSessionsAboveAreShown) {
  EXPECT_FALSE(LawOf(std::vector<double>(1200, 1.0), 300).Threshold(.01).extrapolated);
  const AlarmThreshold of_fewer = LawOf(std::vector<double>(1196, 1.0), 299).Threshold(.01);
  EXPECT_TRUE(of_fewer.extrapolated);
  EXPECT_EQ(of_fewer.calibrated_on, 299);
  EXPECT_TRUE(LawOf({1}, 1).Threshold(.5).extrapolated);
  EXPECT_NEAR(LawOf({1}, 1).Threshold(.5).value, 1 + .5 * std::log(2), 1e-12);
  const AlarmThreshold of_none = AlarmLaw().Threshold(.01);
  EXPECT_TRUE(of_none.extrapolated);
  EXPECT_EQ(of_none.calibrated_on, 0);
  EXPECT_NEAR(of_none.value, std::log10(1400), 1e-12);
}

TEST(Calibration, RefusesAnAlarmRateThatIsNone) {
  const AlarmLaw alarm = LawOf({1, 2, 3}, 3);
  EXPECT_EQ(ErrorOf([&] { alarm.Threshold(0); }), "22023 alarm_rate must be above 0 and below 1, not 0");
  EXPECT_EQ(ErrorOf([&] { alarm.Threshold(1); }), "22023 alarm_rate must be above 0 and below 1, not 1");
  EXPECT_EQ(ErrorOf([&] { alarm.Threshold(-.5); }), "22023 alarm_rate must be above 0 and below 1, not -0.5");
  EXPECT_EQ(ErrorOf([&] { alarm.DripLimit(std::nan("")); }), "22023 alarm_rate must be above 0 and below 1, not nan");
}

TEST(Calibration, DripsAddUpAndRunDry) {
  AlarmLaw alarm = LawOf(std::vector<double>(400, 1.0), 400);
  EXPECT_EQ(alarm.drip.from, 1);
  double drip = 0;
  for (const auto& [combined, after] :
       std::vector<std::pair<double, double>>{{1.5, .5}, {2, 1.5}, {0, .5}, {0, 0}, {0, 0}, {1.25, .25}}) {
    drip = alarm.drip.After(drip, combined);
    EXPECT_EQ(drip, after);
  }
  alarm.drip.reached = 1.25;
  EXPECT_EQ(alarm.DripLimit(.01), 1.25);
  // One session that raises no alarm by itself is no drip.
  alarm.drip.reached = 0;
  alarm.sessions = 3;
  EXPECT_NEAR(alarm.DripLimit(.01), .5 * std::log(100), 1e-12);
  // Of what is new one session brings three at most.
  alarm.new_drip = {.5, 4};
  EXPECT_EQ(alarm.NewDripLimit(.01), 4);
  alarm.new_drip.reached = 0;
  EXPECT_NEAR(alarm.NewDripLimit(.3), .5 + .5 * std::log(1 / .3), 1e-12);
  EXPECT_EQ(alarm.NewDripLimit(.0001), 2.5);
}

TEST(Calibration, OfARoleHasItsOwnTailsAndThoseOfAll) {
  Calibration calibration;
  calibration.sessions = 10;
  calibration.tokens = {{"a", 3}, {"b", 9}, {"c", 1}};
  calibration.tails[0] = TailOfTen();
  calibration.tails[static_cast<std::size_t>(Figure::kAddressed)] = Tail({1, 2});
  calibration.roles.resize(2);
  calibration.roles[0].name = "clerk";
  calibration.roles[0].sessions = 4;
  calibration.roles[0].usual_distinct = 2.5;
  calibration.roles[0].tokens = {{0, 2}, {2, 1}};
  calibration.roles[0].tails[static_cast<std::size_t>(Figure::kAddressed)] = TailOfTen();
  calibration.roles[1].name = "doctor";
  EXPECT_EQ(calibration.Find("nobody"), nullptr);
  EXPECT_EQ(calibration.Find(""), nullptr);
  EXPECT_EQ(calibration.Find("zoe"), nullptr);
  ASSERT_EQ(calibration.Find("clerk"), &calibration.roles[0]);
  ASSERT_EQ(calibration.Find("doctor"), &calibration.roles[1]);
  const RoleCalibration role = calibration.Of(calibration.roles[0]);
  EXPECT_EQ(role.role, "clerk");
  EXPECT_EQ(role.tokens.sessions.of_role, 4);
  EXPECT_EQ(role.tokens.sessions.of_all, 10);
  EXPECT_EQ(role.tokens.usual_distinct, 2.5);
  ASSERT_EQ(role.tokens.with_token.size(), 3U);
  EXPECT_EQ(role.tokens.with_token.at("a").of_role, 2);
  EXPECT_EQ(role.tokens.with_token.at("b").of_role, 0);
  EXPECT_EQ(role.tokens.with_token.at("b").of_all, 9);
  EXPECT_EQ(role.tails[0].seen().count(), 10);
  EXPECT_TRUE(role.is_of_all[0]);
  EXPECT_EQ(role.tails[static_cast<std::size_t>(Figure::kAddressed)].seen().count(), 10);
  EXPECT_FALSE(role.is_of_all[static_cast<std::size_t>(Figure::kAddressed)]);
  EXPECT_EQ(calibration.Of(calibration.roles[1]).tails[static_cast<std::size_t>(Figure::kAddressed)].seen().count(), 2);
}

}  // namespace
}  // namespace privacy_score
