/*
 * calibrator_test.cpp - a calibration is what its definition says, by a plain implementation over small worlds.
 */
#include "core/detection/calibrator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/detection/calibration_bytes.hpp"
#include "core/detection/held_out_days.hpp"
#include "error_fixture.hpp"
#include "plain_calibration.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr double kTolerance = 1e-6;

// Compares all that a calibration says with what its definition says.
void ExpectIsPlain(const DetectionWorld& world, double share) {
  const Calibration calibration = Calibrated(world.sessions, world.tokens, share);
  Plain plain(world.sessions, world.tokens, share);
  ASSERT_EQ(calibration.sessions, static_cast<std::int64_t>(world.sessions.size()));
  ASSERT_EQ(calibration.roles.size(), plain.roles().size());
  for (const Calibration::Role& role : calibration.roles) {
    EXPECT_EQ(plain.roles().count(role.name), 1U);
    EXPECT_EQ(role.usual_distinct, plain.Median(role.name));
    const RoleCalibration of_role = calibration.Of(role);
    for (std::size_t f = 0; f < kFigureCount; ++f) {
      for (double x = 0; x < 60; x = x * 1.3 + .37) {
        SessionFigures figures;
        // Not where plain sums and exact ones fall on two sides of a step.
        figures[kFigures[f]] = x + 1e-5;
        ASSERT_NEAR(of_role.Judge(figures).combined, std::min(8.0, plain.Unusual(role.name, f, x + 1e-5)), kTolerance)
            << NameOf(kFigures[f]) << ' ' << x;
      }
    }
  }
  std::vector<double> combined;
  const auto calibrated_on = plain.CalibratedOn();
  for (const std::size_t i : calibrated_on)
    for (std::size_t r = 0; r < kRepetitions; ++r) combined.push_back(plain.Combined(i, r));
  const AlarmLaw& alarm = calibration.alarm;
  EXPECT_EQ(alarm.sessions, static_cast<std::int64_t>(calibrated_on.size()));
  ASSERT_EQ(alarm.combined.count(), static_cast<std::int64_t>(combined.size()));
  if (combined.empty()) return;
  std::sort(combined.begin(), combined.end());
  const std::size_t size = combined.size();
  for (const double rate : {.5, .3, .1, .05}) {
    if (rate * static_cast<double>(calibrated_on.size()) < 3) continue;
    const auto above = static_cast<std::size_t>(rate * static_cast<double>(size) + 1e-9);
    EXPECT_NEAR(alarm.Threshold(rate).value, combined[size - 1 - above], kTolerance) << rate;
    EXPECT_FALSE(alarm.Threshold(rate).extrapolated);
  }
  const double from = combined[size - 1 - static_cast<std::size_t>(.1 * static_cast<double>(size) + 1e-9)];
  EXPECT_NEAR(alarm.drip.from, from, kTolerance);
  double count = 0;
  double sum = 0;
  for (const double number : combined) {
    if (number <= alarm.drip.from + 1e-9) continue;
    count += .25;
    sum += (number - from) / 4;
  }
  EXPECT_NEAR(alarm.mean_excess, (sum + 5 / std::log(10)) / (count + 5), kTolerance);
  EXPECT_NEAR(alarm.drip.reached, plain.DripReached(from), 1e-4);
  std::vector<double> new_numbers;
  for (const std::size_t i : calibrated_on)
    for (std::size_t r = 0; r < kRepetitions; ++r) new_numbers.push_back(plain.NewNumber(i, r));
  std::sort(new_numbers.begin(), new_numbers.end());
  const double new_from = new_numbers[size - 1 - static_cast<std::size_t>(.15 * static_cast<double>(size) + 1e-9)];
  EXPECT_NEAR(alarm.new_drip.from, new_from, kTolerance);
  EXPECT_NEAR(alarm.new_drip.reached, plain.NewDripReached(new_from), 1e-4);
}

TEST(Calibrator, IsTheDefinition) {
  std::mt19937_64 random(29);
  for (int round = 0; round < (kSanitized ? 6 : 40); ++round) {
    WorldSize size;
    size.roles = 1 + static_cast<int>(random() % 4);
    size.sessions = static_cast<int>(random() % 90);
    size.days = 1 + static_cast<int>(random() % 6);
    size.abstractions = 4 + static_cast<int>(random() % 16);
    const DetectionWorld world = RandomWorld(random, size);
    ExpectIsPlain(world, round % 4 == 0 ? 0 : .05 * static_cast<double>(random() % 8));
    if (HasFatalFailure()) return;
  }
}

