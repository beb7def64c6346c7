/*
 * fleet_copies.cpp - see fleet_copies.hpp.
 */
#include "backend/fleet/fleet_copies.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
}

#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

// A view of members and the table of its copies.
struct Copied {
  const char* view;
  const char* table;
};
constexpr Copied kSessions = {"export_sessions", "fleet_session"};
constexpr Copied kRoles = {"export_roles", "fleet_role"};
constexpr Copied kDays = {"export_days", "fleet_day"};
constexpr Copied kNGrams = {"export_ngrams", "fleet_ngram"};
constexpr Copied kAlerts = {"export_alerts", "fleet_alert"};
constexpr Copied kInfo = {"export_info", "fleet_condition"};
constexpr Copied kCopied[] = {kSessions, kRoles, kDays, kNGrams, kAlerts, kInfo};

// Views of members of which nothing is copied.
constexpr const char* kOrders = "hub_orders";
constexpr const char* kParts = "export_parts";

// By which the two views that have days are read in parts.
constexpr const char* kRecent = "recent";
bool HasDays(const Copied& copied) { return copied.view == kDays.view || copied.view == kNGrams.view; }

// The foreign table of this session that shows a view of a member: its name alone, and with its schema.
char* ForeignName(const char* member, const char* view) { return psprintf("fleet_%s_%s", member, view); }
char* ForeignTable(const char* member, const char* view) { return psprintf("pg_temp.%s", ForeignName(member, view)); }

// A list of the columns of a table of copies, without the member: of all, or of those of its primary key, each written
// in the form that `format` has for %I, with its type at %s.
char* Columns(const Copied& copied, bool keys, const char* format, const char* between) {
  const char* args[] = {copied.table, keys ? "t" : "f", format, between};
  char* list = InternalValue(
      "SELECT pg_catalog.string_agg(pg_catalog.format($3, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)), "
      "$4 ORDER BY a.attnum) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_constraint c ON c.conrelid = a.attrelid "
      "AND c.contype = 'p' WHERE a.attrelid = ('privacy_score.' || $1)::pg_catalog.regclass AND a.attnum > 0 AND NOT "
      "a.attisdropped AND a.attname <> 'member' AND (a.attnum = ANY (c.conkey) OR NOT $2::pg_catalog.bool)",
      4, args);
  return list == nullptr ? pstrdup("") : list;
}

// Whatever stands in its place in this session goes first.
void MakeForeignTable(const char* member, const char* view, const char* columns, const char* server) {
  const char* table = ForeignTable(member, view);
  // Internal scopes keep code of others from making temporary tables.
  Oid user;
  int context;
  GetUserIdAndSecContext(&user, &context);
  SetUserIdAndSecContext(user, context & ~SECURITY_RESTRICTED_OPERATION);
  (void)RunInternal(psprintf("DROP FOREIGN TABLE IF EXISTS %s", table));
  (void)RunInternal(psprintf(
      "CREATE FOREIGN TABLE %s (%s) SERVER %s OPTIONS (schema_name 'privacy_score', table_name '%s', fetch_size "
      "'500')",
      table, columns, quote_identifier(server), view));
  SetUserIdAndSecContext(user, context);
}

// The foreign server of a member; null where it is none.
char* ServerOf(const char* member) {
  const char* args[] = {member};
  return InternalValue("SELECT m.server FROM privacy_score.fleet_member m WHERE m.id = $1::pg_catalog.int4", 1, args);
}

// Makes the copy what the member shows: the rows that `where` is true of are read, those among the copies that
// `where_here` is true of and that are no longer shown go, and what stands here as it is there is not written.
void Collect(const char* member, const Copied& copied, const char* where = "true", const char* where_here = "true") {
  const char* columns = Columns(copied, false, "%I", ", ");
  const char* same = Columns(copied, true, "r.%1$I = c.%1$I", " AND ");
  const char* keys = Columns(copied, true, ", %I", "");
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfo(
      &sql,
      "WITH r AS MATERIALIZED (SELECT %s FROM %s WHERE %s), "
      "gone AS (DELETE FROM privacy_score.%s c WHERE c.member = $1::pg_catalog.int4 AND (%s) AND NOT EXISTS (SELECT "
      "FROM r%s%s)) "
      "INSERT INTO privacy_score.%s AS c (member, %s) SELECT $1::pg_catalog.int4, r.* FROM r "
      "ON CONFLICT (member%s) DO UPDATE SET (%s) = ROW (%s) WHERE (%s) IS DISTINCT FROM (%s)",
      columns, ForeignTable(member, copied.view), where, copied.table, where_here, same[0] == '\0' ? "" : " WHERE ",
      same, copied.table, columns, keys, columns, Columns(copied, false, "excluded.%I", ", "),
      Columns(copied, false, "c.%I", ", "), Columns(copied, false, "excluded.%I", ", "));
  const char* args[] = {member};
  (void)RunInternal(sql.data, 1, args);
}

// The condition that a row of the member has changed since a moment before it last answered, by its own clock.
char* ChangedSince(const char* member) {
  const char* args[] = {member};
  const char* since = InternalValue(
      "SELECT pg_catalog.quote_literal((r.member_now - '1 minute'::pg_catalog.interval)::pg_catalog.text) FROM "
      "privacy_score.fleet_condition r WHERE r.member = $1::pg_catalog.int4",
      1, args);
  return since == nullptr ? pstrdup("true") : psprintf("changed_at >= %s::pg_catalog.timestamptz", since);
}

