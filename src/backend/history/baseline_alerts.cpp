/*
 * baseline_alerts.cpp - see baseline_alerts.hpp.
 */
#include "backend/history/baseline_alerts.hpp"

#include "backend/history/end_user_argument.hpp"

#include "backend/rates/model_wire.hpp"
#include "backend/rates/rounds_of_rates.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/alerts.hpp"
#include "backend/state/internal.hpp"

extern "C" {
#include "access/xact.h"
#include "miscadmin.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
}

#include "backend/server/cancellable_call.hpp"
#include "backend/server/core_call.hpp"
#include "core/scoring/baseline_check.hpp"

namespace privacy_score {

namespace {

using privacy_score::BaselineCheck;
using privacy_score::MissingRate;

constexpr int kDaysShown = 5;

// The version in force; days in ISO form, or infinite.
struct ActiveBaseline {
  const char* role;
  const char* end_user;  // null: the role's own
  const char* from_day;
  const char* to_day;
  int64 sessions;
};

// What the caller is told of days that stand out.
struct Outliers {
  int days;
  const char* names;  // of the first ones
};

// The condition of the baseline in force of role $1 and end user $2.
#define SQL_IN_FORCE "b.role = $1::pg_catalog.name AND b.end_user IS NOT DISTINCT FROM $2 AND b.active"

ActiveBaseline ReadActiveBaseline(const char* role, const char* end_user) {
  const char* args[] = {role, end_user};
  const char* const kDays[] = {"from_day", "to_day"};
  const char* days[2];
  InternalScope scope;
  EnterInternal(&scope);
  for (int i = 0; i < 2; ++i)
    days[i] = InternalValue(psprintf("SELECT CASE WHEN pg_catalog.isfinite(b.%s) THEN pg_catalog.to_char(b.%s, "
                                     "'YYYY-MM-DD') ELSE b.%s::text END FROM privacy_score.baseline b "
                                     "WHERE " SQL_IN_FORCE,
                                     kDays[i], kDays[i], kDays[i]),
                            2, args);
  const char* sessions = InternalValue("SELECT b.sessions FROM privacy_score.baseline b WHERE " SQL_IN_FORCE, 2, args);
  LeaveInternal(&scope);
  if (sessions == nullptr) elog(ERROR, "%s has no baseline in force", PrincipalText(role, end_user));
  return {role, end_user, days[0], days[1], strtoll(sessions, nullptr, 10)};
}

// The sections that core reads. Inside an internal scope.
void AppendEverything(StringInfo wire, const ComputedRates* computed, const ActiveBaseline* baseline, bool with_days) {
  // Internal queries read with the snapshot at hand, which must have what this command wrote.
  CommandCounterIncrement();
  PushActiveSnapshot(GetTransactionSnapshot());
  AppendModel(wire, ModelScope::kBaselines, computed, baseline->role);
  AppendSettings(wire, ScoreSettingsInForce());
  if (with_days)
    AppendSessions(wire, baseline->role, baseline->from_day, baseline->to_day, baseline->end_user);
  else
    AppendSessions(wire, baseline->role, "infinity", "-infinity");
  PopActiveSnapshot();
}

// Computes what core wants as far as that can be done. A relation that somebody holds locked is not waited for long.
void ComputeWhatCanBe(ComputedRates* computed, const std::vector<MissingRate>* missing) {
  InternalScope scope;
  EnterInternal(&scope);
  SetWithin("lock_timeout", "2s");
  ComputeRatesApart(
      computed, WantedFrom(missing), static_cast<int>(missing->size()),
      [](void*, const WantedRate*, const ErrorData*) {}, nullptr);
  LeaveInternal(&scope);
}

void RunCheck(CoreHolder<BaselineCheck>* check, const ActiveBaseline* baseline, bool with_days) {
  ComputedRates computed;
  ComputeInRounds(
      &computed, [&](StringInfo wire) { AppendEverything(wire, &computed, baseline, with_days); },
      [&](StringInfo wire) {
        RunCancellable([&] {
          check->Reset(new BaselineCheck(
              privacy_score::CheckBaseline(WireBytes(wire), baseline->role, baseline->from_day, baseline->to_day,
                                           StatementEnds, baseline->end_user == nullptr ? "" : baseline->end_user)));
        });
        ComputeWhatCanBe(&computed, &check->object->missing);
      });
  GiveBackMemory();
}

Outliers OutliersOf(const BaselineCheck* check) {
  Outliers found = {};
  StringInfoData names;
  initStringInfo(&names);
  const std::size_t count = check->days.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!check->days[i].outlier) continue;
    if (++found.days <= kDaysShown)
      appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", check->days[i].day.c_str());
  }
  if (found.days > kDaysShown) appendStringInfoString(&names, ", ...");
  found.names = names.data;
  return found;
}

