/*
 * baseline_check.hpp - whether the days that a baseline is made of are fit to be called normal (ours).
 *
 * A baseline made while somebody was already pulling out data calls that normal. Three things are looked at:
 *
 * - Days that stand out, leave one day out: each day is scored against the baseline of the other days. A day stands out
 *   when its score is above the fence max(kFenceFloor, median + 3.5 * 1.4826 * MAD of the scores of all days), the
 *   modified z-score of Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993), above 3.5. Median and MAD,
 *   the median distance from the median, bear almost half of the days being bad; quartiles bear a quarter, which of
 *   four days is none. Below four days nothing is said. The floor keeps a day from standing out for a trifle where most
 *   scores are 0: 1 is what one statement adds that tells everything, in one position. Two days that did the same
 *   unusual thing vouch for each other: leaving one out cannot show them.
 * - How far it identifies: CDR of all that the baseline reveals, and by relation: where that is above kHighRate delta
 *   has little left to say of the relation.
 * - Its size: the number of sessions, which the caller judges.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/paused.hpp"
#include "core/scoring/history.hpp"

namespace privacy_score {

inline constexpr std::size_t kLeastDays = 4;
inline constexpr double kFenceFloor = 1;
inline constexpr double kHighRate = .95;

// The fence of the scores of days; above every score with fewer than kLeastDays of them.
double OutlierFence(std::vector<double> scores);

// A day of the baseline, scored against the other days.
struct BaselineDay {
  std::string day;
  double score = 0;
  bool estimated = false;
  bool outlier = false;
};

struct BaselineCheck {
  std::vector<BaselineDay> days;  // in their order
  double fence = 0;
  double worst = 0;                  // greatest score of a day that stands out; 0 when none does
  RateBounds rate;                   // CDR of all that the baseline reveals and delta counts
  std::vector<std::string> columns;  // these columns
  // What alerts say and what is kept with the version, as JSON: version, cause, from_day, to_day and
  std::string outlier_detail;  // days (day, score, estimated of those that stand out), fence, days_compared
  std::string rate_detail;     // columns, rates, combined_rate, combined_rate_exact, relation_rates
  std::vector<MissingRate> missing;
};

// Checks the baseline of `role` that the model holds, or of an end user of it (empty: none). `wire` holds the sections
// of Model::Read, of settings and of the sessions that the baseline is made of (none when they are not known: then no
// day is compared). Throws Paused when `gives_up` says so, and Error 22023 on bad settings.
BaselineCheck CheckBaseline(std::string_view wire, const std::string& role, const std::string& from_day,
                            const std::string& to_day, GivesUp gives_up = nullptr, const std::string& end_user = {});

}  // namespace privacy_score
