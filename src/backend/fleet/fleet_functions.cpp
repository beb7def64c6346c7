/*
 * fleet_functions.cpp - members of a fleet, what they are ordered to do, and the sum of what a principal did on all.
 */
#include "backend/fleet/fleet_copies.hpp"
#include "backend/server/array_elements.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "core/scoring/score_sum.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_fleet_add);
PG_FUNCTION_INFO_V1(ps_fleet_remove);
PG_FUNCTION_INFO_V1(ps_fleet_acknowledge);
PG_FUNCTION_INFO_V1(ps_carry_out_order);
PG_FUNCTION_INFO_V1(ps_score_sum);
PG_FUNCTION_INFO_V1(ps_running_score_sums);
}

namespace {

// Says where nothing will be collected, and why.
void WarnUnlessCollected() {
  const char* hub = GetConfigOption("privacy_score.fleet_database", true, false);
  const char* here = get_database_name(MyDatabaseId);
  if (hub != nullptr && here != nullptr && strcmp(hub, here) == 0) return;
  ereport(WARNING, (errmsg("nothing is collected in this database"),
                    errhint("Set privacy_score.fleet_database = '%s' in postgresql.conf and restart the server, with "
                            "privacy_score in shared_preload_libraries.",
                            here == nullptr ? "" : here)));
}

// The foreign server by which a member is reached; raises where there is none that the caller may use.
ForeignServer* RequireServer(const char* name) {
  ForeignServer* server = GetForeignServerByName(name, true);
  if (server == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("server \"%s\" does not exist", name),
                    errhint("CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw makes one; docs/fleet.md has all "
                            "steps.")));
  if (!MayUseServer(server->serverid, GetUserId()))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for server \"%s\"", name),
                    errhint("GRANT USAGE ON FOREIGN SERVER allows it.")));
  const ForeignDataWrapper* wrapper = GetForeignDataWrapper(server->fdwid);
  char* handler = OidIsValid(wrapper->fdwhandler) ? get_func_name(wrapper->fdwhandler) : nullptr;
  if (handler == nullptr || strcmp(handler, "postgres_fdw_handler") != 0)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("server \"%s\" is not one of postgres_fdw", name),
                    errhint("Members are PostgreSQL servers; CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw.")));
  bool ends = false;
  ListCell* cell;
  foreach (cell, server->options) ends = ends || strcmp(lfirst_node(DefElem, cell)->defname, "connect_timeout") == 0;
  if (!ends)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("server \"%s\" has no connect_timeout", name),
             errdetail("A member that does not answer would keep this server from shutting down."),
             errhint("ALTER SERVER %s OPTIONS (ADD connect_timeout '5') gives it one.", quote_identifier(name))));
  return server;
}

// The number of a member, as text; raises where there is none of that name. In an internal scope.
char* RequireMember(const char* name) {
  const char* args[] = {name};
  char* id = InternalValue("SELECT m.id FROM privacy_score.fleet_member m WHERE m.name = $1", 1, args);
  if (id == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("the fleet has no member \"%s\"", name),
                    errhint("privacy_score.fleet_info lists the members.")));
  return id;
}

}  // namespace

Datum ps_fleet_add(PG_FUNCTION_ARGS) {
  RequirePrimary("fleet_add");
  char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
  if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a member's name has 1 to %d bytes", NAMEDATALEN - 1)));
  const ForeignServer* server = RequireServer(NameStr(*PG_GETARG_NAME(1)));
  const char* args[] = {name, server->servername, GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  const char* id = InternalValue(
      "INSERT INTO privacy_score.fleet_member (name, server, added_by) VALUES ($1, $2::pg_catalog.name, "
      "$3::pg_catalog.name) ON CONFLICT (name) DO NOTHING RETURNING id",
      3, args);
  if (id == nullptr)
    ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT), errmsg("the fleet has a member \"%s\" already", name),
                    errhint("fleet_remove() ends its membership.")));
  LeaveInternal(&scope);
  WarnUnlessCollected();
  PG_RETURN_VOID();
}

