/*
 * calibration_bytes_test.cpp - a calibration comes back exactly as it was written, and damaged bytes are refused.
 */
#include "core/detection/calibration_bytes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/base/error.hpp"
#include "detection_fixture.hpp"
#include "error_fixture.hpp"
#include "sanitizers.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

Calibration RandomCalibration(std::mt19937_64& random, int sessions) {
  const DetectionWorld world = RandomWorld(random, {3, 12, 9, sessions, 6});
  return Calibrated(world.sessions, world.tokens, .1);
}

void ExpectSame(const Tail& a, const Tail& b) {
  ASSERT_EQ(a.seen().points().size(), b.seen().points().size());
  for (std::size_t i = 0; i < a.seen().points().size(); ++i) {
    EXPECT_EQ(a.seen().points()[i].value, b.seen().points()[i].value);
    EXPECT_EQ(a.seen().points()[i].at_least, b.seen().points()[i].at_least);
    EXPECT_EQ(a.seen().points()[i].above, b.seen().points()[i].above);
  }
  EXPECT_EQ(a.excess().from, b.excess().from);
  EXPECT_EQ(a.excess().rate, b.excess().rate);
  EXPECT_EQ(a.excess().mean, b.excess().mean);
}

void ExpectSame(const RoleCalibration& a, const RoleCalibration& b) {
  EXPECT_EQ(a.role, b.role);
  EXPECT_EQ(a.tokens.sessions.of_role, b.tokens.sessions.of_role);
  EXPECT_EQ(a.tokens.sessions.of_all, b.tokens.sessions.of_all);
  EXPECT_EQ(a.tokens.usual_distinct, b.tokens.usual_distinct);
  ASSERT_EQ(a.tokens.with_token.size(), b.tokens.with_token.size());
  for (const auto& [token, with] : a.tokens.with_token) {
    EXPECT_EQ(with.of_role, b.tokens.with_token.at(token).of_role);
    EXPECT_EQ(with.of_all, b.tokens.with_token.at(token).of_all);
  }
  for (std::size_t i = 0; i < kFigureCount; ++i) ExpectSame(a.tails[i], b.tails[i]);
  EXPECT_EQ(a.is_of_all, b.is_of_all);
  EXPECT_EQ(a.alarm.sessions, b.alarm.sessions);
  EXPECT_EQ(a.alarm.complete, b.alarm.complete);
  EXPECT_EQ(a.alarm.drip.from, b.alarm.drip.from);
  EXPECT_EQ(a.alarm.drip.reached, b.alarm.drip.reached);
  EXPECT_EQ(a.alarm.new_drip.from, b.alarm.new_drip.from);
  EXPECT_EQ(a.alarm.new_drip.reached, b.alarm.new_drip.reached);
  for (const double rate : {.3, .01, .0001}) EXPECT_EQ(a.alarm.Threshold(rate).value, b.alarm.Threshold(rate).value);
}

TEST(CalibrationBytes, AreReadAsTheyWereWritten) {
  std::mt19937_64 random(43);
  for (int round = 0; round < 30; ++round) {
    const Calibration calibration = RandomCalibration(random, round * 6);
    const std::string bytes = WriteCalibration(calibration);
    const Calibration read = ReadCalibration(bytes);
    EXPECT_EQ(WriteCalibration(read), bytes);
    ASSERT_EQ(read.roles.size(), calibration.roles.size());
    for (std::size_t i = 0; i < read.roles.size(); ++i) {
      const RoleCalibration expected = calibration.Of(calibration.roles[i]);
      ExpectSame(read.Of(read.roles[i]), expected);
      const auto of_role = ReadRoleCalibration(bytes, calibration.roles[i].name);
      ASSERT_TRUE(of_role);
      ExpectSame(*of_role, expected);
    }
    EXPECT_FALSE(ReadRoleCalibration(bytes, "nobody"));
    EXPECT_FALSE(ReadRoleCalibration(bytes, ""));
  }
}

// What they are does not depend on the machine.
TEST(CalibrationBytes, HaveOneForm) {
  Calibration calibration;
  calibration.sessions = 300;
  calibration.tokens = {{"ab", 200}};
  const std::string bytes = WriteCalibration(calibration);
  EXPECT_EQ(bytes.substr(0, 14), std::string("PSCAL3\xac\x02\x01\x02"
                                             "ab\xc8\x01",
                                             14));
  // Fourteen tails of nothing, each with no points, and 0, 1 and 1 as the excess.
  EXPECT_EQ(bytes.substr(14, 25), std::string("\0"
                                              "\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\xf0\x3f"
                                              "\0\0\0\0\0\0\xf0\x3f",
                                              25));
}

TEST(CalibrationBytes, AreRefusedWhenCutShortOrLonger) {
  std::mt19937_64 random(47);
  const std::string bytes = WriteCalibration(RandomCalibration(random, 60));
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 200) {
    EXPECT_EQ(ErrorOf([&] { ReadCalibration(std::string_view(bytes).substr(0, size)); }).substr(0, 5), "XX001") << size;
    EXPECT_EQ(ErrorOf([&] { ReadRoleCalibration(std::string_view(bytes).substr(0, size), "role1"); }).substr(0, 5),
              "XX001");
  }
  EXPECT_EQ(ErrorOf([&] { ReadCalibration(bytes + '\0'); }), "XX001 could not read internal data: a calibration");
  EXPECT_EQ(ErrorOf([&] { ReadCalibration("PSCAL2" + bytes.substr(6)); }),
            "XX001 could not read internal data: a calibration");
}

// Another byte anywhere: refused, or read as what is whole in itself: written again it is those bytes, and figures can
// be judged by it.
TEST(CalibrationBytes, NeverMakeWhatIsNotWhole) {
  std::mt19937_64 random(53);
  const std::string bytes = WriteCalibration(RandomCalibration(random, 60));
  int refused = 0;
  int read = 0;
  for (int round = 0; round < (kSanitized ? 3000 : 30000); ++round) {
    std::string damaged = bytes;
    for (std::uint64_t left = 1 + random() % 3; left > 0; --left)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const Calibration calibration = ReadCalibration(damaged);
      ++read;
      ASSERT_EQ(WriteCalibration(calibration), damaged);
      for (const Calibration::Role& role : calibration.roles) {
        SessionFigures figures;
        double before = 0;
        for (double value = 0; value < 50; value += 7) {
          for (const Figure figure : kFigures) figures[figure] = value;
          const double combined = calibration.Of(role).Judge(figures).combined;
          ASSERT_GE(combined, before);
          ASSERT_LE(combined, 8);
          before = combined;
        }
        ASSERT_GE(calibration.alarm.DripLimit(.01), 0);
        ASSERT_FALSE(std::isnan(calibration.alarm.NewDripLimit(.01)));
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.sqlstate(), "XX001");
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace privacy_score
