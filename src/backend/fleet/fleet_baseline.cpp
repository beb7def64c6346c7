/*
 * fleet_baseline.cpp - one baseline of what all members have recorded.
 *
 * set_baseline() makes it here, of the members' sessions in place of those of this database, in a subtransaction that
 * is rolled back: nothing is left of it but the baseline as export_baseline() writes it, which members are ordered to
 * put in force.
 */
#include "backend/fleet/fleet_copies.hpp"
#include "backend/server/guarded.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"

extern "C" {
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_fleet_set_baseline);
}

namespace {

// Whose baseline of which days, as text parameters; null: of the role, and of all days.
struct WantedBaseline {
  const char* role;
  const char* from;
  const char* to;
  const char* end_user;
};

constexpr const char* kOfThoseDays =
    "role = $1::pg_catalog.name AND ($2 IS NULL OR day >= '2000-01-01'::pg_catalog.date + $2::pg_catalog.int4) AND ($3 "
    "IS NULL OR day <= '2000-01-01'::pg_catalog.date + $3::pg_catalog.int4)";

// A condition without parameters is what the member gets to see, and so reads no more than it asks for.
char* ShippedCondition(const WantedBaseline& wanted) {
  const char* args[] = {wanted.role, wanted.from, wanted.to};
  return InternalValue(
      "SELECT pg_catalog.format('role = %L', $1) || CASE WHEN $2 IS NULL THEN '' ELSE pg_catalog.format(' AND day >= "
      "%L::pg_catalog.date', '2000-01-01'::pg_catalog.date + $2::pg_catalog.int4) END || CASE WHEN $3 IS NULL THEN '' "
      "ELSE pg_catalog.format(' AND day <= %L::pg_catalog.date', '2000-01-01'::pg_catalog.date + $3::pg_catalog.int4) "
      "END",
      3, args);
}

// Takes the sessions of a member in, with its number before the names that they have there.
void TakeSessions(const char* member, const char* condition) {
  const char* args[] = {member};
  (void)RunInternal(
      psprintf(
          "WITH r AS MATERIALIZED (SELECT * FROM %s WHERE %s), a AS (INSERT INTO privacy_score.abstraction (id, "
          "tokens, "
          "first_seen, last_seen) SELECT DISTINCT ON (t.id) t.id::pg_catalog.int8, ARRAY(SELECT "
          "pg_catalog.jsonb_array_elements_text(t.list)), r.started, r.last_at FROM r, "
          "pg_catalog.jsonb_each(r.tokens) t(id, list) ON CONFLICT (id) DO NOTHING), "
          "s AS (INSERT INTO privacy_score.session (role, session, day, started, last_at, source, queries, refused, "
          "reach, subjects, subject_columns, enforced, cells, end_user, client_addr, application_name, tls, "
          "auth_method, addressed, person, most_rows, known, differ) SELECT DISTINCT ON (r.session, r.started) r.role, "
          "$1 || ' ' || r.session, r.day, r.started, r.last_at, 'import', r.queries, r.refused, r.reach, r.subjects, "
          "r.subject_columns, r.enforced, r.cells, r.end_user, r.client_addr, r.application_name, r.tls, "
          "r.auth_method, r.addressed, r.person, r.most_rows, r.known, r.differ FROM r RETURNING id, session, started) "
          "INSERT INTO privacy_score.session_part (session_id, part, ids, runs, rows) SELECT s.id, r.part, r.ids, "
          "r.runs, r.rows FROM r JOIN s ON s.session = $1 || ' ' || r.session AND s.started = r.started",
          MakePartsOf(member), condition),
      1, args);
}

// The baseline as JSON; null where no member has recorded a session. In a transaction that is rolled back.
char* MakeBaseline(const WantedBaseline& wanted) {
  const char* days[] = {wanted.role, wanted.from, wanted.to};
  (void)RunInternal(psprintf("DELETE FROM privacy_score.session WHERE %s", kOfThoseDays), 3, days);
  const char* condition = ShippedCondition(wanted);
  if (SPI_execute("SELECT m.id::pg_catalog.int8 FROM privacy_score.fleet_member m ORDER BY m.id", true, 0) < 0)
    elog(ERROR, "could not read the members of the fleet");
  const auto count = static_cast<int>(SPI_processed);
  auto* members = static_cast<char**>(palloc(sizeof(char*) * static_cast<Size>(Max(count, 1))));
  for (int i = 0; i < count; ++i) members[i] = FieldText(static_cast<uint64>(i), 0);
  for (int i = 0; i < count; ++i) TakeSessions(members[i], condition);
  const char* args[] = {wanted.role, wanted.from, wanted.to, wanted.end_user};
  const char* made = InternalValue(
      psprintf(
          "SELECT privacy_score.set_baseline($1::pg_catalog.name, pg_catalog.min(s.day), pg_catalog.max(s.day), $4) "
          "FROM privacy_score.session s WHERE %s AND ($4 IS NULL OR s.end_user = $4) HAVING pg_catalog.count(*) > "
          "0",
          kOfThoseDays),
      4, args);
  if (made == nullptr) return nullptr;
  const char* whose[] = {wanted.role, wanted.end_user};
  return InternalValue("SELECT privacy_score.export_baseline($1::pg_catalog.name, $2)", 2, whose);
}

// The same in the caller's memory, leaving nothing behind.
char* BaselineOfAll(const WantedBaseline& wanted) {
  MemoryContext caller = CurrentMemoryContext;
  char* baseline = nullptr;
  ErrorData* error = InSubtransaction(
      [&] {
        InternalScope scope;
        EnterInternal(&scope);
        // What set_baseline() has to say of this server is not about its members.
        SetWithin("client_min_messages", "error");
        const char* made = MakeBaseline(wanted);
        if (made != nullptr) baseline = MemoryContextStrdup(caller, made);
        LeaveInternal(&scope);
      },
      Keeps::kNothing);
  if (error != nullptr) ReThrowError(error);
  return baseline;
}

}  // namespace

