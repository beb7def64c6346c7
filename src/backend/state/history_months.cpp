/*
 * history_months.cpp - see history_months.hpp.
 */
#include "backend/state/history_months.hpp"

extern "C" {
#include "catalog/pg_inherits.h"
#include "commands/sequence.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/server/guarded.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/own_scan.hpp"
#include "backend/state/role_access.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_first_session_id);
PG_FUNCTION_INFO_V1(ps_history_bytes);
PG_FUNCTION_INFO_V1(ps_make_months);
PG_FUNCTION_INFO_V1(ps_new_session_id);
}

namespace {

constexpr int kFirstYear = 2000;
constexpr int kLastYear = 9999;
constexpr const char* kParents[] = {"session", "session_part"};

// What a statement waits for a lock here: others queue up behind who waits.
constexpr const char* kPatience = "100ms";

int64 FirstIdOf(int64 month) { return month << kMonthBits; }

// Whether rows of the month go to its own tables: somebody may have detached one.
bool HasTables(int64 month) {
  for (const char* parent : kParents) {
    const Oid table = OwnRelation(TableOfMonth(parent, month));
    if (!OidIsValid(table) || !list_member_oid(find_inheritance_children(OwnRelation(parent), NoLock), table))
      return false;
  }
  return true;
}

// Nobody but the owner has rights on it, whatever default privileges say: who may read the parent reads through that.
void TakeRights(const char* table) {
  const char* revoked = InternalValue(
      "SELECT pg_catalog.string_agg(DISTINCT pg_catalog.format('REVOKE ALL ON %s FROM %s', c.oid::pg_catalog.regclass, "
      "CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::pg_catalog.regrole::pg_catalog.text END), ';') FROM "
      "pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) g WHERE c.oid = $1::pg_catalog.regclass AND g.grantee <> "
      "c.relowner",
      1, &table);
  if (revoked != nullptr) (void)RunInternal(revoked);
}

void MakeTable(const char* parent, int64 month) {
  const char* table = psprintf("privacy_score.%s", TableOfMonth(parent, month));
  (void)RunInternal(psprintf("CREATE TABLE %s (LIKE privacy_score.%s_before INCLUDING ALL)", table, parent));
  TakeRights(table);
  (void)RunInternal(psprintf("ALTER TABLE privacy_score.%s ATTACH PARTITION %s FOR VALUES FROM (" INT64_FORMAT
                             ") TO (" INT64_FORMAT ")",
                             parent, table, FirstIdOf(month), FirstIdOf(month + 1)));
}

// Runs `change` with little patience for locks; false, with a line in the log, when it failed.
template <typename Change>
bool Succeeds(const char* what, int64 month, Change change) {
  const ErrorData* error = InSubtransaction([&] {
    SetWithin("lock_timeout", kPatience);
    change();
  });
  if (error == nullptr) return true;
  ereport(LOG, (errmsg("privacy_score could not %s the tables of a month of history", what),
                errdetail("%s: %s", TableOfMonth(kParents[0], month), error->message), errhint("It is tried again.")));
  return false;
}

// The month whose table it is; -1 for another name.
int64 MonthOfTable(const char* name) {
  int year = 0;
  int month = 0;
  if (sscanf(name, "session_%4d_%2d", &year, &month) != 2) return -1;
  const int64 found = (year - kFirstYear) * int64{MONTHS_PER_YEAR} + month - 1;
  return found > 0 && strcmp(name, TableOfMonth(kParents[0], found)) == 0 ? found : -1;
}

}  // namespace

int64 MonthOfDay(DateADT day) {
  if (DATE_IS_NOBEGIN(day)) return 0;
  constexpr int64 kLast = (kLastYear - kFirstYear) * int64{MONTHS_PER_YEAR} + MONTHS_PER_YEAR - 1;
  if (DATE_IS_NOEND(day)) return kLast;
  int year, month, of_month;
  j2date(day + POSTGRES_EPOCH_JDATE, &year, &month, &of_month);
  const int64 since = (year - kFirstYear) * int64{MONTHS_PER_YEAR} + month - 1;
  return Min(Max(since, 0), kLast);
}

