/*
 * day_functions.cpp - score(): scores of days, those that are over from what is kept of them.
 *
 * What is not kept, or is kept of other settings, declarations or baselines than are in force, is computed from the
 * recorded statements: of a day that was scored before with the rates of then, else with those of now. Which days are
 * kept is read first, and of these alone no history: so no day is missed that is kept in between.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/rates/kept_scores.hpp"
#include "backend/rates/rounds_of_rates.hpp"
#include "backend/rates/stored_rates.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include "access/xact.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
}

#include "backend/server/cancellable_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/role_access.hpp"
#include "core/scoring/history.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_score);
PG_FUNCTION_INFO_V1(ps_score_anew);
PG_FUNCTION_INFO_V1(ps_rescore);
PG_FUNCTION_INFO_V1(ps_scored_under);
}

namespace {

// The days that a call has, on the C++ heap.
struct ScoredDays {
  std::vector<ScoredDay> all;
  std::string known;  // which of them are kept, a literal of date[]
  EachDayResult computed;
  ResultTable table;
};

// Reads what is kept of the role's days in a range. Inside an internal scope.
void TakeKept(ScoredDays* days, const ScoredUnder& under, const char* role, const char* from_day, const char* to_day) {
  StringInfoData wire;
  initStringInfo(&wire);
  AppendKeptDays(&wire, under, role, from_day, to_day);
  CallCoreOrRaise([&] {
    WireReader reader(WireBytes(&wire));
    days->all = ReadKeptDays(reader);
    std::vector<std::string> known;
    known.reserve(days->all.size());
    for (const ScoredDay& day : days->all) known.push_back(day.day);
    days->known = ArrayText(known);
  });
  pfree(wire.data);
}

// Scores days that are not kept, until their rates are exact.
void ScoreGroup(ScoredDays* days, const HistoryRange& range) {
  const ScoreSettings settings = ScoreSettingsInForce();
  ComputedRates computed;
  ComputeInRounds(
      &computed, [&](StringInfo wire) { AppendHistory(wire, &computed, settings, range); },
      [&](StringInfo wire) {
        RunCancellable([&] { days->computed = ScoreEachDay(WireBytes(wire), StatementEnds); });
        const auto& missing = days->computed.missing;
        ComputeRatesOrWarn(&computed, WantedFrom(&missing), static_cast<int>(missing.size()));
      });
  if (computed.count > 0 && !XactReadOnly) NoteModelChange();
  CallCoreOrRaise([&] {
    auto& of_group = days->computed.days;
    days->all.insert(days->all.end(), std::make_move_iterator(of_group.begin()),
                     std::make_move_iterator(of_group.end()));
    days->computed = EachDayResult();
  });
}

// The rows of score(). `anew`: nothing but rates is taken from what is kept; what these lack of days that are to be
// scored again is taken from the rates in force, as score() does.
void PutDays(FunctionCallInfo fcinfo, bool anew) {
  const char* role = NameStr(*PG_GETARG_NAME(0));
  ReadableRole(role);
  RequireDays(PG_GETARG_DATEADT(1), PG_GETARG_DATEADT(2));
  const char* from_day = TextOfDay(PG_GETARG_DATEADT(1));
  const char* to_day = TextOfDay(PG_GETARG_DATEADT(2));
  CoreHolder<ScoredDays>* holder = NewCoreHolder<ScoredDays>(CurrentMemoryContext);
  CallCoreOrRaise([&] { holder->Reset(new ScoredDays{{}, "{}", {}, {}}); });
  ScoredDays* days = holder->object;
  InternalScope scope;
  EnterInternal(&scope);
  const ScoredUnder under = ScoresUnder(ScoreSettingsInForce());
  if (!anew) TakeKept(days, under, role, from_day, to_day);
  const DayGroup* groups = DayGroups(under, role, from_day, to_day, days->known.c_str());
  LeaveInternal(&scope);
  for (const DayGroup* group = groups; group != nullptr; group = group->next)
    ScoreGroup(days, {role, from_day, to_day, group->days, group->kept_rates, group->kept});
  const ScoreSettings settings = ScoreSettingsInForce();
  CallCoreOrRaise([&] { days->table = WithCumulative(std::move(days->all), settings.counting); });
  PutResult(fcinfo, days->table, 0);
  holder->Reset(nullptr);
  GiveBackMemory(kGivenBackOfHistory);
}

}  // namespace

// score(role, from_day, to_day)
Datum ps_score(PG_FUNCTION_ARGS) {
  PutDays(fcinfo, false);
  return Datum(0);
}

// score_anew(role, from_day, to_day)
Datum ps_score_anew(PG_FUNCTION_ARGS) {
  PutDays(fcinfo, true);
  return Datum(0);
}

// rescore(role, from_day, to_day)
Datum ps_rescore(PG_FUNCTION_ARGS) {
  RequirePrimary("rescore");
  RequireReadCommitted("rescore");
  RequireDays(PG_GETARG_DATEADT(1), PG_GETARG_DATEADT(2));
  const char* args[] = {NameStr(*PG_GETARG_NAME(0)), TextOfDay(PG_GETARG_DATEADT(1)), TextOfDay(PG_GETARG_DATEADT(2))};
  InternalScope scope;
  EnterInternal(&scope);
  LockKept();
  const char* days = InternalValue(
      "WITH d AS (DELETE FROM privacy_score.kept_day WHERE role = $1::pg_catalog.name AND day BETWEEN "
      "$2::pg_catalog.date AND $3::pg_catalog.date RETURNING day), "
      "r AS (DELETE FROM privacy_score.kept_role WHERE role = $1::pg_catalog.name) "
      "SELECT pg_catalog.count(DISTINCT d.day) FROM d",
      lengthof(args), args);
  LeaveInternal(&scope);
  PG_RETURN_INT64(strtoll(days, nullptr, 10));
}

// scored_under()
Datum ps_scored_under(PG_FUNCTION_ARGS) {
  InternalScope scope;
  EnterInternal(&scope);
  const ScoredUnder under = ScoresUnder(ScoreSettingsInForce());
  LeaveInternal(&scope);
  PG_RETURN_TEXT_P(cstring_to_text(under.all));
}

}  // namespace privacy_score
