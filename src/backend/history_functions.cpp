/*
 * history_functions.cpp - scores of recorded history, identification of abstractions, rates on demand.
 *
 * Each function gathers the model and the sessions as one buffer, lets core compute, and computes the rates that core
 * found missing until none is left; then the answer is exact. The rates are kept in the table of rates, so live scores
 * and scores of history rest on the same numbers.
 */
#include "internal.hpp"
#include "model_wire.hpp"
#include "progress.hpp"
#include "query_rates.hpp"
#include "relation_rates.hpp"
#include "settings.hpp"
#include "watching.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(ps_score);
PG_FUNCTION_INFO_V1(ps_score_sessions);
PG_FUNCTION_INFO_V1(ps_score_ngrams);
PG_FUNCTION_INFO_V1(ps_explain_query);
PG_FUNCTION_INFO_V1(ps_identifications);
PG_FUNCTION_INFO_V1(ps_choose_ngram_length);
PG_FUNCTION_INFO_V1(ps_analyze_relation);
}

#include "core/explain.hpp"
#include "core/history.hpp"
#include "core_call.hpp"
#include "text_statements.hpp"

namespace {

using privacy_score::HistoryResult;
using privacy_score::MissingRate;

// Rounds of computing missing rates; each brings new ones only where a bound had hidden them.
constexpr int kMostRounds = 16;

char* DayArgument(FunctionCallInfo fcinfo, int index) {
  return DatumGetCString(DirectFunctionCall1(date_out, PG_GETARG_DATUM(index)));
}

void CheckDays(FunctionCallInfo fcinfo, int first) {
  if (PG_GETARG_DATEADT(first) > PG_GETARG_DATEADT(first + 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("from_day must not be after to_day")));
}

// Computes the rates that core wants; returns false when there were none, or none could be computed.
bool ComputeWanted(ComputedRates* computed, const std::vector<MissingRate>* missing) {
  const int before = computed->count;
  const std::size_t count = missing->size();
  for (std::size_t i = 0; i < count; ++i) {
    CHECK_FOR_INTERRUPTS();
    SetProgress(i, count);
    ComputeMissingRate(computed, (*missing)[i].relation.c_str(), (*missing)[i].attributes.c_str());
  }
  return computed->count > before;
}

// Runs one function of core/history.hpp over a role's days until its rates are exact, and returns its rows.
void ScoreHistory(FunctionCallInfo fcinfo, HistoryResult (*score)(std::string_view), int left_out) {
  const char* role = NameStr(*PG_GETARG_NAME(0));
  ReadableRole(role);
  CheckDays(fcinfo, 1);
  const char* from_day = DayArgument(fcinfo, 1);
  const char* to_day = DayArgument(fcinfo, 2);
  CoreHolder<HistoryResult>* result = NewCoreHolder<HistoryResult>(CurrentMemoryContext);
  ComputedRates computed;
  InitComputedRates(&computed);
  for (int round = 0; round < kMostRounds; ++round) {
    StringInfoData wire;
    initStringInfo(&wire);
    InternalScope scope;
    EnterInternal(&scope);
    AppendModel(&wire, ModelScope::kAll, &computed);
    AppendSettings(&wire);
    AppendSessions(&wire, role, from_day, to_day);
    LeaveInternal(&scope);
    CallCoreOrRaise([&] { result->Reset(new HistoryResult(score(WireBytes(&wire)))); });
    pfree(wire.data);
    if (!ComputeWanted(&computed, &result->object->missing)) break;
  }
  if (computed.count > 0 && !XactReadOnly) NoteModelChange();
  PutResult(fcinfo, result->object->table, left_out);
}

// Rates tell about the rows, so whoever explains a statement must be able to read its columns, or all statistics.
void RequireReadableColumns(const text* sql) {
  if (MayReadRole(InvalidOid)) return;
  ListCell* cell;
  foreach (cell, RevealedByText(sql)) {
    const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
    if (pg_class_aclcheck(entry->relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) continue;
    for (int column = -1; (column = bms_next_member(entry->attributes, column)) >= 0;)
      if (pg_attribute_aclcheck(entry->relation, static_cast<AttrNumber>(column), GetUserId(), ACL_SELECT) !=
          ACLCHECK_OK)
        aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(entry->relation));
  }
}

// Raises 42703 when a name is not that of a column.
void RequireColumns(Oid relation, ArrayType* names) {
  Datum* elements;
  bool* nulls;
  int count;
  deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &elements, &nulls, &count);
  for (int i = 0; i < count; ++i) RequireColumn(relation, nulls[i] ? "NULL" : NameStr(*DatumGetName(elements[i])));
}

}  // namespace

// score(role, from_day, to_day)
Datum ps_score(PG_FUNCTION_ARGS) {
  ScoreHistory(fcinfo, privacy_score::ScoreDays, 0);
  return Datum(0);
}

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

