/*
 * subject_key.cpp - see subject_key.hpp.
 */
#include "backend/catalog/subject_key.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "utils/plancache.h"
#include "utils/rel.h"
}

#include "backend/state/own_scan.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

SubjectKey ps_subject_key;

namespace {

constexpr AttrNumber kKeyColumn = 2;

// Takes the first 128 bits of the row's key; false when it has fewer.
bool TakeKey(const OwnScan& scan, HeapTuple row, privacy_score::HashKey* key) {
  bool null;
  const Datum value = heap_getattr(row, kKeyColumn, RelationGetDescr(scan.table), &null);
  if (null) return false;
  const bytea* bytes = DatumGetByteaPP(value);
  if (VARSIZE_ANY_EXHDR(bytes) < sizeof *key) return false;
  memcpy(key, VARDATA_ANY(bytes), sizeof *key);
  return true;
}

}  // namespace

void ReadSubjectKey() {
  constexpr privacy_score::HashKey none = {0, 0};
  SubjectKey found = {false, false, ps_shared == nullptr ? none : ps_shared->hash_key};
  OwnScan scan;
  if (IsTransactionState() && OpenOwnScan(&scan, "subject_key", nullptr, nullptr)) {
    const HeapTuple row = systable_getnext(scan.scan);
    found.kept = HeapTupleIsValid(row) && TakeKey(scan, row, &found.key);
    CloseOwnScan(&scan);
    found.known = true;
  }
  // Plans that are kept have the constants of their texts as hashes under the key before.
  static bool was_known = false;
  const privacy_score::HashKey& before = ps_subject_key.key;
  const bool is_another = was_known && (before.low != found.key.low || before.high != found.key.high);
  was_known = was_known || found.known;
  ps_subject_key = found;
  if (is_another) ResetPlanCache();
}

}  // namespace privacy_score
