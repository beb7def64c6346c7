/*
 * own_scan.hpp - scans of the extension's own tables by whoever runs a statement: no rights are asked for, and nothing
 * is planned.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/genam.h"
#include "utils/relcache.h"
}

// A scan of one of our tables, by one of its indexes.
struct OwnScan {
  Relation table;
  SysScanDesc scan;
};

// A table or index of ours; InvalidOid when the extension is not in this database. A schema of its name may be
// anybody's.
Oid OwnRelation(const char* name);

// Begins one, with a key or none (null), by an index or none (null); false when the extension is not in this database.
bool OpenOwnScan(OwnScan* scan, const char* table, const char* index, ScanKey key);
void CloseOwnScan(OwnScan* scan);
