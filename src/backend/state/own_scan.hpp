/*
 * own_scan.hpp - scans of the extension's own tables by whoever runs a statement: no rights are asked for, and nothing
 * is planned.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/genam.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"
}

namespace privacy_score {

// A scan of one of our tables, by one of its indexes.
struct OwnScan {
  ::Relation table;
  SysScanDesc scan;
};

// A table or index of ours; InvalidOid when the extension is not in this database. A schema of its name may be
// anybody's.
Oid OwnRelation(const char* name);

// Begins one, with so many keys or none (null), by an index or none (null); false when the extension is not in this
// database. It sees what is committed at this moment, or what the snapshot shows.
bool OpenOwnScan(OwnScan* scan, const char* table, const char* index, ScanKey key, int keys = 1,
                 Snapshot snapshot = nullptr);
// The same of a table of recorded sessions, by whichever of its indexes begins with the columns of the keys; false when
// there is no such table, or it goes just now.
bool OpenOwnScanOf(OwnScan* scan, Oid table, ScanKey keys, int count);
void CloseOwnScan(OwnScan* scan);

// An index of a table that is open, whatever its name, that begins with these columns, and has all rows in which they
// are not null; InvalidOid: there is none.
Oid IndexOn(::Relation table, const AttrNumber* columns, int count);

}  // namespace privacy_score