// All figures known, so that the complete sessions are many.
TEST(Calibrator, IsTheDefinitionOfCompleteSessions) {
  std::mt19937_64 random(31);
  DetectionWorld world = RandomWorld(random, {2, 14, 9, 120, 8});
  for (BaselineSession& session : world.sessions)
    for (const Figure figure : kFigures) session.figures[figure] = session.figures[figure].value_or(0);
  ExpectIsPlain(world, .1);
  const Calibration complete = Calibrated(world.sessions, world.tokens, .1);
  EXPECT_TRUE(complete.alarm.complete);
  EXPECT_EQ(complete.alarm.sessions, 120);
  // Sessions from before the figures were recorded are left out where there are others.
  for (std::size_t i = 0; i < 80; ++i) world.sessions[i].figures = {};
  const Calibration later = Calibrated(world.sessions, world.tokens, .1);
  EXPECT_TRUE(later.alarm.complete);
  EXPECT_EQ(later.alarm.sessions, 40);
  for (std::size_t i = 80; i < 110; ++i) world.sessions[i].figures = {};
  const Calibration few = Calibrated(world.sessions, world.tokens, .1);
  EXPECT_FALSE(few.alarm.complete);
  EXPECT_EQ(few.alarm.sessions, 120);
}

TEST(Calibrator, DependsOnNoOrder) {
  std::mt19937_64 random(37);
  DetectionWorld world = RandomWorld(random, {3, 14, 9, 100, 5});
  for (BaselineSession& session : world.sessions) session.executions.clear();
  const std::string bytes = WriteCalibration(Calibrated(world.sessions, world.tokens, .1));
  for (int round = 0; round < 5; ++round) {
    std::shuffle(world.sessions.begin(), world.sessions.end(), random);
    for (BaselineSession& session : world.sessions) {
      std::shuffle(session.abstractions.begin(), session.abstractions.end(), random);
      session.executions.clear();
      // Repetitions and the empty abstraction are nothing.
      session.abstractions.push_back(0);
      if (session.abstractions.size() > 1) session.abstractions.push_back(session.abstractions.front());
      session.day += 3;
    }
    EXPECT_EQ(WriteCalibration(Calibrated(world.sessions, world.tokens, .1)), bytes);
  }
}

TEST(Calibrator, OfNothingRaisesNothing) {
  const Calibration calibration = Calibrated({}, {}, .1);
  EXPECT_EQ(calibration.sessions, 0);
  EXPECT_TRUE(calibration.roles.empty());
  EXPECT_EQ(calibration.alarm.sessions, 0);
  EXPECT_EQ(calibration.alarm.drip.reached, 0);
  EXPECT_EQ(calibration.alarm.Threshold(.01).calibrated_on, 0);
}

BaselineSession SessionOf(const char* role, std::int32_t day, std::vector<AbstractionId> abstractions) {
  BaselineSession session;
  session.role = role;
  session.principal = role;
  session.day = day;
  session.begin = day;
  session.abstractions = std::move(abstractions);
  return session;
}

// Two days of one role, nothing withheld: what only one of them has is new to the other.
TEST(Calibrator, TwoDaysWorkedByHand) {
  const TokenMap tokens = {{1, {"x"}}, {2, {"x", "y"}}};
  const Calibration calibration = Calibrated({SessionOf("a", 1, {1}), SessionOf("a", 2, {1, 2})}, tokens, 0);
  // The second session lacks y, which nobody else has: p = .02/2. The first is known. Four times each.
  const Tail& of_tokens = calibration.tails[static_cast<std::size_t>(Figure::kTokens)];
  ASSERT_EQ(of_tokens.seen().points().size(), 2U);
  EXPECT_EQ(of_tokens.seen().points()[0].value, 0);
  EXPECT_NEAR(of_tokens.seen().points()[1].value, -std::log2(.01), 1e-9);
  EXPECT_EQ(of_tokens.seen().points()[1].at_least, 4);
  // Usual are 1.5 distinct abstractions.
  const Tail& of_unknown = calibration.tails[static_cast<std::size_t>(Figure::kUnknown)];
  EXPECT_NEAR(of_unknown.seen().points()[1].value, 1 / 1.5, 1e-15);
  ASSERT_EQ(calibration.tokens.size(), 2U);
  EXPECT_EQ(calibration.tokens[0].text, "x");
  EXPECT_EQ(calibration.tokens[0].sessions, 2);
  EXPECT_EQ(calibration.tokens[1].sessions, 1);
}

