/*
 * recorded_roles.cpp - which roles have recorded sessions, and since when: by the indexes of the months, from role to
 * role. Views that ask this of all roles would open each month several times.
 */
extern "C" {
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
}

#include <set>
#include <string>

#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/history_months.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/own_scan.hpp"
#include "backend/state/role_access.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_recorded_roles);
PG_FUNCTION_INFO_V1(ps_refused_since);
}

namespace {

constexpr const char* kTableOfSessions = "session";

// A scan of a table of sessions by role, and by day within it, in the snapshot of the statement.
struct RoleScan {
  ::Relation table;
  ::Relation index;
  IndexScanDesc scan;
  TupleTableSlot* slot;
};

// False when there is no such table, or it goes just now.
bool OpenRoleScan(RoleScan* scan, Oid table, int keys) {
  scan->table = OidIsValid(table) ? try_table_open(table, AccessShareLock) : nullptr;
  if (scan->table == nullptr) return false;
  const AttrNumber columns[] = {get_attnum(table, "role"), get_attnum(table, "day")};
  const Oid index = IndexOn(scan->table, columns, lengthof(columns));
  if (!OidIsValid(index))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("table %s lacks its index of roles and days", RelationGetRelationName(scan->table)),
                    errhint("CREATE INDEX ON privacy_score.%s (role, day).", RelationGetRelationName(scan->table))));
  scan->index = index_open(index, AccessShareLock);
  scan->scan = BeginIndexScan(scan->table, scan->index, GetActiveSnapshot(), keys);
  scan->slot = table_slot_create(scan->table, nullptr);
  return true;
}

void CloseRoleScan(RoleScan* scan) {
  ExecDropSingleTupleTableSlot(scan->slot);
  index_endscan(scan->scan);
  index_close(scan->index, AccessShareLock);
  table_close(scan->table, AccessShareLock);
}

Datum FieldOf(const RoleScan& scan, const char* column) {
  bool null;
  return slot_getattr(scan.slot, get_attnum(RelationGetRelid(scan.table), column), &null);
}

void SetRoleKey(ScanKey key, StrategyNumber strategy, Oid function, Name role) {
  ScanKeyEntryInitialize(key, 0, 1, strategy, InvalidOid, C_COLLATION_OID, function, NameGetDatum(role));
}

bool MayRead(const char* name) {
  const Oid role = get_role_oid(name, true);
  return MayReadRole(role);
}

using Names = std::set<std::string>;

void AddRolesOf(Oid table, const CoreHolder<Names>* names) {
  RoleScan scan;
  if (!OpenRoleScan(&scan, table, 1)) return;
  NameData last;
  namestrcpy(&last, "");
  ScanKeyData key;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    SetRoleKey(&key, BTGreaterStrategyNumber, F_NAMEGT, &last);
    index_rescan(scan.scan, &key, 1, nullptr, 0);
    if (!index_getnext_slot(scan.scan, ForwardScanDirection, scan.slot)) break;
    last = *DatumGetName(FieldOf(scan, "role"));
    CallCoreOrRaise([&] { names->object->insert(NameStr(last)); });
  }
  CloseRoleScan(&scan);
}

// Adds what was refused to the role after a day in one table of sessions; whether there is a session at all.
bool AddRefused(Oid table, Name role, DateADT day, int64* refused) {
  RoleScan scan;
  if (!OpenRoleScan(&scan, table, 2)) return false;
  ScanKeyData keys[2];
  SetRoleKey(&keys[0], BTEqualStrategyNumber, F_NAMEEQ, role);
  ScanKeyInit(&keys[1], 2, BTGreaterStrategyNumber, F_DATE_GT, DateADTGetDatum(day));
  index_rescan(scan.scan, keys, lengthof(keys), nullptr, 0);
  bool any = false;
  while (index_getnext_slot(scan.scan, ForwardScanDirection, scan.slot)) {
    any = true;
    *refused += DatumGetInt64(FieldOf(scan, "refused"));
  }
  CloseRoleScan(&scan);
  return any;
}

}  // namespace

// recorded_roles()
Datum ps_recorded_roles(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  CoreHolder<Names>* names = NewCoreHolder<Names>(CurrentMemoryContext);
  CallCoreOrRaise([&] { names->Reset(new Names()); });
  ListCell* cell;
  foreach (cell, find_inheritance_children(OwnRelation(kTableOfSessions), AccessShareLock))
    AddRolesOf(lfirst_oid(cell), names);
  for (const std::string& role : *names->object) {
    if (!MayRead(role.c_str())) continue;
    NameData name;
    namestrcpy(&name, role.c_str());
    Datum value = NameGetDatum(&name);
    bool null = false;
    PutResultRow(fcinfo, &value, &null);
  }
  names->Reset(nullptr);
  return Datum(0);
}

// refused_since(role, day)
Datum ps_refused_since(PG_FUNCTION_ARGS) {
  const Name role = PG_GETARG_NAME(0);
  const DateADT day = PG_GETARG_DATEADT(1);
  if (!MayRead(NameStr(*role))) PG_RETURN_NULL();
  int64 refused = 0;
  bool any = false;
  constexpr int64 kFewMonths = 24;
  const int64 first = Max(MonthOfDay(day), 1);
  const int64 last = MonthOfDay(DayOf(GetCurrentTimestamp())) + 1;
  if (last - first > kFewMonths) {
    ListCell* cell;
    foreach (cell, find_inheritance_children(OwnRelation(kTableOfSessions), AccessShareLock))
      any |= AddRefused(lfirst_oid(cell), role, day, &refused);
  } else {
    any = AddRefused(TableOfMonth(kTableOfSessions, 0), role, day, &refused);
    for (int64 month = first; month <= last; ++month)
      any |= AddRefused(TableOfMonth(kTableOfSessions, month), role, day, &refused);
  }
  if (!any) PG_RETURN_NULL();
  PG_RETURN_INT64(refused);
}

}  // namespace privacy_score