const char* TableOfMonth(const char* parent, int64 month) {
  if (month == 0) return psprintf("%s_before", parent);
  return psprintf("%s_%04d_%02d", parent, static_cast<int>(kFirstYear + month / MONTHS_PER_YEAR),
                  static_cast<int>(month % MONTHS_PER_YEAR + 1));
}

const char* TableOfSession(const char* parent, int64 id) { return TableOfMonth(parent, id >> kMonthBits); }

bool MakeMonths(int64 first, int64 last) {
  bool all = true;
  for (int64 month = Max(Max(first, last - kMostMonths + 1), 1); month <= last; ++month) {
    bool is_taken = false;
    for (const char* parent : kParents) is_taken |= OidIsValid(OwnRelation(TableOfMonth(parent, month)));
    if (is_taken) continue;
    all &= Succeeds("make", month, [&] {
      for (const char* parent : kParents) MakeTable(parent, month);
    });
  }
  return all;
}

int DropMonthsBefore(DateADT day, bool* all_dropped) {
  const int64 first_kept = MonthOfDay(day);
  *all_dropped = true;
  int dropped = 0;
  List* tables = find_inheritance_children(OwnRelation(kParents[0]), NoLock);
  ListCell* cell;
  foreach (cell, tables) {
    const char* name = get_rel_name(lfirst_oid(cell));
    const int64 month = name == nullptr ? -1 : MonthOfTable(name);
    if (month < 0 || month >= first_kept) continue;
    if (Succeeds("drop", month, [&] {
          (void)RunInternal(psprintf("DROP TABLE IF EXISTS privacy_score.%s, privacy_score.%s",
                                     TableOfMonth(kParents[0], month), TableOfMonth(kParents[1], month)));
        }))
      ++dropped;
    else
      *all_dropped = false;
  }
  return dropped;
}

Datum ps_first_session_id(PG_FUNCTION_ARGS) { PG_RETURN_INT64(FirstIdOf(MonthOfDay(PG_GETARG_DATEADT(0)))); }

Datum ps_history_bytes(PG_FUNCTION_ARGS) {
  const Oid relation = PG_GETARG_OID(0);
  const auto is_of = [=](const char* parent) {
    return list_member_oid(find_inheritance_children(OwnRelation(parent), NoLock), relation);
  };
  if (!MayReadRole(InvalidOid) || !(is_of(kParents[0]) || is_of(kParents[1]))) PG_RETURN_NULL();
  LOCAL_FCINFO(size, 1);
  InitFunctionCallInfoData(*size, nullptr, 1, InvalidOid, nullptr, nullptr);
  size->args[0] = {ObjectIdGetDatum(relation), false};
  const Datum bytes = pg_total_relation_size(size);
  if (size->isnull) PG_RETURN_NULL();
  PG_RETURN_DATUM(bytes);
}

Datum ps_make_months(PG_FUNCTION_ARGS) {
  RequirePrimary("make_months");
  const int64 first = MonthOfDay(PG_GETARG_DATEADT(0));
  const int64 last = MonthOfDay(PG_GETARG_DATEADT(1));
  InternalScope scope;
  EnterInternal(&scope);
  const bool all = MakeMonths(first, last);
  LeaveInternal(&scope);
  PG_RETURN_BOOL(all);
}

Datum ps_new_session_id(PG_FUNCTION_ARGS) {
  const int64 month = MonthOfDay(PG_GETARG_DATEADT(0));
  const int64 number = nextval_internal(OwnRelation("session_id_seq"), true);
  PG_RETURN_INT64(month > 0 && HasTables(month) ? FirstIdOf(month) + number : number);
}

}  // namespace privacy_score