TEST(Calibrator, HoldsSessionsOfOneDayAgainstEachOther) {
  const TokenMap tokens = {{1, {"x"}}, {2, {"x", "y"}}};
  const Calibration one_day = Calibrated({SessionOf("a", 1, {1}), SessionOf("a", 1, {1, 2})}, tokens, 0);
  const Calibration two_days = Calibrated({SessionOf("a", 1, {1}), SessionOf("a", 2, {1, 2})}, tokens, 0);
  EXPECT_EQ(WriteCalibration(one_day), WriteCalibration(two_days));
  const Calibration only_one = Calibrated({SessionOf("a", 1, {1})}, tokens, 0);
  EXPECT_EQ(only_one.tails[0].seen().count(), 0);
  EXPECT_EQ(only_one.alarm.sessions, 0);
  EXPECT_EQ(only_one.roles.size(), 1U);
}

// A person whose sessions are each a little unusual reaches more than one with as many that are not.
TEST(Calibrator, DripsAreOfPrincipalsInOrder) {
  std::vector<BaselineSession> sessions;
  for (int day = 0; day < 100; ++day) {
    BaselineSession session = SessionOf("a", day, {1});
    session.figures[Figure::kAddressed] = day < 6 ? 5 : 1;
    session.principal = "a" + std::to_string(day % 50);
    sessions.push_back(session);
  }
  const TokenMap tokens = {{1, {"x"}}};
  const double spread = Calibrated(sessions, tokens, 0).alarm.drip.reached;
  // q = 1, P(> 1) = .06, beta = 4: u(5) = -lg10(.06/e), and the 90th percentile of combined is 0.
  const double each = -std::log10(.06) + 1 / std::log(10);
  EXPECT_NEAR(spread, each, .05);
  for (int day = 0; day < 6; ++day) sessions[static_cast<std::size_t>(day)].principal = "slow";
  EXPECT_NEAR(Calibrated(sessions, tokens, 0).alarm.drip.reached, 6 * each, .3);
}

TEST(Calibrator, RefusesWhatIsWrong) {
  const TokenMap tokens = {{1, {"x"}}};
  EXPECT_EQ(ErrorOf([&] { Calibrator({}, tokens, 1); }),
            "22023 expected_novelty must be at least 0 and below 1, not 1");
  EXPECT_EQ(ErrorOf([&] { Calibrator({}, tokens, -.1); }),
            "22023 expected_novelty must be at least 0 and below 1, not -0.1");
  EXPECT_EQ(ErrorOf([&] { Calibrator({}, tokens, std::nan("")); }),
            "22023 expected_novelty must be at least 0 and below 1, not nan");
  EXPECT_EQ(ErrorOf([&] { Calibrator({SessionOf("a", 1, {2})}, tokens, .1); }),
            "XX001 could not read internal data: an abstraction without tokens");
  BaselineSession session = SessionOf("a", 1, {1});
  session.executions = {1, 2};
  EXPECT_EQ(ErrorOf([&] { Calibrator({session}, tokens, .1); }),
            "XX001 could not read internal data: abstractions without executions");
  session.executions = {1};
  session.figures[Figure::kVolume] = std::nan("");
  EXPECT_EQ(ErrorOf([&] { Calibrator({session}, tokens, .1); }),
            "XX001 could not read internal data: figures of a session");
}

TEST(Calibrator, GoesOnWhereItWas) {
  std::mt19937_64 random(41);
  const DetectionWorld world = RandomWorld(random, {3, 14, 9, 60, 5});
  static int questions;
  static int until;
  WorkControl control;
  control.work_between_questions = 1;
  control.interrupted = [] { return ++questions > until; };
  Calibrator calibrator(world.sessions, world.tokens, .1);
  int calls = 1;
  for (questions = 0, until = 1; !calibrator.Run(control); questions = 0, until = calls / 4) {
    ++calls;
    ASSERT_LT(calls, 100000);
  }
  EXPECT_GT(calls, 20);
  EXPECT_EQ(WriteCalibration(calibrator.calibration()), WriteCalibration(Calibrated(world.sessions, world.tokens, .1)));
}

}  // namespace
}  // namespace privacy_score
