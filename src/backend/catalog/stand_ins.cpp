/*
 * stand_ins.cpp - see stand_ins.hpp.
 */
#include "backend/catalog/stand_ins.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace privacy_score {

namespace {

// The number at the end of a shard's name, behind an underscore; 0 when there is none.
int64 NumberInName(const char* name) {
  const char* digits = strrchr(name, '_');
  if (digits == nullptr || digits == name) return 0;
  int64 number = 0;
  for (const char* at = digits + 1; *at != '\0'; ++at) {
    if (*at < '0' || *at > '9' || number > PG_INT64_MAX / 10 - 1) return 0;
    number = number * 10 + (*at - '0');
  }
  return number;
}

// The table of a row of pg_dist_shard with that number; InvalidOid when there is none.
Oid TableOfShard(::Relation shards, AttrNumber number_column, AttrNumber table_column, int64 number) {
  ScanKeyData key;
  ScanKeyInit(&key, number_column, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(number));
  const Oid index = get_relname_relid("pg_dist_shard_shardid_index", PG_CATALOG_NAMESPACE);
  SysScanDesc scan = systable_beginscan(shards, index, OidIsValid(index), nullptr, 1, &key);
  const HeapTuple tuple = systable_getnext(scan);
  bool null = true;
  const Datum table =
      HeapTupleIsValid(tuple) ? heap_getattr(tuple, table_column, RelationGetDescr(shards), &null) : Datum(0);
  const Oid found = null ? InvalidOid : DatumGetObjectId(table);
  systable_endscan(scan);
  return found;
}

// Whether that is what Citus calls a shard of the table: where both have no room in a name it cuts the table's, and
// puts a hash of eight digits in between.
bool IsNamedAfter(const char* name, const char* table) {
  const Size number = strlen(strrchr(name, '_'));
  const Size length = strlen(table);
  if (length + number < NAMEDATALEN) return strlen(name) == length + number && strncmp(name, table, length) == 0;
  constexpr Size kHash = 9;           // with its underscore
  constexpr Size kLongCharacter = 4;  // which is not cut
  const Size kept = NAMEDATALEN - 1 - number - kHash - kLongCharacter;
  return strlen(name) > kept && strncmp(name, table, kept) == 0;
}

StandIn FindByNumber(const char* name, Oid schema) {
  StandIn result = {InvalidOid, false};
  const int64 number = NumberInName(name);
  if (number == 0) return result;
  const Oid catalog = get_relname_relid("pg_dist_shard", PG_CATALOG_NAMESPACE);
  if (!OidIsValid(catalog)) return result;
  ::Relation shards = try_table_open(catalog, AccessShareLock);
  if (shards == nullptr) return result;
  result.named = true;
  const AttrNumber number_column = get_attnum(catalog, "shardid");
  const AttrNumber table_column = get_attnum(catalog, "logicalrelid");
  if (number_column != InvalidAttrNumber && table_column != InvalidAttrNumber)
    result.table = TableOfShard(shards, number_column, table_column, number);
  table_close(shards, AccessShareLock);
  const char* table = OidIsValid(result.table) ? get_rel_name(result.table) : nullptr;
  if (table == nullptr || get_rel_namespace(result.table) != schema || !IsNamedAfter(name, table))
    result.table = InvalidOid;
  return result;
}

}  // namespace

StandIn FindStandIn(const char* name, Oid schema) {
  StandIn result = FindByNumber(name, schema);
  if (OidIsValid(result.table) && OidIsValid(FindByNumber(get_rel_name(result.table), schema).table))
    result.table = InvalidOid;
  return result;
}

}  // namespace privacy_score
