/*
 * alarm_reason_test.cpp - each figure's reason in words.
 */
#include "core/detection/alarm_reason.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace privacy_score {
namespace {

// `usual` in 99 of 100 sessions.
std::string Reason(Figure figure, double value, double usual, bool is_of_all = false) {
  RoleCalibration role;
  std::vector<double> seen(99, usual);
  seen.push_back(usual * 2);
  const auto place = static_cast<std::size_t>(figure);
  role.tails[place] = Tail(seen);
  role.is_of_all[place] = is_of_all;
  SessionFigures figures;
  figures[figure] = value;
  const Judgement judgement = role.Judge(figures);
  return ReasonInWords(judgement, figures, role);
}

TEST(AlarmReason, SaysWhatWasDoneAndWhatIsUsual) {
  EXPECT_EQ(Reason(Figure::kAddressed, 34, 6),
            "addressed 34 subjects by one statement; 99 % of this role's sessions at most 6");
  EXPECT_EQ(Reason(Figure::kTokens, 1234.56, 31.02, true),
            "ran statements that hold 1,234.6 bits unknown to the role's baseline; 99 % of all roles' sessions at most "
            "31.1");
  EXPECT_EQ(Reason(Figure::kTokensMax, 31, .5, true),
            "ran one statement that holds 31 bits unknown to the role's baseline; 99 % of all roles' sessions at most "
            "0.5");
  EXPECT_EQ(Reason(Figure::kUnknown, .8, .125, true),
            "ran as many new statements as are 80 % of a usual session; 99 % of all roles' sessions at most 13 %");
  EXPECT_EQ(
      Reason(Figure::kFilters, 66.44, 3, true),
      "searched by conditions that hold 66.4 bits unknown to the role's baseline, added up over executions; 99 % of "
      "all roles' sessions at most 3");
  EXPECT_EQ(Reason(Figure::kOtherRoles, 5, 1, true),
            "ran 5 statements of other roles' baselines, unknown to its own; 99 % of all roles' sessions at most 1");
  EXPECT_EQ(Reason(Figure::kNewColumns, 1, 0, true),
            "showed 1 column that no session of the role's baseline shows; 99 % of all roles' sessions at most 0");
  EXPECT_EQ(
      Reason(Figure::kNewRuns, 30, 2, true),
      "ran statements that name what the role's baseline never does 30 times; 99 % of all roles' sessions at most "
      "2");
  EXPECT_EQ(Reason(Figure::kNewRepeats, 30, 2, true),
            "ran one statement unknown to the role's baseline 30 times; 99 % of all roles' sessions at most 2");
  EXPECT_EQ(Reason(Figure::kPerson, 1, 0),
            "asked for 1 column of one subject, added up over statements; 99 % of this role's sessions at most 0");
  EXPECT_EQ(Reason(Figure::kPerson, 12.25, 2),
            "asked for 12.3 columns of one subject, added up over statements; 99 % of this role's sessions at most 2");
  EXPECT_EQ(Reason(Figure::kKnown, 9, 4),
            "came to know 9 columns of one subject within five days; 99 % of this role's sessions at most 4");
  EXPECT_EQ(Reason(Figure::kDiffer, 5, 0),
            "asked 5 aggregates that differ from another by one record; 99 % of this role's sessions at most 0");
  EXPECT_EQ(Reason(Figure::kDiffer, 1, 0),
            "asked 1 aggregate that differs from another by one record; 99 % of this role's sessions at most 0");
  EXPECT_EQ(Reason(Figure::kRepeats, 1234567, 1000),
            "ran one statement 1,234,567 times; 99 % of this role's sessions at most 1,000");
  EXPECT_EQ(Reason(Figure::kVolume, VolumeOf(204800), VolumeOf(400)),
            "read 204,800 rows by one statement; 99 % of this role's sessions at most 400");
  EXPECT_EQ(Reason(Figure::kVolume, VolumeOf(12345), 0),
            "read 12,345 rows by one statement; 99 % of this role's sessions at most 100");
}

TEST(AlarmReason, IsEmptyWhereNothingIsUnusual) {
  EXPECT_EQ(Reason(Figure::kAddressed, 3, 6), "");
  EXPECT_EQ(ReasonInWords({}, {}, {}), "");
}

}  // namespace
}  // namespace privacy_score