// explain_query(sql, role)
Datum ps_explain_query(PG_FUNCTION_ARGS) {
  const char* role = NameStr(*PG_GETARG_NAME(1));
  const Oid role_id = ReadableRole(role);
  RequireReadableColumns(PG_GETARG_TEXT_PP(0));
  CoreHolder<privacy_score::Tokens>* tokens = TokensOfText(PG_GETARG_TEXT_PP(0), role_id);
  CoreHolder<privacy_score::Explained>* explained = NewCoreHolder<privacy_score::Explained>(CurrentMemoryContext);
  const privacy_score::ScoreSettings settings = ScoreSettingsInForce();
  ComputedRates computed;
  InitComputedRates(&computed);
  for (int round = 0; round < kMostRounds; ++round) {
    StringInfoData wire;
    initStringInfo(&wire);
    InternalScope scope;
    EnterInternal(&scope);
    AppendModel(&wire, ModelScope::kAll, &computed);
    LeaveInternal(&scope);
    CallCoreOrRaise([&] {
      explained->Reset(
          new privacy_score::Explained(privacy_score::ExplainQuery(WireBytes(&wire), role, settings, *tokens->object)));
    });
    if (!ComputeWanted(&computed, &explained->object->missing)) break;
  }
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
  AppendQuery(
      &wire,
      "SELECT a.id FROM privacy_score.abstraction a WHERE $1 IS NULL OR a.id IN (SELECT pg_catalog.unnest(p.ids) "
      "FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id "
      "WHERE s.role = $1::pg_catalog.name) ORDER BY a.id",
      1, args);
  LeaveInternal(&scope);
  CoreHolder<privacy_score::ResultTable>* rows = NewCoreHolder<privacy_score::ResultTable>(CurrentMemoryContext);
  const bool where_counts = ps_settings.where_counts;
  CallCoreOrRaise([&] {
    using namespace privacy_score;
    rows->Reset(new ResultTable());
    WireReader reader(WireBytes(&wire));
    const Model model = Model::Read(reader);
    for (const Row& row : reader.Section(1)) {
      const auto id = ParseInteger(*row[0]);
      const Tokens* tokens = model.FindTokens(id);
      if (tokens == nullptr) continue;
      const Identification found = IdentificationOf(model, *tokens, where_counts);
      std::optional<std::string> rate;
      if (found.rate.exact()) rate = TextOf(found.rate.upper);
      rows->object->rows.push_back({TextOf(id), rate});
    }
  });
  PutResult(fcinfo, *rows->object);
  return Datum(0);
}

// choose_ngram_length(role, from_day, to_day, longest)
Datum ps_choose_ngram_length(PG_FUNCTION_ARGS) {
  const char* role = NameStr(*PG_GETARG_NAME(0));
  ReadableRole(role);
  CheckDays(fcinfo, 1);
  const int longest = PG_GETARG_INT32(3);
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendSessions(&wire, role, DayArgument(fcinfo, 1), DayArgument(fcinfo, 2));
  LeaveInternal(&scope);
  CoreHolder<privacy_score::ResultTable>* rows = NewCoreHolder<privacy_score::ResultTable>(CurrentMemoryContext);
  const bool pad = ps_settings.pad;
  CallCoreOrRaise([&] {
    rows->Reset(new privacy_score::ResultTable(privacy_score::ChooseNGramLength(WireBytes(&wire), longest, pad)));
  });
  PutResult(fcinfo, *rows->object);
  return Datum(0);
}

// analyze_relation(relation, attributes): forgets what is known of the sets and computes it again.
Datum ps_analyze_relation(PG_FUNCTION_ARGS) {
  RequirePrimary("analyze_relation");
  if (PG_ARGISNULL(0)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("relation must not be NULL")));
  const Oid relation = PG_GETARG_OID(0);
  RequireOwner(relation);
  if (!PG_ARGISNULL(1)) RequireColumns(relation, PG_GETARG_ARRAYTYPE_P(1));
  Oid output;
  bool varlena;
  getTypeOutputInfo(NAMEARRAYOID, &output, &varlena);
  const char* args[] = {CanonicalRelationName(relation), TextOfOid(relation),
                        PG_ARGISNULL(1) ? nullptr : OidOutputFunctionCall(output, PG_GETARG_DATUM(1))};
  InternalScope scope;
  EnterInternal(&scope);
  StringInfoData sets;
  initStringInfo(&sets);
  // The wanted sets, each as "\x01"-joined qualified names.
  AppendQuery(&sets,
              "SELECT DISTINCT s FROM ("
              "SELECT pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) AS s FROM privacy_score.rate r "
              "WHERE r.relation_name = $1 AND $3 IS NULL "
              "UNION ALL SELECT a.name FROM privacy_score.model_attribute a "
              "WHERE a.relation = $2::pg_catalog.oid AND $3 IS NULL "
              "UNION ALL SELECT pg_catalog.string_agg(a.name, pg_catalog.chr(1) ORDER BY a.name COLLATE \"C\") "
              "FROM privacy_score.model_attribute a WHERE a.relation = $2::pg_catalog.oid "
              "AND a.attname = ANY ($3::pg_catalog.name[])) x WHERE s IS NOT NULL",
              3, args);
  LeaveInternal(&scope);
  CoreHolder<std::vector<MissingRate>>* wanted = NewCoreHolder<std::vector<MissingRate>>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    wanted->Reset(new std::vector<MissingRate>());
    privacy_score::WireReader reader(WireBytes(&sets));
    for (const auto& row : reader.Section(1)) wanted->object->push_back({args[0], std::string(*row[0])});
  });
  if (wanted->object->empty())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("relation \"%s\" is not protected, or has none of these columns", get_rel_name(relation)),
                    errhint("Declare it with privacy_score.protect().")));
  ComputedRates computed;
  InitComputedRates(&computed);
  BeginProgress("analyze_relation", relation, "computing rates");
  ComputeWanted(&computed, wanted->object);
  EndProgress();
  NoteModelChange();
  PG_RETURN_INT32(computed.count);
}