Datum ps_fleet_remove(PG_FUNCTION_ARGS) {
  RequirePrimary("fleet_remove");
  const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
  InternalScope scope;
  EnterInternal(&scope);
  const char* id = RequireMember(name);
  const char* args[] = {id};
  // First, so that a collector which is at it is waited for.
  (void)RunInternal("DELETE FROM privacy_score.fleet_member WHERE id = $1::pg_catalog.int4", 1, args);
  (void)RunInternal("DELETE FROM privacy_score.fleet_order WHERE member = $1::pg_catalog.int4", 1, args);
  (void)RunInternal("DELETE FROM privacy_score.fleet_state WHERE member = $1::pg_catalog.int4", 1, args);
  DropCopies(id);
  LeaveInternal(&scope);
  PG_RETURN_VOID();
}

Datum ps_fleet_acknowledge(PG_FUNCTION_ARGS) {
  RequirePrimary("fleet_acknowledge");
  const char* name = text_to_cstring(PG_GETARG_TEXT_PP(0));
  const char* alert = TextOfInteger(PG_GETARG_INT64(1));
  const char* by = GetUserNameFromId(GetUserId(), false);
  InternalScope scope;
  EnterInternal(&scope);
  const char* args[] = {RequireMember(name), alert, by};
  if (InternalValue("SELECT a.id FROM privacy_score.fleet_alert a WHERE a.member = $1::pg_catalog.int4 AND a.id = "
                    "$2::pg_catalog.int8",
                    2, args) == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("member \"%s\" has no alert %s that is known here", name, alert),
                    errhint("privacy_score.fleet_alerts lists the alerts.")));
  // A standby can mark nothing: the hub does, and sends no order.
  if (PG_GETARG_INT64(1) < 0) {
    (void)RunInternal(
        "INSERT INTO privacy_score.fleet_order (member, kind, detail, asked_by) SELECT $1::pg_catalog.int4, 'seen', "
        "pg_catalog.jsonb_build_object('id', $2::pg_catalog.int8), $3::pg_catalog.name WHERE NOT EXISTS (SELECT FROM "
        "privacy_score.fleet_order o WHERE o.member = $1::pg_catalog.int4 AND o.kind = 'seen' AND "
        "(o.detail->>'id')::pg_catalog.int8 = $2::pg_catalog.int8)",
        3, args);
    LeaveInternal(&scope);
    PG_RETURN_VOID();
  }
  // What is asked for again is tried again at once.
  const uint64 again = RunInternal(
      "UPDATE privacy_score.fleet_order SET failed_at = NULL WHERE member = $1::pg_catalog.int4 AND kind = "
      "'acknowledge' AND (detail->>'id')::pg_catalog.int8 = $2::pg_catalog.int8",
      2, args);
  if (again == 0)
    (void)RunInternal(
        "INSERT INTO privacy_score.fleet_order (member, kind, detail, asked_by) VALUES ($1::pg_catalog.int4, "
        "'acknowledge', pg_catalog.jsonb_build_object('id', $2::pg_catalog.int8), $3::pg_catalog.name)",
        3, args);
  LeaveInternal(&scope);
  PG_RETURN_VOID();
}

