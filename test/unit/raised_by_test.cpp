/*
 * raised_by_test.cpp - what of a session raised its alarm: the reason, and whatever else would have.
 */
#include "core/detection/raised_by.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "alarm_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

TEST(RaisedBy, IsTheReasonAndWhateverElseIsAsUnusual) {
  const auto alarm = SmallAlarm();
  const RoleCalibration& calibration = alarm->calibration();
  SessionFigures figures;
  figures[Figure::kTokens] = 0;
  figures[Figure::kAddressed] = 900;
  figures[Figure::kPerson] = 2;
  figures[Figure::kRepeats] = 700;
  const double threshold = calibration.alarm.Threshold(.01).value;
  RaisedBy raised = FindRaisedBy(&calibration, figures, threshold, {Figure::kAddressed});
  EXPECT_FALSE(raised.statements);
  EXPECT_EQ(raised.heights, (std::vector<Figure>{Figure::kAddressed, Figure::kRepeats}));
  // A reason counts however usual it is by now.
  raised = FindRaisedBy(&calibration, figures, threshold, {Figure::kTokens, Figure::kPerson});
  EXPECT_TRUE(raised.statements);
  EXPECT_EQ(raised.heights, (std::vector<Figure>{Figure::kAddressed, Figure::kPerson, Figure::kRepeats}));
  figures[Figure::kTokens] = 900;
  EXPECT_TRUE(FindRaisedBy(&calibration, figures, threshold, {}).statements);
}

TEST(RaisedBy, IsTheReasonAloneWithoutACalibration) {
  SessionFigures figures;
  figures[Figure::kAddressed] = 900;
  figures[Figure::kRepeats] = 700;
  const RaisedBy raised = FindRaisedBy(nullptr, figures, 2, {Figure::kRepeats, Figure::kVolume});
  EXPECT_FALSE(raised.statements);
  EXPECT_EQ(raised.heights, (std::vector<Figure>{Figure::kRepeats}));
}

}  // namespace
}  // namespace privacy_score
