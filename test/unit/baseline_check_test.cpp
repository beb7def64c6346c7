/*
 * baseline_check_test.cpp - leave one day out, the fence, how far a baseline identifies.
 */
#include "core/scoring/baseline_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/error.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

BaselineCheck Check(const ModelRows& model, const ScoreSettings& settings, const std::vector<TestSession>& sessions) {
  return CheckBaseline(HistoryWire(model, settings, sessions), "analyst", "2026-01-01", "2026-01-31");
}

// Four days of the worked baseline log and a fifth day.
std::vector<TestSession> FourDaysAnd(const std::vector<AbstractionId>& fifth) {
  std::vector<TestSession> sessions;
  for (int day = 1; day <= 4; ++day) sessions.push_back({"2026-01-0" + std::to_string(day), {kG, kGd, kG, kGd}});
  sessions.push_back({"2026-01-05", fifth});
  return sessions;
}

// median + 3.5 * 1.4826 * MAD, at least 1, from four days on.
TEST(OutlierFence, WorkedNumbers) {
  EXPECT_DOUBLE_EQ(OutlierFence({1, 2, 3, 4, 100}), 3 + 3.5 * 1.4826 * 1);
  EXPECT_DOUBLE_EQ(OutlierFence({100, 4, 2, 3}), 3.5 + 3.5 * 1.4826 * 1);
  EXPECT_EQ(OutlierFence({0, 0, 0, 0, 5}), 1);
  EXPECT_EQ(OutlierFence({.1, .2, .1, .2}), 1);
  EXPECT_TRUE(std::isinf(OutlierFence({0, 0, 9})));
  EXPECT_TRUE(std::isinf(OutlierFence({})));
}

// Almost half of the days may be bad without hiding each other.
TEST(OutlierFence, BearsManyOutliers) {
  EXPECT_LT(OutlierFence({2, 2.5, 3, 3.5, 50, 60, 2.2}), 50);
  EXPECT_GT(OutlierFence({2, 2.5, 3, 3.5, 50, 60, 2.2}), 3.5);
}

// The days of docs/scoring.md, section 5: against the log g gd g gd the day lg lgd gd has 1.5504, and the day g gd lgd
// has .6891.
TEST(CheckBaseline, TheWorkedDays) {
  const BaselineCheck bad = Check(WorkedModel(), Published(), FourDaysAnd({kLg, kLgd, kGd}));
  ASSERT_EQ(bad.days.size(), 5U);
  for (std::size_t day = 0; day < 4; ++day) {
    EXPECT_EQ(bad.days[day].score, 0);
    EXPECT_FALSE(bad.days[day].outlier);
  }
  EXPECT_NEAR(bad.days[4].score, 1.5504, 5e-5);
  EXPECT_TRUE(bad.days[4].outlier);
  EXPECT_FALSE(bad.days[4].estimated);
  EXPECT_EQ(bad.fence, 1);
  EXPECT_EQ(bad.worst, bad.days[4].score);
  EXPECT_TRUE(bad.missing.empty());
  EXPECT_EQ(bad.outlier_detail,
            "{\"version\": 1, \"cause\": \"2026-01-01 to 2026-01-31\", \"from_day\": \"2026-01-01\", \"to_day\": "
            "\"2026-01-31\", \"days\": [{\"day\": \"2026-01-05\", \"score\": " +
                TextOf(bad.worst) + ", \"estimated\": false}], \"fence\": 1, \"days_compared\": 5}");

  const BaselineCheck fair = Check(WorkedModel(), Published(), FourDaysAnd({kG, kGd, kLgd}));
  EXPECT_NEAR(fair.days[4].score, .6891, 5e-5);
  EXPECT_FALSE(fair.days[4].outlier);
  EXPECT_EQ(fair.worst, 0);
}

TEST(CheckBaseline, AFenceAboveTheFloor) {
  // Each day has a statement of its own pair; the days differ, so the fence is theirs and not the floor.
  const BaselineCheck check = Check(WorkedModel(), ScoreSettings(),
                                    {{"2026-01-01", {kG}},
                                     {"2026-01-02", {kGd, kGh}},
                                     {"2026-01-03", {kLg, kG}},
                                     {"2026-01-04", {kGh, kG, kGd}},
                                     {"2026-01-05", {kLgd, kG, kLgd}}});
  EXPECT_GT(check.fence, 1);
  for (const BaselineDay& day : check.days) EXPECT_EQ(day.outlier, day.score > check.fence);
}

TEST(CheckBaseline, FewDaysSayNothing) {
  const BaselineCheck check = Check(WorkedModel(), Published(), {{"2026-01-01", {kG}}, {"2026-01-02", {kLgd, kLg}}});
  EXPECT_TRUE(check.days.empty());
  EXPECT_EQ(check.worst, 0);
  EXPECT_NE(check.outlier_detail.find("\"days\": [], \"fence\": null, \"days_compared\": 0"), std::string::npos)
      << check.outlier_detail;
  // As an imported baseline has it: no sessions at all.
  EXPECT_NEAR(Check(WorkedModel(), Published(), {}).rate.upper, .6554588, 1e-6);
}

