/*
 * report_functions.cpp - charts, and the report as a page.
 *
 * The report asks the views that everybody may ask, with the caller's rights, so each role's report holds what that
 * role may see. Drawing and page are core's (core/report/report.hpp).
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
}

#include "backend/catalog/catalog_source.hpp"
#include "backend/catalog/code_trust.hpp"
#include "backend/history/report_page.hpp"
#include "backend/history/report_queries.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/guarded.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/role_access.hpp"
#include "backend/watch/noisy_answer_reads.hpp"
#include "core/report/report.hpp"
#include "core/report/report_sections.hpp"
#include "core/report/score_chart.hpp"
#include "core/report/step_chart.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_report);
PG_FUNCTION_INFO_V1(ps_score_chart);
PG_FUNCTION_INFO_V1(ps_equivocation_chart);
}

using namespace report_queries;

namespace {

constexpr int kMostReleases = 50;
constexpr std::size_t kWorstSessions = 20;   // as in report_queries.hpp
constexpr std::size_t kMostWorstDays = 320;  // looked through for the worst sessions

// What the queries of a report are given as $1 to $7.
struct ReportScope {
  const char* roles;  // name[] that the caller may see
  const char* from_day;
  const char* to_day;
  const char* role;      // the one that was asked for, null for all
  const char* reads;     // oid[] of the protected tables that are read for it
  const char* refused;   // statements refused of the roles
  const char* settings;  // of the server, as jsonb; null when the library is not preloaded
};

// Whether a relation, which is locked, is a table without a policy for the caller: nothing that its owner has written
// runs when it is read, but for what NeedsOnlyTrustedCode looks at.
bool IsPlainTable(Oid relation) {
  const char kind = get_rel_relkind(relation);
  return (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_MATVIEW) &&
         check_enable_rls(relation, InvalidOid, true) != RLS_ENABLED;
}

// Whether a relation, whose OID is given as text, is not too large for a report.
bool IsSmall(const char* relation) {
  const char* args[] = {relation};
  InternalScope scope;
  EnterInternal(&scope);
  const char* small = InternalValue(kIsSmall, 1, args);
  const bool is_small = small != nullptr && small[0] == 't';
  LeaveInternal(&scope);
  return is_small;
}

// Whether a query can be understood, reads only tables and needs no code that is not trusted.
bool IsHarmlessQuery(const char* sql) {
  if (!CanContainFaults()) return false;
  bool harmless = false;
  const ErrorData* error = InSubtransaction([&] {
    SPIPlanPtr plan = SPI_prepare(sql, 0, nullptr);
    if (plan == nullptr) return;
    harmless = NeedsOnlyTrustedCode(plan, GetUserId());
    const ListCell* cell;
    foreach (cell, RelationsOf(plan)) harmless = harmless && IsPlainTable(lfirst_oid(cell));
  });
  return error == nullptr && harmless;
}

// The query of the section on releases: one row a table. Anybody may give a table such a comment, and any columns.
const char* ReleasesQuery() {
  if (SPI_execute(kReleaseTables, true, 0) != SPI_OK_SELECT) elog(ERROR, "could not list releases");
  const SPITupleTable* tables = SPI_tuptable;
  StringInfoData sql, one;
  initStringInfo(&sql);
  initStringInfo(&one);
  appendStringInfoString(&sql, "SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE false");
  int taken = 0;
  for (uint64 i = 0; i < tables->numvals && taken < kMostReleases; ++i) {
    const HeapTuple tuple = tables->vals[i];
    const TupleDesc desc = tables->tupdesc;
    if (!IsSmall(SPI_getvalue(tuple, desc, 5))) continue;
    ++taken;
    const char* table = SPI_getvalue(tuple, desc, 1);
    const char* value = SPI_getvalue(tuple, desc, 2);
    const bool counted = SPI_getvalue(tuple, desc, 3)[0] == 't';
    resetStringInfo(&one);
    appendStringInfo(
        &one,
        "SELECT %s, pg_catalog.count(*)::text, pg_catalog.sum(b.n)::text, pg_catalog.min(b.n)::text, "
        "pg_catalog.max(b.n)::text, pg_catalog.sum((b.n - 1) * (b.n - 1))::text, "
        "pg_catalog.round(pg_catalog.max(b.most / b.n), 4)::text, %s FROM (SELECT pg_catalog.sum(v.n) AS n, "
        "pg_catalog.max(v.n) AS most FROM (SELECT bid, %s AS n FROM %s GROUP BY bid, %s) v GROUP BY v.bid) b",
        quote_literal_cstr(table), quote_literal_cstr(SPI_getvalue(tuple, desc, 4)),
        counted ? "pg_catalog.sum(\"count\")::numeric" : "pg_catalog.count(*)::numeric", table, value);
    if (IsHarmlessQuery(one.data)) appendStringInfo(&sql, " UNION ALL %s", one.data);
  }
  return sql.data;
}

void AppendScoped(StringInfo wire, const char* sql, const ReportScope* scope, const char* names = nullptr) {
  const char* args[] = {scope->roles, scope->from_day, scope->to_day,  scope->role,
                        scope->reads, scope->refused,  scope->settings};
  AppendQuery(wire, sql, lengthof(args), args, names);
}

// A role's day with the score of the one of its end users that has the highest: no session of that day has more.
struct DayOfRole {
  double score;
  std::string_view role;
  std::int64_t day;
};

// The days with a score of a section of days, the worst first. They point into the section.
std::vector<DayOfRole> WorstDays(std::string_view section) {
  using Column = ScoredDaySection;
  std::map<std::pair<std::string_view, std::int64_t>, double> scores;
  WireReader reader(section);
  for (const Row& row : reader.Section(Column::kColumns)) {
    double& score = scores[{*row[Column::kRole], ParseInteger(*row[Column::kDay])}];
    score = std::max(score, ParseDouble(row[Column::kScore].value_or("0")));
  }
  std::vector<DayOfRole> days;
  for (const auto& [key, score] : scores)
    if (score > 0) days.push_back({score, key.first, key.second});
  std::sort(days.begin(), days.end(), [](const DayOfRole& a, const DayOfRole& b) {
    return std::tie(b.score, a.day, a.role) < std::tie(a.score, b.day, b.role);
  });
  return days;
}

// The score that the twentieth session of the section of sessions has, 0 when there are fewer; a little more, since the
// sums of a day and of its only session may differ in the last bit.
double ScoreOfLast(std::string_view section) {
  WireReader reader(section);
  const std::vector<Row> rows = reader.Section(WorstSessionSection::kColumns);
  return rows.size() < kWorstSessions ? 0 : ParseDouble(*rows.back()[WorstSessionSection::kExactScore]) * (1 + 1e-9);
}

// The worst sessions, looked for on the worst days only; the section of days begins at `section` in the buffer. More
// days are taken until the next one's score is no higher than that of the last session found, or they are many: then a
// session of a day on which many share a high score may be missing.
void AppendWorstSessions(StringInfo wire, int section) {
  struct Search {
    std::string bytes;  // what the days point to
    std::vector<DayOfRole> days;
    std::string numbers, roles;
  };
  auto* search = NewCoreHolder<Search>(CurrentMemoryContext);
  std::size_t taken = kWorstSessions;
  CallCoreOrRaise([&] {
    search->Reset(new Search{std::string(WireBytes(wire).substr(static_cast<std::size_t>(section))), {}, {}, {}});
    search->object->days = WorstDays(search->object->bytes);
  });
  const int begin = wire->len;
  for (bool enough = false; !enough; taken *= 2) {
    CallCoreOrRaise([&] {
      const auto& days = search->object->days;
      std::vector<std::int64_t> numbers;
      std::vector<std::string> roles;
      for (std::size_t i = 0; i < std::min(taken, days.size()); ++i) {
        numbers.push_back(days[i].day);
        roles.emplace_back(days[i].role);
      }
      search->object->numbers = ArrayText(numbers);
      search->object->roles = ArrayText(roles);
    });
    const char* args[] = {search->object->numbers.c_str(), search->object->roles.c_str()};
    wire->len = begin;
    AppendSection<WorstSessionSection>(wire, kSessions, lengthof(args), args);
    CallCoreOrRaise([&] {
      const auto& days = search->object->days;
      enough = taken >= std::min(days.size(), kMostWorstDays) ||
               days[taken].score <= ScoreOfLast(WireBytes(wire).substr(static_cast<std::size_t>(begin)));
    });
  }
}

// The dearest n-grams of the principals' days of the section of sessions, which begins at `section` in the buffer.
void AppendNGrams(StringInfo wire, int section) {
  struct Literals {
    std::string days, roles, end_users;
  };
  auto* literals = NewCoreHolder<Literals>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    WireReader reader(WireBytes(wire).substr(static_cast<std::size_t>(section)));
    std::vector<std::string> days, roles, end_users;
    using Column = WorstSessionSection;
    for (const Row& row : reader.Section(Column::kColumns)) {
      const std::string_view day = *row[Column::kDay];
      const std::string_view role = *row[Column::kRole];
      const std::string_view end_user = row[Column::kEndUser].value_or("");
      bool is_new = true;
      for (std::size_t i = 0; i < days.size(); ++i)
        is_new = is_new && (days[i] != day || roles[i] != role || end_users[i] != end_user);
      if (!is_new) continue;
      days.emplace_back(day);
      roles.emplace_back(role);
      end_users.emplace_back(end_user);
    }
    literals->Reset(new Literals{ArrayText(days), ArrayText(roles), ArrayText(end_users)});
  });
  const char* args[] = {literals->object->days.c_str(), literals->object->roles.c_str(),
                        literals->object->end_users.c_str()};
  AppendSection<WorstNGramSection>(wire, kNGrams, lengthof(args), args);
}

// Roles with sessions in the time that the caller may see, as the literal of a name[].
const char* RolesAtWork(const char* from_day, const char* to_day, const char* role) {
  const char* args[] = {from_day, to_day, role};
  InternalScope scope;
  EnterInternal(&scope);
  const char* all = InternalValue(
      "SELECT COALESCE(pg_catalog.array_agg(DISTINCT s.role), '{}') FROM privacy_score.session s "
      "WHERE s.day BETWEEN $1::pg_catalog.date AND $2::pg_catalog.date AND ($3 IS NULL OR s.role = "
      "$3::pg_catalog.name)",
      3, args);
  LeaveInternal(&scope);
  return all;
}

// The protected tables that are read for a report of the caller, as the literal of an oid[]. A table runs functions of
// its owner, whom the caller did not choose to trust by asking for a report. Reading as a role that is exempt is
// announced, and as one that is "dp only" refused.
const char* RelationsToRead() {
  StringInfoData relations;
  initStringInfo(&relations);
  appendStringInfoChar(&relations, '{');
  const char* reason;
  const RoleClass role_class = ClassOfRole(PrincipalOf(), &reason);
  if (role_class == RoleClass::kUnwatched || role_class == RoleClass::kWatched) {
    if (SPI_execute(kReadable, true, 0) != SPI_OK_SELECT) elog(ERROR, "could not list protected relations");
    const SPITupleTable* table = SPI_tuptable;
    for (uint64 i = 0; i < table->numvals; ++i) {
      bool null;
      const Oid relation = DatumGetObjectId(SPI_getbinval(table->vals[i], table->tupdesc, 1, &null));
      LockRelationOid(relation, AccessShareLock);
      if (IsPlainTable(relation) && IsSmall(TextOfOid(relation)) && NeedsOnlyTrustedCode(relation, GetUserId()))
        AppendArrayElement(&relations, TextOfOid(relation));
    }
  }
  appendStringInfoChar(&relations, '}');
  return relations.data;
}

// The alerts do not tell: of the like refused again in a session there is none.
const char* StatementsRefused(const ReportScope* scope) {
  const char* args[] = {scope->from_day, scope->to_day, scope->roles};
  InternalScope internal;
  EnterInternal(&internal);
  const char* refused = InternalValue(
      "SELECT COALESCE(pg_catalog.sum(s.refused), 0) FROM privacy_score.session s "
      "WHERE s.day BETWEEN $1::pg_catalog.date AND $2::pg_catalog.date AND s.role = ANY ($3::pg_catalog.name[])",
      3, args);
  LeaveInternal(&internal);
  return refused;
}

// Mode and limits as they are without settings of roles and databases: the caller's own may differ.
const char* ServerSettings() {
  InternalScope internal;
  EnterInternal(&internal);
  const char* settings = InternalValue(kServerSettings);
  LeaveInternal(&internal);
  return settings;
}

// All sections, in the order in which the page reads them. Protected tables stay locked to the end, so they come after
// the scores, which a long history makes take minutes: who alters a table, and all who come next, would wait for them.
// What has been rewritten meanwhile cannot be read with a snapshot from before.
void AppendReportSections(StringInfo wire, ReportScope* scope) {
  AppendScoped(wire, kFacts, scope);
  const int days = wire->len;
  AppendScoped(wire, kPeopleDays, scope, ScoredDaySection::kNames);
  AppendScoped(wire, kTiles, scope, TileSection::kNames);
  AppendScoped(wire, kAlertTotals, scope, AlertTotalSection::kNames);
  AppendScoped(wire, kRoles, scope, RoleSection::kNames);
  AppendScoped(wire, kEndUsers, scope, EndUserSection::kNames);
  const int sessions = wire->len;
  AppendWorstSessions(wire, days);
  AppendNGrams(wire, sessions);
  PushActiveSnapshot(GetTransactionSnapshot());
  scope->reads = RelationsToRead();
  for (const char* sql : {kAlerts, kAccepted, kRelations, kRisks}) AppendScoped(wire, sql, scope);
  AppendScoped(wire, kCharts, scope, RelationChartSection::kNames);
  for (const char* sql : {kBudgets, kAnswers}) AppendScoped(wire, sql, scope);
  AppendQuery(wire, ReleasesQuery());
  PopActiveSnapshot();
  AppendQuery(wire, scope->settings == nullptr ? kNoState : kState);
  AppendQuery(wire, kHistory);
}

}  // namespace

// report(role, from_day, to_day): by default all roles and the last thirty days.
Datum ps_report(PG_FUNCTION_ARGS) {
  ReportScope scope = {};
  if (!PG_ARGISNULL(0)) {
    scope.role = NameStr(*PG_GETARG_NAME(0));
    ReadableRole(scope.role);
  }
  StringInfoData wire;
  initStringInfo(&wire);
  const int nest_level = SetForReport();
  ConnectSpi();
  const ReportDays days = DaysOfReport(fcinfo);
  scope.from_day = days.from;
  scope.to_day = days.to;
  if (ps_shared != nullptr) scope.settings = ServerSettings();
  Oid types[] = {TEXTOID};
  Datum values[] = {CStringGetTextDatum(RolesAtWork(scope.from_day, scope.to_day, scope.role))};
  if (SPI_execute_with_args("SELECT COALESCE(pg_catalog.array_agg(r.role ORDER BY r.role), '{}') FROM "
                            "pg_catalog.unnest($1::name[]) r(role) "
                            "WHERE privacy_score.may_read(r.role)",
                            1, types, values, nullptr, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not tell which roles may be seen");
  scope.roles = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
  scope.refused = StatementsRefused(&scope);
  WithTrustedCode(GetUserId(), [&] { AppendReportSections(&wire, &scope); });
  SPI_finish();
  AtEOXact_GUC(false, nest_level);
  PG_RETURN_DATUM(PageOfSections(&wire, ReportPage));
}

// score_chart(role, from_day, to_day)
Datum ps_score_chart(PG_FUNCTION_ARGS) {
  const char* role = NameStr(*PG_GETARG_NAME(0));
  ReadableRole(role);
  RequireDays(PG_GETARG_DATEADT(1), PG_GETARG_DATEADT(2));
  StringInfoData roles;
  initStringInfo(&roles);
  appendStringInfoChar(&roles, '{');
  AppendArrayElement(&roles, role);
  appendStringInfoChar(&roles, '}');
  const ReportScope scope = {
      roles.data, TextOfDay(PG_GETARG_DATEADT(1)), TextOfDay(PG_GETARG_DATEADT(2)), nullptr, nullptr, nullptr, nullptr};
  StringInfoData wire;
  initStringInfo(&wire);
  const int nest_level = SetForReport();
  ConnectSpi();
  AppendScoped(&wire, kDays, &scope, ScoredDaySection::kNames);
  SPI_finish();
  AtEOXact_GUC(false, nest_level);
  auto* chart = NewCoreHolder<std::string>(CurrentMemoryContext);
  role = Utf8Name(role);
  CallCoreOrRaise([&] {
    std::vector<DayOfScore> days;
    WireReader reader(WireBytes(&wire));
    for (const Row& row : reader.Section(ScoredDaySection::kColumns)) days.push_back(DayOf(row));
    chart->Reset(new std::string(ScoreChart(role, days, Placement::kAlone)));
  });
  PG_RETURN_DATUM(TextDatum(*chart->object));
}

// equivocation_chart(vals, probabilities)
Datum ps_equivocation_chart(PG_FUNCTION_ARGS) {
  const int nest_level = SetForReport();
  const char* args[2] = {};
  for (int i = 0; i < 2; ++i)
    if (!PG_ARGISNULL(i)) args[i] = LiteralOfArray(PG_GETARG_DATUM(i));
  StringInfoData wire;
  initStringInfo(&wire);
  ConnectSpi();
  AppendSection<StepSection>(&wire,
                             "SELECT c.epsilon, c.entropy FROM privacy_score.equivocation_curve("
                             "$1::pg_catalog._numeric, $2::pg_catalog._float8) c ORDER BY c.epsilon",
                             2, args);
  SPI_finish();
  AtEOXact_GUC(false, nest_level);
  auto* chart = NewCoreHolder<std::string>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    WireReader reader(WireBytes(&wire));
    chart->Reset(new std::string(EquivocationChart(StepsOf(reader.Section(StepSection::kColumns)), Placement::kAlone)));
  });
  PG_RETURN_DATUM(TextDatum(*chart->object));
}

}  // namespace privacy_score
