/*
 * raw_reads.cpp - see raw_reads.hpp.
 *
 * Which functions these are is known by the name of what they run: pg_proc may have it under any other. What was looked
 * up of the server's own functions stays, of others until the catalogs change.
 */
#include "backend/watch/raw_reads.hpp"

#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/abstracting.hpp"
#include "backend/query/described_columns.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/live.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace {

// Whom the function itself lets have what it shows.
enum class Shows : uint8 { kUnknown, kNothing, kToAll, kToReplication, kToSuperusers };

// What functions run, by how their name begins.
struct RawFunction {
  const char* name;
  bool compiled;  // in a library, else in the server
  Shows shows;
};

constexpr RawFunction kRawFunctions[] = {{"pg_logical_slot_get_", false, Shows::kToReplication},
                                         {"pg_logical_slot_peek_", false, Shows::kToReplication},
                                         {"pg_read_file", false, Shows::kToAll},
                                         {"pg_read_binary_file", false, Shows::kToAll},
                                         {"be_lo_import", false, Shows::kToAll},
                                         {"pg_get_wal_block_info", true, Shows::kToAll},  // pg_walinspect
                                         {"pg_get_wal_fpi_info", true, Shows::kToAll},    // the same of another version
                                         {"get_raw_page", true, Shows::kToSuperusers},    // pageinspect
                                         {"bt_page_items", true, Shows::kToSuperusers}};

struct KnownReader {
  Oid function;
  Shows shows;
};

Shows of_server[FirstNormalObjectId];
HTAB* of_others = nullptr;
uint64 of_others_generation = 0;

Shows LookUp(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return Shows::kUnknown;
  const Oid language = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang;
  Shows shows = Shows::kNothing;
  if (language == INTERNALlanguageId || language == ClanguageId) {
    bool null;
    const Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &null);
    const char* name = null ? "" : TextDatumGetCString(source);
    for (const RawFunction& raw : kRawFunctions)
      if (raw.compiled == (language == ClanguageId) && strncmp(name, raw.name, strlen(raw.name)) == 0)
        shows = raw.shows;
  }
  ReleaseSysCache(tuple);
  return shows;
}

Shows LookUpOther(Oid function) {
  const uint64 generation = CatalogGeneration();
  if (of_others == nullptr || generation != of_others_generation) {
    if (of_others != nullptr) hash_destroy(of_others);
    of_others = nullptr;
    HASHCTL control;
    memset(&control, 0, sizeof control);
    control.keysize = sizeof(Oid);
    control.entrysize = sizeof(KnownReader);
    control.hcxt = CacheMemoryContext;
    of_others = hash_create("privacy_score functions", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
    of_others_generation = generation;
  }
  bool found;
  auto* known = static_cast<KnownReader*>(hash_search(of_others, &function, HASH_ENTER, &found));
  if (!found) known->shows = Shows::kUnknown;
  if (known->shows == Shows::kUnknown) known->shows = LookUp(function);
  return known->shows;
}

inline Shows ShownBy(Oid function) {
  if (function >= FirstNormalObjectId) return LookUpOther(function);
  if (of_server[function] == Shows::kUnknown) of_server[function] = LookUp(function);
  return of_server[function];
}

// What the function refuses it does not show.
bool ShowsToUser(Shows shows) {
  switch (shows) {
    case Shows::kToAll:
      return true;
    case Shows::kToReplication:
      return superuser() || has_rolreplication(GetUserId());
    case Shows::kToSuperusers:
      return superuser();
    default:
      return false;
  }
}

}  // namespace

[[gnu::hot]] void FunctionStarts(Oid function) {
  const Watch watch = WatchInForce();
  if (watch.role == RoleClass::kUnwatched || IsParallelWorker() || !ShowsToUser(ShownBy(function))) return;
  ForgetStaleRelations();
  if (!DescribesProtected(true)) return;
  if (LabelJudges(watch.role)) RecordProtectedRead(watch.role);
  if (Counts(watch.role)) RecordEvent(AbstractEverything());
}

}  // namespace privacy_score
