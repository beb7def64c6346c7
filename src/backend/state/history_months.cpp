/*
 * history_months.cpp - see history_months.hpp.
 */
#include "backend/state/history_months.hpp"

extern "C" {
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/sequence.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include "backend/server/guarded.hpp"
#include "backend/server/relation_owner.hpp"
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

const char* NameOfMonth(const char* parent, int64 month) {
  if (month == 0) return psprintf("%s_before", parent);
  return psprintf("%s_%04d_%02d", parent, static_cast<int>(kFirstYear + month / MONTHS_PER_YEAR),
                  static_cast<int>(month % MONTHS_PER_YEAR + 1));
}

List* TablesBelow(const char* parent) {
  const Oid oid = OwnRelation(parent);
  return OidIsValid(oid) ? find_inheritance_children(oid, NoLock) : NIL;
}

// Whether a table belongs to whom the extension belongs to, that is, who owns `parent`, and nobody else has rights on
// it but these. A restore gives what is no member of the extension to whom it belonged to, and lets default privileges
// give rights.
bool IsOurs(Oid table, Oid parent, AclMode others) {
  const Oid owner = OwnerOfRelation(parent);
  if (OwnerOfRelation(table) != owner) return false;
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
  if (!HeapTupleIsValid(tuple)) return false;
  bool none;
  bool ours = true;
  const Datum rights = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &none);
  const Acl* acl = none ? nullptr : DatumGetAclP(rights);
  for (int i = 0; acl != nullptr && ours && i < ACL_NUM(acl); ++i) {
    const AclItem& item = ACL_DAT(acl)[i];
    ours = item.ai_grantee == owner || (ACLITEM_GET_PRIVS(item) & ~others) == 0;
  }
  ReleaseSysCache(tuple);
  return ours;
}

// Whether a table is a partition of `parent`, and nobody is about to detach it.
bool IsAttached(Oid table, Oid parent) {
  return OidIsValid(table) && list_member_oid(get_partition_ancestors(table), parent);
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
  const char* table = psprintf("privacy_score.%s", NameOfMonth(parent, month));
  (void)RunInternal(psprintf("CREATE TABLE %s (LIKE privacy_score.%s_before INCLUDING ALL)", table, parent));
  TakeRights(table);
  (void)RunInternal(psprintf("ALTER TABLE privacy_score.%s ATTACH PARTITION %s FOR VALUES FROM (" INT64_FORMAT
                             ") TO (" INT64_FORMAT ")",
                             parent, table, FirstIdOf(month), FirstIdOf(month + 1)));
}

// Runs `change` with little patience for locks, and where the database would have tables; false, with a line in the
// log, when it failed.
template <typename Change>
bool Succeeds(const char* what, const char* table, Change change) {
  const ErrorData* error = InSubtransaction([&] {
    SetWithin("lock_timeout", kPatience);
    SetWithin("default_tablespace", "");
    SetWithin("default_table_access_method", "heap");
    change();
  });
  if (error == nullptr) return true;
  ereport(LOG, (errmsg("privacy_score could not %s a table of a month of history", what),
                errdetail("%s: %s", table, error->message)));
  return false;
}

// The month whose table below `parent` it is; -1 for another one.
int64 MonthOfTable(const char* parent, Oid table) {
  const char* name = get_rel_name(table);
  const size_t length = strlen(parent);
  int year = 0;
  int month = 0;
  if (name == nullptr || strncmp(name, parent, length) != 0) return -1;
  if (sscanf(name + length, "_%4d_%2d", &year, &month) != 2) return -1;
  const int64 found = (year - kFirstYear) * int64{MONTHS_PER_YEAR} + month - 1;
  return found > 0 && strcmp(name, NameOfMonth(parent, found)) == 0 ? found : -1;
}

// Raises an error unless the table, $1, has nothing that runs code but what its parent, $2, has as well.
void RequirePlain(const char* table, const char* parent) {
  const char* args[] = {table, parent};
  const char* plain = InternalValue(
      "SELECT c.relkind = 'r' AND NOT c.relhasrules AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE "
      "t.tgrelid = c.oid AND t.tgparentid = 0) AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = "
      "c.oid) AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c' AND "
      "pg_catalog.pg_get_constraintdef(k.oid) NOT IN (SELECT pg_catalog.pg_get_constraintdef(b.oid) FROM "
      "pg_catalog.pg_constraint b WHERE b.conrelid = $2::pg_catalog.regclass AND b.contype = 'c')) AND NOT EXISTS "
      "(SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND (x.indexprs IS NOT NULL OR "
      "pg_catalog.pg_get_expr(x.indpred, x.indrelid) <> '(end_user IS NOT NULL)')) FROM pg_catalog.pg_class c WHERE "
      "c.oid = $1::pg_catalog.regclass",
      lengthof(args), args);
  if (plain == nullptr || strcmp(plain, "t") != 0)
    elog(ERROR,
         "it belonged to somebody else, or somebody else had rights on it, and it has a trigger, a rule, a policy, a "
         "check or an index that privacy_score has not made");
}