Datum ps_fleet_set_baseline(PG_FUNCTION_ARGS) {
  RequirePrimary("fleet_set_baseline");
  if (PG_ARGISNULL(0)) ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("role must not be NULL")));
  const auto day = [fcinfo](int argument) -> const char* {
    if (PG_ARGISNULL(argument) || DATE_NOT_FINITE(PG_GETARG_DATEADT(argument))) return nullptr;
    return TextOfInteger(PG_GETARG_DATEADT(argument));
  };
  const WantedBaseline wanted = {NameStr(*PG_GETARG_NAME(0)), day(1), day(2),
                                 PG_ARGISNULL(3) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(3))};
  const char* by = GetUserNameFromId(GetUserId(), false);
  const bool no_days = (!PG_ARGISNULL(1) && DATE_IS_NOEND(PG_GETARG_DATEADT(1))) ||
                       (!PG_ARGISNULL(2) && DATE_IS_NOBEGIN(PG_GETARG_DATEADT(2)));
  const char* baseline = no_days ? nullptr : BaselineOfAll(wanted);
  if (baseline == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("no member has recorded sessions of \"%s\" on these days", wanted.role),
                    errhint("privacy_score.fleet_days shows what members have recorded.")));
  InternalScope scope;
  EnterInternal(&scope);
  const char* args[] = {baseline, by, wanted.role, wanted.end_user};
  // Of two baselines that wait the later one counts. A standby gets its primary's.
  (void)RunInternal(
      "DELETE FROM privacy_score.fleet_order o WHERE o.kind = 'baseline' AND o.detail->>'role' = $3 AND "
      "o.detail->>'end_user' IS NOT DISTINCT FROM $4 AND $1 IS NOT NULL AND $2 IS NOT NULL",
      4, args);
  (void)RunInternal(
      "INSERT INTO privacy_score.fleet_order (member, kind, detail, asked_by) SELECT m.id, 'baseline', "
      "$1::pg_catalog.jsonb, $2::pg_catalog.name FROM privacy_score.fleet_member m LEFT JOIN "
      "privacy_score.fleet_condition c ON c.member = m.id WHERE c.in_recovery IS NOT TRUE ORDER BY m.id",
      2, args);
  const char* sessions = InternalValue("SELECT $1::pg_catalog.jsonb->>'sessions'", 1, args);
  const int64 count = strtoll(sessions == nullptr ? "0" : sessions, nullptr, 10);
  LeaveInternal(&scope);
  PG_RETURN_INT64(count);
}

}  // namespace privacy_score