Datum ps_carry_out_order(PG_FUNCTION_ARGS) {
  if (!CALLED_AS_TRIGGER(fcinfo)) elog(ERROR, "carry_out_order() is a trigger");
  const auto* trigger = reinterpret_cast<const TriggerData*>(fcinfo->context);
  if (!TRIGGER_FIRED_INSTEAD(trigger->tg_event) || !TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
    elog(ERROR, "carry_out_order() stands in the place of an INSERT");
  const TupleDesc columns = RelationGetDescr(trigger->tg_relation);
  // With the caller's rights: SPI runs as who inserts.
  ConnectSpi();
  const char* kind = SPI_getvalue(trigger->tg_trigtuple, columns, SPI_fnumber(columns, "kind"));
  const char* detail = SPI_getvalue(trigger->tg_trigtuple, columns, SPI_fnumber(columns, "detail"));
  const char* sql = nullptr;
  if (kind != nullptr && strcmp(kind, "acknowledge") == 0)
    sql =
        "SELECT privacy_score.acknowledge_alert((($1::pg_catalog.jsonb) OPERATOR(pg_catalog.->>) "
        "'id')::pg_catalog.int8)";
  else if (kind != nullptr && strcmp(kind, "baseline") == 0)
    sql = "SELECT privacy_score.import_baseline($1::pg_catalog.jsonb)";
  if (sql == nullptr || detail == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("there is no order \"%s\"", kind == nullptr ? "NULL" : kind),
                    errhint("Orders are acknowledge and baseline, with their detail.")));
  const char* args[] = {detail};
  if (strcmp(kind, "acknowledge") == 0 &&
      InternalValue("SELECT ($1::pg_catalog.jsonb) OPERATOR(pg_catalog.->>) 'id'", 1, args) == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("an order to acknowledge has no id"),
                    errhint("Its detail is {\"id\": NUMBER}.")));
  (void)InternalValue(sql, 1, args);
  SPI_finish();
  PG_RETURN_POINTER(trigger->tg_trigtuple);
}

namespace {

// Calls add(index, score, times) for each pair that is not NULL.
template <typename Add>
void ForEachScore(ArrayType* score_array, ArrayType* times_array, Add add) {
  constexpr double kMostScore = 6;              // of an n-gram at the recorded length
  constexpr int64 kMostTimes = int64{1} << 50;  // of which an array may be full
  const ElementList scores = ElementsOf(score_array);
  const ElementList times = ElementsOf(times_array);
  if (scores.count != times.count)
    ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
                    errmsg("there are %d scores and %d numbers", scores.count, times.count)));
  for (int i = 0; i < scores.count; ++i) {
    if (scores.nulls[i] || times.nulls[i]) continue;
    const double score = DatumGetFloat8(scores.values[i]);
    const int64 number = DatumGetInt64(times.values[i]);
    if (!(score >= 0 && score <= kMostScore))
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("a score is from 0 to %.0f", kMostScore)));
    if (number < -kMostTimes || number > kMostTimes)
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("a score counts at most 2^50 times")));
    add(i, score, number);
  }
}

}  // namespace

Datum ps_score_sum(PG_FUNCTION_ARGS) {
  ScoreSum sum;
  ForEachScore(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1),
               [&](int, double score, int64 times) { sum.Add(score, times); });
  PG_RETURN_FLOAT8(sum.value());
}

Datum ps_running_score_sums(PG_FUNCTION_ARGS) {
  const ElementList places = ElementsOf(PG_GETARG_ARRAYTYPE_P(0));
  int32 most = 0;
  for (int i = 0; i < places.count; ++i) {
    const int32 place = places.nulls[i] ? 0 : DatumGetInt32(places.values[i]);
    if (place < 1 || static_cast<Size>(place) > MaxAllocSize / sizeof(ScoreSum))
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("there is no place %d", place)));
    most = Max(most, place);
  }
  auto* sums = static_cast<ScoreSum*>(palloc(sizeof(ScoreSum) * static_cast<Size>(most + 1)));
  for (int i = 0; i <= most; ++i) sums[i] = ScoreSum();
  int count = 0;
  ForEachScore(PG_GETARG_ARRAYTYPE_P(1), PG_GETARG_ARRAYTYPE_P(2), [&](int i, double score, int64 times) {
    if (i < places.count) sums[DatumGetInt32(places.values[i])].Add(score, times);
    count = i + 1;
  });
  if (count > places.count)
    ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("there are more scores than places")));
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(most + 1)));
  for (int i = 1; i <= most; ++i) {
    sums[i].Add(sums[i - 1]);
    values[i - 1] = Float8GetDatum(sums[i].value());
  }
  PG_RETURN_ARRAYTYPE_P(ArrayOf(FLOAT8OID, values, nullptr, most));
}

}  // namespace privacy_score
