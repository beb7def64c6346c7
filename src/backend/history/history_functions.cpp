/*
 * history_functions.cpp - scores of recorded history, identification of abstractions.
 *
 * Each function gathers the model and the sessions as one buffer and lets core compute. Those that score compute the
 * rates that core found missing until none is left: then the answer is exact, but for the upper bounds of rates that
 * cannot be computed, of which a WARNING tells. The rates are kept in the table of rates, unless the transaction is
 * read-only, so live scores and scores of history rest on the same numbers.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/history/end_user_argument.hpp"
#include "backend/history/explain_problems.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/rates/query_rates.hpp"
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
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
}

#include "backend/server/cancellable_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/role_access.hpp"
#include "backend/text/text_statements.hpp"
#include "core/detection/detection_sections.hpp"
#include "core/scoring/explain.hpp"
#include "core/scoring/history.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_score_sessions);
PG_FUNCTION_INFO_V1(ps_score_ngrams);
PG_FUNCTION_INFO_V1(ps_explain_query);
PG_FUNCTION_INFO_V1(ps_identifications);
PG_FUNCTION_INFO_V1(ps_choose_ngram_length);
}

namespace {

using privacy_score::HistoryResult;
using privacy_score::MissingRate;

// Of a rate that cannot be computed the upper bound counts: who has made a table whose reading fails is not the one to
// decide whether scores can be asked for.
void ComputeWanted(ComputedRates* computed, const std::vector<MissingRate>* missing) {
  ComputeRatesOrWarn(computed, WantedFrom(missing), static_cast<int>(missing->size()));
}

// Returns the rows of what a holder has; that and what led to it goes back to the system.
template <typename T>
void PutAndForget(FunctionCallInfo fcinfo, const privacy_score::ResultTable& rows, CoreHolder<T>* holder,
                  int left_out = -1) {
  PutResult(fcinfo, rows, left_out);
  holder->Reset(nullptr);
  GiveBackMemory(kGivenBackOfHistory);
}

// Runs one function of core/scoring/history.hpp over a role's days until its rates are exact, and returns its rows.
void ScoreHistory(FunctionCallInfo fcinfo, HistoryResult (*score)(std::string_view, privacy_score::GivesUp),
                  int left_out) {
  const char* role = NameStr(*PG_GETARG_NAME(0));
  ReadableRole(role);
  RequireDays(PG_GETARG_DATEADT(1), PG_GETARG_DATEADT(2));
  const char* from_day = TextOfDay(PG_GETARG_DATEADT(1));
  const char* to_day = TextOfDay(PG_GETARG_DATEADT(2));
  CoreHolder<HistoryResult>* result = NewCoreHolder<HistoryResult>(CurrentMemoryContext);
  ComputedRates computed;
  ComputeInRounds(
      &computed,
      [&](StringInfo wire) {
        AppendHistory(wire, &computed, ScoreSettingsInForce(), {role, from_day, to_day});
      },
      [&](StringInfo wire) {
        RunCancellable([&] { result->Reset(new HistoryResult(score(WireBytes(wire), StatementEnds))); });
        ComputeWanted(&computed, &result->object->missing);
      });
  if (computed.count > 0 && !XactReadOnly) NoteModelChange();
  PutAndForget(fcinfo, result->object->table, result, left_out);
}

// Whoever explains a statement must be allowed to know its rates. A text that does not parse has none.
void RequireKnowableRates(const text* sql) {
  if (MayReadRole(InvalidOid)) return;
  const Oid hidden = HiddenRelation(RatedByText(sql));
  if (OidIsValid(hidden)) aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(hidden));
}

}  // namespace

// score_sessions(role, from_day, to_day)
Datum ps_score_sessions(PG_FUNCTION_ARGS) {
  ScoreHistory(fcinfo, privacy_score::ScoreSessions, 0);
  return Datum(0);
}

// score_ngrams(role, from_day, to_day)
Datum ps_score_ngrams(PG_FUNCTION_ARGS) {
  ScoreHistory(fcinfo, privacy_score::ScoreNGrams, 8);
  return Datum(0);
}

// explain_query(sql, role, end_user)
Datum ps_explain_query(PG_FUNCTION_ARGS) {
  if (PG_NARGS() < 3) RequireCurrentExtension();  // declared by an older version
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  const char* end_user = PG_ARGISNULL(2) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(2));
  if (!PG_ARGISNULL(2)) RequireEndUser(end_user, "Without an end user it is explained as a statement of the role.");
  const char* role = NameStr(*PG_GETARG_NAME(1));
  const Oid role_id = ReadableRole(role);
  RequireKnowableRates(PG_GETARG_TEXT_PP(0));
  RequireKnownRole(role, role_id);
  CoreHolder<privacy_score::Tokens>* tokens = TokensOfText(PG_GETARG_TEXT_PP(0), role_id);
  const ProblemList problems = ProblemsOf(*tokens->object);
  CoreHolder<privacy_score::Explained>* explained = NewCoreHolder<privacy_score::Explained>(CurrentMemoryContext);
  const privacy_score::ScoreSettings settings = ScoreSettingsInForce();
  ComputedRates computed;
  ComputeInRounds(
      &computed, [&](StringInfo wire) { AppendModel(wire, ModelScope::kBaselines, &computed, role); },
      [&](StringInfo wire) {
        CallCoreOrRaise([&] {
          explained->Reset(new privacy_score::Explained(
              privacy_score::ExplainQuery(WireBytes(wire), role, settings, *tokens->object,
                                          {problems.texts, problems.texts + problems.count}, end_user)));
        });
        ComputeWanted(&computed, &explained->object->missing);
      });
  GiveBackMemory(kGivenBackOfHistory);
  PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(explained->object->json.c_str())));
}

// identifications(): from the rates at hand; nothing is computed. Without pg_read_all_stats only of the own sessions.
Datum ps_identifications(PG_FUNCTION_ARGS) {
  const char* args[] = {MayReadRole(InvalidOid) ? nullptr : GetUserNameFromId(GetUserId(), false)};
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendModel(&wire, ModelScope::kAll, nullptr);
  AppendSection<IdSection>(
      &wire,
      "SELECT a.id FROM privacy_score.abstraction a WHERE $1 IS NULL OR a.id IN (SELECT pg_catalog.unnest(p.ids) "
      "FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id "
      "WHERE s.role = $1::pg_catalog.name) ORDER BY a.id",
      1, args);
  LeaveInternal(&scope);
  auto* rows = NewCoreHolder<privacy_score::ResultTable>(CurrentMemoryContext);
  const privacy_score::ScoreSettings settings = ScoreSettingsInForce();
  CallCoreOrRaise([&] {
    rows->Reset(new ResultTable());
    WireReader reader(WireBytes(&wire));
    const Model model = Model::Read(reader);
    for (const Row& row : reader.Section(IdSection::kColumns)) {
      const auto id = ParseInteger(*row[IdSection::kId]);
      const Tokens* tokens = model.FindTokens(id);
      if (tokens == nullptr) continue;
      const Identification found = IdentificationOf(model, *tokens, settings);
      std::optional<std::string> rate;
      if (found.rate.exact()) rate = TextOf(found.rate.upper);
      rows->object->rows.push_back({TextOf(id), rate});
    }
  });
  pfree(wire.data);
  PutAndForget(fcinfo, *rows->object, rows);
  return Datum(0);
}

// choose_ngram_length(role, from_day, to_day, longest)
Datum ps_choose_ngram_length(PG_FUNCTION_ARGS) {
  const char* role = NameStr(*PG_GETARG_NAME(0));
  ReadableRole(role);
  RequireDays(PG_GETARG_DATEADT(1), PG_GETARG_DATEADT(2));
  const int longest = PG_GETARG_INT32(3);
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendSessions(&wire, role, TextOfDay(PG_GETARG_DATEADT(1)), TextOfDay(PG_GETARG_DATEADT(2)));
  LeaveInternal(&scope);
  CoreHolder<privacy_score::ResultTable>* rows = NewCoreHolder<privacy_score::ResultTable>(CurrentMemoryContext);
  const bool pad = ps_settings.pad;
  CallCoreOrRaise([&] {
    rows->Reset(new privacy_score::ResultTable(privacy_score::ChooseNGramLength(WireBytes(&wire), longest, pad)));
  });
  pfree(wire.data);
  PutAndForget(fcinfo, *rows->object, rows);
  return Datum(0);
}

}  // namespace privacy_score
