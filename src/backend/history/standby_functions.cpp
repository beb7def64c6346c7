/*
 * standby_functions.cpp - what ran on a hot standby, from its files: as rows, and scored.
 *
 * The tables of a standby are its primary's. What ran on the standby itself is in files
 * (backend/state/standby_file.hpp) until it is promoted, and a hub sees it by the views export_*, which ask these
 * functions. Callers see what they may see of recorded sessions: their own, or all. Scores rest on the replicated
 * model, rates and baselines; rates that the primary has not stored are computed, and kept in this process for an hour,
 * as a hub asks again and again.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/rates/kept_scores.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/rates/rounds_of_rates.hpp"
#include "backend/rates/stored_rates.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/standby_file.hpp"

extern "C" {
#include "access/xlog.h"
#include "commands/extension.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/date.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
}

#include "backend/server/cancellable_call.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/role_access.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/history_file.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_standby_shows);
PG_FUNCTION_INFO_V1(ps_standby_parts);
PG_FUNCTION_INFO_V1(ps_standby_tokens);
PG_FUNCTION_INFO_V1(ps_standby_alerts);
PG_FUNCTION_INFO_V1(ps_standby_days);
PG_FUNCTION_INFO_V1(ps_standby_ngrams);
}

namespace {

// The role of which the caller may see what ran; null: of all.
const char* VisibleRole() { return MayReadRole(InvalidOid) ? nullptr : GetUserNameFromId(GetUserId(), false); }

StandbyFiles FilesAskedFor(FunctionCallInfo fcinfo) {
  RequireDays(PG_GETARG_DATEADT(0), PG_GETARG_DATEADT(1));
  return ReadStandbyFiles(get_extension_oid("privacy_score", false), PG_GETARG_DATEADT(0), PG_GETARG_DATEADT(1));
}

// The rows that core finds in the files.
Datum PutFiled(FunctionCallInfo fcinfo, ResultTable (*find)(const DayFiles&, const std::optional<std::string>&)) {
  const char* role = VisibleRole();
  const StandbyFiles files = FilesAskedFor(fcinfo);
  auto* table = NewCoreHolder<ResultTable>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    const DayFiles days(files.bytes, files.bytes + files.count);
    table->Reset(
        new ResultTable(find(days, role == nullptr ? std::nullopt : std::optional<std::string>(std::string(role)))));
  });
  PutResult(fcinfo, *table->object);
  table->Reset(nullptr);
  return Datum(0);
}

// Rates that nobody has stored, from one call to the next.
struct RatesOfProcess {
  MemoryContext context;
  ComputedRates rates;
  TimestampTz since;
  char* under;  // declarations that they rest on
};

// The memory for them while the same is declared; rows change on the primary without being counted here, so they do not
// live long.
RatesOfProcess* KeptRatesOfStandby(const char* under) {
  constexpr int kMost = 20000;
  static RatesOfProcess kept = {};
  const TimestampTz now = GetCurrentTimestamp();
  const bool holds = kept.context != nullptr && RecoveryInProgress() && now - kept.since < USECS_PER_HOUR &&
                     kept.rates.count < kMost && strcmp(kept.under, under) == 0;
  if (!holds) {
    if (kept.context != nullptr) MemoryContextDelete(kept.context);
    kept = {};
    MemoryContext context =
        AllocSetContextCreate(TopMemoryContext, "privacy_score rates of a standby", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(context);
    kept.context = context;
    kept.under = pstrdup(under);
    InitComputedRates(&kept.rates);
    kept.since = now;
    MemoryContextSwitchTo(old);
  }
  kept.rates.faulty = NIL;  // of a call that is over
  return &kept;
}

// What core makes of what ran, with exact rates.
struct ScoredStandby {
  EachDayResult days;
  HistoryResult ngrams;
};

Datum PutScored(FunctionCallInfo fcinfo, bool of_days) {
  const HistoryRange range = {
      VisibleRole(), TextOfDay(PG_GETARG_DATEADT(0)), TextOfDay(PG_GETARG_DATEADT(1)), nullptr, nullptr, false, true};
  auto* scored = NewCoreHolder<ScoredStandby>(CurrentMemoryContext);
  CallCoreOrRaise([&] { scored->Reset(new ScoredStandby()); });
  const ScoreSettings settings = ScoreSettingsInForce();
  if (FilesAskedFor(fcinfo).count > 0) {
    InternalScope scope;
    EnterInternal(&scope);
    RatesOfProcess* kept = KeptRatesOfStandby(ScoresUnder(settings).all);
    LeaveInternal(&scope);
    ComputeInRounds(
        &kept->rates, [&](StringInfo wire) { AppendHistory(wire, &kept->rates, settings, range); },
        [&](StringInfo wire) {
          RunCancellable([&] {
            if (of_days)
              scored->object->days = ScoreEachDay(WireBytes(wire), StatementEnds);
            else
              scored->object->ngrams = ScoreNGrams(WireBytes(wire), StatementEnds);
          });
          const auto& missing = of_days ? scored->object->days.missing : scored->object->ngrams.missing;
          ComputeRatesOrWarn(&kept->rates, WantedFrom(&missing), static_cast<int>(missing.size()));
        },
        true);
  }
  if (of_days)
    CallCoreOrRaise([&] {
      scored->object->ngrams.table = WithCumulative(std::move(scored->object->days.days), settings.counting);
    });
  PutResult(fcinfo, scored->object->ngrams.table);
  scored->Reset(nullptr);
  GiveBackMemory(kGivenBackOfHistory);
  return Datum(0);
}

}  // namespace

// standby_shows(): until a promoted server has recorded what ran before, a hub sees that and nothing else of it. Where
// no session has had the worker started since, this does.
Datum ps_standby_shows(PG_FUNCTION_ARGS) {
  if (RecoveryInProgress()) PG_RETURN_BOOL(true);
  if (!HaveStandbyFiles(get_extension_oid("privacy_score", false))) PG_RETURN_BOOL(false);
  DatabaseSlot* slot = ps_shared == nullptr ? nullptr : SlotOfDatabase(true);
  if (slot != nullptr) {
    EnsureWorker(slot);
    WakeWorker(slot);
  }
  PG_RETURN_BOOL(true);
}

// standby_parts(from_day, to_day)
Datum ps_standby_parts(PG_FUNCTION_ARGS) { return PutFiled(fcinfo, FiledParts); }

// standby_tokens(from_day, to_day)
Datum ps_standby_tokens(PG_FUNCTION_ARGS) { return PutFiled(fcinfo, FiledTokens); }

// standby_alerts(from_day, to_day)
Datum ps_standby_alerts(PG_FUNCTION_ARGS) { return PutFiled(fcinfo, FiledAlerts); }

// standby_days(from_day, to_day)
Datum ps_standby_days(PG_FUNCTION_ARGS) { return PutScored(fcinfo, true); }

// standby_ngrams(from_day, to_day)
Datum ps_standby_ngrams(PG_FUNCTION_ARGS) { return PutScored(fcinfo, false); }

}  // namespace privacy_score