void Raise(const ActiveBaseline* baseline, const char* kind, double score, double limit, const char* detail) {
  const char* end_user = baseline->end_user == nullptr ? "" : baseline->end_user;
  const AlertRecord alert = {
      GetCurrentTimestamp(), baseline->role, end_user, "", kind, score, limit, false, detail, nullptr};
  InternalScope scope;
  EnterInternal(&scope);
  WriteAlert(&alert);
  LeaveInternal(&scope);
  LogAlert(&alert);
}

void WarnOfSize(const ActiveBaseline* baseline) {
  const int least = ps_settings.baseline_min_sessions;
  if (baseline->sessions >= least) return;
  Raise(
      baseline, "baseline_small", static_cast<double>(baseline->sessions), least,
      psprintf("{\"version\": 1, \"cause\": \"%s to %s\", \"from_day\": \"%s\", \"to_day\": \"%s\", "
               "\"sessions\": " INT64_FORMAT ", \"least\": %d}",
               baseline->from_day, baseline->to_day, baseline->from_day, baseline->to_day, baseline->sessions, least));
  ereport(WARNING, (errmsg_plural("baseline of %s has " INT64_FORMAT " session, fewer than %d",
                                  "baseline of %s has " INT64_FORMAT " sessions, fewer than %d",
                                  static_cast<unsigned long>(baseline->sessions),
                                  PrincipalText(baseline->role, baseline->end_user), baseline->sessions, least),
                    errhint("Work that is not in it counts as new. Take more days; "
                            "\"privacy_score.baseline_min_sessions\" sets the number.")));
}

void WarnOfOutliers(const ActiveBaseline* baseline, const BaselineCheck* check) {
  const Outliers outliers = OutliersOf(check);
  if (outliers.days == 0) return;
  Raise(baseline, "baseline_outlier", check->worst, check->fence, check->outlier_detail.c_str());
  ereport(WARNING, (errmsg("days that stand out in the baseline of %s: %d of %d (%s)",
                           PrincipalText(baseline->role, baseline->end_user), outliers.days,
                           static_cast<int>(check->days.size()), outliers.names),
                    errdetail("Scored against the other days, up to %.6g is usual here; the greatest score is %.6g.",
                              check->fence, check->worst),
                    errhint("What was done on such a day now counts as normal. Make the baseline of other days, then "
                            "privacy_score.score_ngrams() shows what was unusual.")));
}

// What was found stays with the version, for the view baselines, check_setup() and suggest_limits(). That the columns
// together identify almost everybody is no alert: it is so for most roles that work with persons.
void KeepFindings(const ActiveBaseline* baseline, const BaselineCheck* check, bool with_days) {
  const char* args[] = {baseline->role, baseline->end_user, check->rate_detail.c_str(),
                        with_days ? check->outlier_detail.c_str() : "{}"};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(
      "UPDATE privacy_score.baseline b SET checked = COALESCE(b.checked, '{}') || (($3::pg_catalog.jsonb || "
      "$4::pg_catalog.jsonb) - '{version,cause,from_day,to_day}'::text[]) WHERE " SQL_IN_FORCE,
      4, args);
  LeaveInternal(&scope);
}

// Alerts about a version that is no longer in force are nobody's concern any more: whoever has put another one in its
// place has seen to it.
void CloseAlertsOfOthers(const ActiveBaseline* baseline) {
  const char* args[] = {baseline->role, psprintf("%s to %s", baseline->from_day, baseline->to_day),
                        GetUserNameFromId(GetUserId(), false), baseline->end_user};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(
      "UPDATE privacy_score.alert SET acknowledged_at = pg_catalog.now(), acknowledged_by = $3::pg_catalog.name "
      "WHERE role = $1::pg_catalog.name AND end_user IS NOT DISTINCT FROM $4 AND kind ~ '^baseline_' AND cause <> $2 "
      "AND acknowledged_at IS NULL",
      4, args);
  LeaveInternal(&scope);
}

}  // namespace

void CheckBaselineInForce(const char* role, const char* end_user, bool with_days) {
  const ActiveBaseline baseline = ReadActiveBaseline(role, end_user);
  CloseAlertsOfOthers(&baseline);
  CoreHolder<BaselineCheck>* check = NewCoreHolder<BaselineCheck>(CurrentMemoryContext);
  RunCheck(check, &baseline, with_days);
  WarnOfSize(&baseline);
  WarnOfOutliers(&baseline, check->object);
  KeepFindings(&baseline, check->object, with_days);
}

}  // namespace privacy_score