bool SettleTable(Oid table, const char* parent) {
  const char* relation = get_rel_name(table);
  const char* schema = get_namespace_name(get_rel_namespace(table));
  if (relation == nullptr || schema == nullptr) return true;  // it has gone
  const char* name = quote_qualified_identifier(schema, relation);
  return Succeeds("settle", name, [&] {
    const char* below = psprintf("privacy_score.%s", parent);
    RequirePlain(name, below);
    const char* owner = quote_identifier(GetUserNameFromId(OwnerOfRelation(OwnRelation(parent)), false));
    (void)RunInternal(psprintf("ALTER TABLE %s OWNER TO %s", name, owner));
    TakeRights(name);
  });
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

Oid TableOfMonth(const char* parent, int64 month) {
  const Oid table = OwnRelation(NameOfMonth(parent, month));
  return IsAttached(table, OwnRelation(parent)) ? table : InvalidOid;
}

Oid TableOfSession(const char* parent, int64 id) { return TableOfMonth(parent, id >> kMonthBits); }

// Who may do more than read could have code of theirs run by who writes. What has no month has members of the
// extension.
bool TakesSessionsOf(int64 month) {
  if (month == 0) return true;
  for (const char* parent : kParents) {
    const Oid table = TableOfMonth(parent, month);
    if (!OidIsValid(table) || !IsOurs(table, OwnRelation(parent), ACL_SELECT)) return false;
  }
  return true;
}

bool TakesSession(int64 id) { return TakesSessionsOf(id >> kMonthBits); }

bool MakeMonths(int64 first, int64 last) {
  bool all = true;
  for (int64 month = Max(Max(first, last - kMostMonths + 1), 1); month <= last; ++month) {
    bool is_taken = false;
    for (const char* parent : kParents) is_taken |= OidIsValid(OwnRelation(NameOfMonth(parent, month)));
    if (is_taken) continue;
    all &= Succeeds("make", NameOfMonth(kParents[0], month), [&] {
      for (const char* parent : kParents) MakeTable(parent, month);
    });
  }
  return all;
}

bool SettleMonths() {
  bool all = true;
  for (const char* parent : kParents) {
    ListCell* cell;
    foreach (cell, TablesBelow(parent))
      if (!IsOurs(lfirst_oid(cell), OwnRelation(parent), ACL_NO_RIGHTS)) all &= SettleTable(lfirst_oid(cell), parent);
  }
  return all;
}

int64 NextMonthBefore(DateADT day, int64 after) {
  const int64 first_kept = MonthOfDay(day);
  int64 next = 0;
  for (const char* parent : kParents) {
    ListCell* cell;
    foreach (cell, TablesBelow(parent)) {
      const int64 month = MonthOfTable(parent, lfirst_oid(cell));
      if (month > after && month < first_kept && (next == 0 || month < next)) next = month;
    }
  }
  return next;
}

bool DropMonth(int64 month) {
  return Succeeds("drop", NameOfMonth(kParents[0], month), [&] {
    for (const char* parent : kParents)
      if (OidIsValid(TableOfMonth(parent, month)))
        (void)RunInternal(psprintf("DROP TABLE privacy_score.%s", NameOfMonth(parent, month)));
  });
}

Datum ps_first_session_id(PG_FUNCTION_ARGS) { PG_RETURN_INT64(FirstIdOf(MonthOfDay(PG_GETARG_DATEADT(0)))); }

Datum ps_history_bytes(PG_FUNCTION_ARGS) {
  const Oid relation = PG_GETARG_OID(0);
  const auto is_of = [=](const char* parent) { return IsAttached(relation, OwnRelation(parent)); };
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
  if (DATE_NOT_FINITE(PG_GETARG_DATEADT(0)) || DATE_NOT_FINITE(PG_GETARG_DATEADT(1)))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("the days of make_months() must be finite")));
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
  PG_RETURN_INT64(TakesSessionsOf(month) ? FirstIdOf(month) + number : number);
}

}  // namespace privacy_score