// What the header says cannot be seen.
TEST(CheckBaseline, TwoEqualDaysVouchForEachOther) {
  auto sessions = FourDaysAnd({kLg, kLgd, kGd});
  sessions.push_back({"2026-01-06", {kLg, kLgd, kGd}});
  EXPECT_EQ(Check(WorkedModel(), Published(), sessions).worst, 0);
}

TEST(CheckBaseline, OtherRolesAndEmptySessionsDoNotCount) {
  auto sessions = FourDaysAnd({kLg, kLgd, kGd});
  sessions.push_back({"2026-01-06", {}});
  sessions.push_back({"2026-01-07", {kLg, kLgd, kGd}, "other"});
  EXPECT_EQ(Check(WorkedModel(), Published(), sessions).days.size(), 5U);
}

TEST(CheckBaseline, HowFarItIdentifies) {
  const BaselineCheck check = Check(WorkedModel(), Published(), {});
  EXPECT_TRUE(check.rate.exact());
  EXPECT_NEAR(check.rate.upper, .6554588, 1e-6);
  EXPECT_EQ(check.columns, (std::vector<std::string>{"public.hospital.department", "public.hospital.gender"}));
  EXPECT_NE(check.rate_detail.find("\"combined_rate\": 0.6554"), std::string::npos) << check.rate_detail;
  EXPECT_NE(check.rate_detail.find("\"relation_rates\": {\"public.hospital\": 0.6554"), std::string::npos)
      << check.rate_detail;
  EXPECT_NE(check.rate_detail.find("\"rates\": {\"public.hospital.department\": 0.418"), std::string::npos);

  ModelRows unknown = WorkedModel();
  unknown.rates.clear();
  const BaselineCheck bounded = Check(unknown, Published(), {});
  EXPECT_FALSE(bounded.rate.exact());
  EXPECT_EQ(bounded.rate.upper, 1);
  // All columns together, and each of them for the alert.
  std::vector<std::string> missing;
  for (const MissingRate& rate : bounded.missing) missing.push_back(rate.attributes);
  EXPECT_EQ(missing, (std::vector<std::string>{"public.hospital.department",
                                               "public.hospital.department\x01public.hospital.gender",
                                               "public.hospital.gender"}));

  ModelRows identifiers = WorkedModel();
  for (auto& attribute : identifiers.attributes) attribute[3] = "t";
  EXPECT_EQ(Check(identifiers, ScoreSettings(), {}).rate.upper, 0);
}

TEST(CheckBaseline, SaysWhatIsEstimated) {
  ModelRows unknown = WorkedModel();
  unknown.rates.clear();
  const BaselineCheck check = Check(unknown, Published(), FourDaysAnd({kLg, kLgd, kGd}));
  EXPECT_TRUE(check.days[4].estimated);
  EXPECT_FALSE(check.missing.empty());
}

TEST(CheckBaseline, Refusals) {
  const std::string wire = HistoryWire(WorkedModel(), Published(), FourDaysAnd({kLg}));
  EXPECT_FALSE(Finishes([&] { CheckBaseline(wire, "analyst", "", "", [] { return true; }); }));
  EXPECT_THROW(CheckBaseline(wire, "nobody", "", ""), Error);
  ScoreSettings bad;
  bad.ngram_length = 0;
  EXPECT_THROW(Check(WorkedModel(), bad, {}), Error);
}

// The short way equals making the baseline of the other days anew and scoring the day against it.
TEST(CheckBaseline, EqualsScoresAgainstBaselinesMadeAnew) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 20; ++trial) {
    ScoreSettings settings;
    settings.ngram_length = 1 + trial % 3;
    settings.counting = trial % 2 == 0 ? ScoreSettings::kSet : ScoreSettings::kMultiset;
    settings.pad = trial % 5 != 0;
    std::vector<TestSession> sessions;
    for (int day = 1; day <= 5; ++day) {
      for (unsigned session = random() % 3 + 1; session > 0; --session) {
        TestSession drawn{"2026-01-0" + std::to_string(day), {}};
        for (unsigned i = random() % 5 + 1; i > 0; --i) drawn.ids.push_back(kG + random() % 5);
        sessions.push_back(drawn);
      }
    }
    const BaselineCheck check = Check(WorkedModel(), settings, sessions);
    ASSERT_EQ(check.days.size(), 5U);
    for (const BaselineDay& day : check.days) {
      ModelRows model = WorkedModel();
      model.baselines.clear();
      model.ngrams.clear();
      model.session_sets.clear();
      std::vector<Sequence> others;
      std::vector<TestSession> own;
      for (const TestSession& session : sessions) {
        if (session.day == day.day)
          own.push_back(session);
        else
          others.push_back(SequenceOf(session.ids));
      }
      model.AddBaseline(1, "analyst", others);
      const HistoryResult scored = ScoreDays(HistoryWire(model, settings, own));
      ASSERT_EQ(scored.table.rows.size(), 1U);
      EXPECT_EQ(Number(scored.table.rows[0][5]), day.score) << "trial " << trial << ", day " << day.day;
    }
  }
}

}  // namespace
}  // namespace privacy_score