// What all days of the member rest on, and the day that is today there; null before it was ever asked.
char* DaysRestOn(const char* member) {
  const char* args[] = {member};
  return InternalValue(
      "SELECT r.scored_under || ' ' || r.today FROM privacy_score.fleet_condition r WHERE r.member = "
      "$1::pg_catalog.int4",
      1, args);
}

// Whether the member has other alerts than those that have changed of late make of the copies: some are gone, or were
// written late.
bool AlertsDiffer(const char* member) {
  const char* args[] = {member};
  return InternalValue(
             "SELECT i.member FROM privacy_score.fleet_condition i, LATERAL (SELECT pg_catalog.concat_ws(' ', "
             "pg_catalog.count(*), pg_catalog.max(a.id), EXTRACT(epoch FROM pg_catalog.min(a.at))) AS alerts FROM "
             "privacy_score.fleet_alert a WHERE a.member = i.member) here WHERE i.member = $1::pg_catalog.int4 AND "
             "i.alerts IS DISTINCT FROM here.alerts",
             1, args) != nullptr;
}

// What was acknowledged here of alerts that the member does not show any more.
void ForgetSeen(const char* member) {
  const char* args[] = {member};
  (void)RunInternal(
      "DELETE FROM privacy_score.fleet_order o WHERE o.member = $1::pg_catalog.int4 AND o.kind = 'seen' AND NOT EXISTS "
      "(SELECT FROM privacy_score.fleet_alert a WHERE a.member = o.member AND a.id = "
      "(o.detail->>'id')::pg_catalog.int8)",
      1, args);
}

// Raises where the member has shown no state of its own: then it shows nobody's sessions either.
void RequireCondition(const char* member) {
  const char* args[] = {member};
  if (InternalValue("SELECT i.member FROM privacy_score.fleet_condition i WHERE i.member = $1::pg_catalog.int4", 1,
                    args) == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("the member shows nothing of itself"),
                    errdetail("Its login for this hub is no member of pg_read_all_stats there.")));
}

}  // namespace

void MakeForeignTables(const char* member) {
  // Not each time that a member does not answer: that would fill the catalogs.
  const char* args[] = {ForeignTable(member, kInfo.view)};
  if (InternalValue("SELECT pg_catalog.to_regclass($1)", 1, args) != nullptr) return;
  const char* server = ServerOf(member);
  if (server == nullptr) return;
  for (const Copied& copied : kCopied) {
    const char* columns = Columns(copied, false, "%I %s", ", ");
    MakeForeignTable(member, copied.view, HasDays(copied) ? psprintf("%s boolean, %s", kRecent, columns) : columns,
                     server);
  }
  MakeForeignTable(member, kOrders, "kind text, detail jsonb", server);
}

void HoldForeignTables(const char* member) {
  const auto hold = [member](const char* view) {
    RangeVar* table = makeRangeVar(pstrdup("pg_temp"), ForeignName(member, view), -1);
    (void)RangeVarGetRelidExtended(table, AccessShareLock, RVR_NOWAIT | RVR_MISSING_OK, nullptr, nullptr);
  };
  for (const Copied& copied : kCopied) hold(copied.view);
  hold(kOrders);
}

char* MakePartsOf(const char* member) {
  MakeForeignTable(
      member, kParts,
      "role name, end_user text, day date, session text, started timestamptz, last_at timestamptz, queries bigint, "
      "refused bigint, reach bigint, subjects bigint, subject_columns int, enforced float8, cells boolean, client_addr "
      "inet, application_name text, tls boolean, auth_method text, addressed bigint, person bigint, most_rows bigint, "
      "known bigint, differ bigint, part int, ids bigint[], runs bigint[], rows bigint[], tokens jsonb",
      ServerOf(member));
  return ForeignTable(member, kParts);
}

char* OrdersOf(const char* member) { return ForeignTable(member, kOrders); }

void DropCopies(const char* member) {
  const char* args[] = {member};
  for (const Copied& copied : kCopied)
    (void)RunInternal(psprintf("DELETE FROM privacy_score.%s WHERE member = $1::pg_catalog.int4", copied.table), 1,
                      args);
}

void CollectCopies(const char* member, bool days, bool all) {
  const char* rested_on = DaysRestOn(member);
  const char* changed = all ? "true" : ChangedSince(member);
  Collect(member, kInfo);
  RequireCondition(member);
  const char* rest_on = DaysRestOn(member);
  const bool anew = all || rested_on == nullptr || rest_on == nullptr || strcmp(rested_on, rest_on) != 0;
  Collect(member, kSessions);
  Collect(member, kAlerts, changed, all ? "true" : "false");
  if (AlertsDiffer(member)) {
    Collect(member, kAlerts);
    ForgetSeen(member);
  }
  if (!days && !anew) return;
  Collect(member, kRoles);
  for (const Copied& copied : {kDays, kNGrams}) {
    if (anew)
      Collect(member, copied);
    else
      Collect(member, copied, kRecent,
              "c.day >= (SELECT i.today - 1 FROM privacy_score.fleet_condition i WHERE i.member = c.member)");
  }
}

}  // namespace privacy_score
