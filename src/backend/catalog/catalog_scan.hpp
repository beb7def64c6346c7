/*
 * catalog_scan.hpp - OIDs from the rows of a catalog that one key finds: gathered first, so that the scan has ended
 * before anything else is looked up.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "nodes/pg_list.h"
}

namespace privacy_score {

// What `take` makes of each row, in the order of the index.
template <typename Row, typename Take>
List* GatherOids(Oid catalog_id, Oid index, ScanKeyData* key, Take take) {
  List* oids = NIL;
  ::Relation catalog = table_open(catalog_id, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, index, true, nullptr, 1, key);
  HeapTuple tuple;
  while (HeapTupleIsValid(tuple = systable_getnext(scan)))
    oids = lappend_oid(oids, take(reinterpret_cast<const Row*>(GETSTRUCT(tuple))));
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return oids;
}

}  // namespace privacy_score
