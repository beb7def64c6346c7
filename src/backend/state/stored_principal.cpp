/*
 * stored_principal.cpp - see stored_principal.hpp.
 */
#include "backend/state/stored_principal.hpp"

#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "storage/procarray.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
}

#include "backend/server/settings.hpp"
#include "backend/state/history_months.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/own_scan.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/watching.hpp"
#include "core/scoring/returning_session.hpp"

namespace privacy_score {

namespace {

using Returning = CoreHolder<ReturningSession>;

// An end user is known for so many days after her last session.
constexpr int32 kKnownDays = 30;

// A column of a row by its name; an updated table need not have the order of a new one.
Datum StoredField(const OwnScan& scan, HeapTuple row, const char* column, bool* null) {
  const AttrNumber number = get_attnum(RelationGetRelid(scan.table), column);
  *null = true;
  return number == InvalidAttrNumber ? Datum(0) : heap_getattr(row, number, RelationGetDescr(scan.table), null);
}

int64 StoredNumber(const OwnScan& scan, HeapTuple row, const char* column) {
  bool null;
  const Datum value = StoredField(scan, row, column, &null);
  return null ? 0 : DatumGetInt64(value);
}

int32 StoredInteger(const OwnScan& scan, HeapTuple row, const char* column) {
  bool null;
  const Datum value = StoredField(scan, row, column, &null);
  return null ? 0 : DatumGetInt32(value);
}

// An array as text, palloc'd; empty for NULL.
const char* StoredArrayText(const OwnScan& scan, HeapTuple row, const char* column) {
  bool null;
  const Datum value = StoredField(scan, row, column, &null);
  return null ? "" : OidOutputFunctionCall(F_ARRAY_OUT, value);
}

void SetNumberKey(ScanKey key, int64 number) {
  ScanKeyInit(key, 1, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(number));
}

// Keys for a role and an end user.
void SetPrincipalKeys(ScanKey keys, NameData* name, Oid table, const char* role, const char* end_user, Oid collation) {
  namestrcpy(name, role);
  ScanKeyInit(&keys[0], get_attnum(table, "role"), BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(name));
  ScanKeyEntryInitialize(&keys[1], 0, get_attnum(table, "end_user"), BTEqualStrategyNumber, InvalidOid, collation,
                         F_TEXTEQ, CStringGetTextDatum(end_user));
}

// Whether a row is deleted by a transaction that has not ended: who is being forgotten does not go on as who she was,
// or her session would be written into the row of the one that goes. An update leads to another version.
bool IsBeingDeleted(const HeapTupleData* row) {
  const HeapTupleHeaderData* header = row->t_data;
  if ((header->t_infomask & HEAP_XMAX_INVALID) != 0 || HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask)) return false;
  return ItemPointerEquals(const_cast<ItemPointer>(&row->t_self), const_cast<ItemPointer>(&header->t_ctid)) &&
         TransactionIdIsInProgress(HeapTupleHeaderGetUpdateXid(const_cast<HeapTupleHeader>(header)));
}

// Reads what principal_session has; `asked` is palloc'd, null for nothing.
bool ReadPrincipalRow(const char* role, const char* end_user, StoredPrincipal* stored, const bytea** asked) {
  NameData name;
  ScanKeyData keys[2];
  SetPrincipalKeys(keys, &name, OwnRelation("principal_session"), role, end_user, C_COLLATION_OID);
  OwnScan scan;
  if (!OpenOwnScan(&scan, "principal_session", "principal_session_pkey", keys, lengthof(keys))) return false;
  const HeapTuple row = systable_getnext(scan.scan);
  bool done = HeapTupleIsValid(row) && !IsBeingDeleted(row);
  if (done) {
    stored->row_id = StoredNumber(scan, row, "session_id");
    stored->alerted = static_cast<uint32>(StoredInteger(scan, row, "alerted"));
    bool null;
    const Datum value = StoredField(scan, row, "asked", &null);
    *asked = null ? nullptr : DatumGetByteaPCopy(value);
    const char* follows = StoredArrayText(scan, row, "follows");
    done = Counted([&] { stored->follows = ParseNGram(follows); });
  }
  CloseOwnScan(&scan);
  return done;
}

// The figures of the session; false when it has not been recorded, or has ended.
bool ReadOpenSession(const char* role, const char* end_user, TimestampTz now, StoredPrincipal* stored) {
  ScanKeyData key;
  SetNumberKey(&key, stored->row_id);
  OwnScan scan;
  if (!OpenOwnScanOf(&scan, TableOfSession("session", stored->row_id), &key, 1)) return false;
  const HeapTuple row = systable_getnext(scan.scan);
  bool goes_on = false;
  if (HeapTupleIsValid(row)) {
    bool no_role, no_user, no_session, no_reach;
    const Datum of_role = StoredField(scan, row, "role", &no_role);
    const Datum of_user = StoredField(scan, row, "end_user", &no_user);
    const Datum session = StoredField(scan, row, "session", &no_session);
    stored->started = StoredNumber(scan, row, "started");
    stored->last_at = StoredNumber(scan, row, "last_at");
    stored->day = StoredInteger(scan, row, "day");
    stored->queries = StoredNumber(scan, row, "queries");
    stored->refused = StoredNumber(scan, row, "refused");
    stored->most_rows = StoredNumber(scan, row, "most_rows");
    stored->differ = static_cast<int32>(StoredNumber(scan, row, "differ"));
    stored->reach = {{StoredNumber(scan, row, "reach"), StoredNumber(scan, row, "subjects"),
                      StoredInteger(scan, row, "subject_columns")},
                     StoredNumber(scan, row, "addressed"),
                     StoredNumber(scan, row, "person")};
    (void)StoredField(scan, row, "reach", &no_reach);
    stored->reach_known = !no_reach;
    if (!no_session) strlcpy(stored->session, TextDatumGetCString(session), sizeof stored->session);
    const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
    goes_on = !no_role && !no_session && strcmp(NameStr(*DatumGetName(of_role)), role) == 0 &&
              strcmp(no_user ? "" : TextDatumGetCString(of_user), end_user) == 0 && now - stored->last_at <= gap &&
              DayOf(now) <= stored->day;
  }
  CloseOwnScan(&scan);
  return goes_on;
}

bool ReadSessionParts(const StoredPrincipal* stored, const Returning* returning) {
  ScanKeyData key;
  SetNumberKey(&key, stored->row_id);
  OwnScan scan;
  if (!OpenOwnScanOf(&scan, TableOfSession("session_part", stored->row_id), &key, 1)) return false;
  bool done = true;
  for (HeapTuple row; done && HeapTupleIsValid(row = systable_getnext(scan.scan));) {
    const int32 part = StoredInteger(scan, row, "part");
    const char* ids = StoredArrayText(scan, row, "ids");
    const char* runs = StoredArrayText(scan, row, "runs");
    const char* rows = StoredArrayText(scan, row, "rows");
    done = Counted([&] { returning->object->AddPart(part, ids, runs, rows); });
  }
  CloseOwnScan(&scan);
  return done;
}

// The tokens of an abstraction, joined by kTokenEnd.
bool ReadTokensOf(int64 id, const Returning* returning) {
  ScanKeyData key;
  SetNumberKey(&key, id);
  OwnScan scan;
  if (!OpenOwnScan(&scan, "abstraction", "abstraction_pkey", &key)) return false;
  const HeapTuple row = systable_getnext(scan.scan);
  bool null = true;
  const Datum tokens = HeapTupleIsValid(row) ? StoredField(scan, row, "tokens", &null) : Datum(0);
  StringInfoData joined;
  initStringInfo(&joined);
  if (!null) {
    Datum* elements;
    int count;
    deconstruct_array(DatumGetArrayTypeP(tokens), TEXTOID, -1, false, TYPALIGN_INT, &elements, nullptr, &count);
    for (int i = 0; i < count; ++i) {
      if (i > 0) appendStringInfoChar(&joined, kTokenEnd);
      const text* token = DatumGetTextPP(elements[i]);
      appendBinaryStringInfo(&joined, VARDATA_ANY(token), static_cast<int>(VARSIZE_ANY_EXHDR(token)));
    }
  }
  CloseOwnScan(&scan);
  return !null && Counted([&] {
    returning->object->Define(id, std::string(joined.data, static_cast<std::size_t>(joined.len)));
  });
}

bool ReadAllTokens(const Returning* returning) {
  auto* ids = NewCoreHolder<std::vector<AbstractionId>>(CurrentMemoryContext);
  if (!Counted([&] { ids->Reset(new std::vector<AbstractionId>(returning->object->Abstractions())); })) return false;
  const std::size_t count = ids->object->size();
  for (std::size_t i = 0; i < count; ++i)
    if (!ReadTokensOf((*ids->object)[i], returning)) return false;
  return true;
}

// Makes the journal. Where nobody can read any more what was asked, reach goes on from the figures.
bool MakeStoredJournal(const bytea* sealed, const Returning* returning, StoredPrincipal* stored) {
  Size count = 0;
  const uint64* asked = sealed == nullptr ? nullptr : UnsealWords(ps_shared->seal_key, sealed, &count);
  auto* journal = NewCoreHolder<std::vector<std::uint64_t>>(stored->context);
  stored->journal = journal;
  // Those that the session gets, too.
  const ScoreSettings settings = ScoreSettingsInForce();
  const bool every_one = settings.counting == ScoreSettings::kMultiset;
  return Counted([&] {
    std::vector<std::uint64_t> words;
    if (asked != nullptr) {
      words.assign(asked, asked + count);
    } else if (stored->reach_known) {
      SessionJournal reached;
      reached.Write(SessionJournal::Reached{stored->reach});
      words = reached.words();
    }
    journal->Reset(new std::vector<std::uint64_t>(returning->object->Journal(settings.ngram_length, every_one, words)));
    stored->rows = returning->object->rows();
    stored->next_part = static_cast<int32>(returning->object->next_part());
  });
}

bool FillStored(const char* role, const char* end_user, TimestampTz now, StoredPrincipal* stored) {
  const bytea* asked = nullptr;
  if (!ReadPrincipalRow(role, end_user, stored, &asked) || !ReadOpenSession(role, end_user, now, stored)) return false;
  auto* returning = NewCoreHolder<ReturningSession>(CurrentMemoryContext);
  return Counted([&] { returning->Reset(new ReturningSession()); }) && ReadSessionParts(stored, returning) &&
         ReadAllTokens(returning) && MakeStoredJournal(asked, returning, stored);
}

// Whether a table of sessions has one of the end user since that day; not if there is no such table.
bool HasSessionIn(Oid table, const char* role, const char* end_user, DateADT day) {
  if (!OidIsValid(table)) return false;
  NameData name;
  ScanKeyData keys[3];
  SetPrincipalKeys(keys, &name, table, role, end_user, DEFAULT_COLLATION_OID);
  ScanKeyInit(&keys[2], get_attnum(table, "day"), BTGreaterEqualStrategyNumber, F_DATE_GE, DateADTGetDatum(day));
  OwnScan scan;
  if (!OpenOwnScanOf(&scan, table, keys, lengthof(keys))) return false;
  const bool has = HeapTupleIsValid(systable_getnext(scan.scan));
  CloseOwnScan(&scan);
  return has;
}

// Whether the end user has had a recorded session since that day, up to the next: a clock may have been put back.
bool HasSessionSince(const char* role, const char* end_user, DateADT day, DateADT today) {
  bool has = HasSessionIn(TableOfMonth("session", 0), role, end_user, day);
  for (int64 month = Max(MonthOfDay(day), 1); !has && month <= MonthOfDay(today + 1); ++month)
    has = HasSessionIn(TableOfMonth("session", month), role, end_user, day);
  return has;
}

// Whether the end user has a baseline of her own.
bool HasBaseline(const char* role, const char* end_user) {
  NameData name;
  ScanKeyData key;
  namestrcpy(&name, role);
  ScanKeyInit(&key, get_attnum(OwnRelation("baseline"), "role"), BTEqualStrategyNumber, F_NAMEEQ, NameGetDatum(&name));
  OwnScan scan;
  if (!OpenOwnScan(&scan, "baseline", "baseline_active", &key)) return false;
  bool has = false;
  for (HeapTuple row; !has && HeapTupleIsValid(row = systable_getnext(scan.scan));) {
    bool none;
    const Datum whose = StoredField(scan, row, "end_user", &none);
    has = !none && strcmp(TextDatumGetCString(whose), end_user) == 0;
  }
  CloseOwnScan(&scan);
  return has;
}

}  // namespace

StoredPrincipal* ReadStoredPrincipal(const char* role, const char* end_user, TimestampTz now) {
  if (!IsTransactionState() || RecoveryInProgress()) return nullptr;
  MemoryContext context =
      AllocSetContextCreate(CurrentMemoryContext, "privacy_score stored principal", ALLOCSET_DEFAULT_SIZES);
  MemoryContext before = MemoryContextSwitchTo(context);
  auto* stored = static_cast<StoredPrincipal*>(palloc0(sizeof(StoredPrincipal)));
  stored->context = context;
  const bool found = FillStored(role, end_user, now, stored);
  MemoryContextSwitchTo(before);
  if (found) return stored;
  MemoryContextDelete(context);
  return nullptr;
}

void ForgetStored(StoredPrincipal* stored) {
  if (stored != nullptr) MemoryContextDelete(stored->context);
}

void BecomeStored(LiveSession* session, const StoredPrincipal* stored) {
  strlcpy(session->session, stored->session, sizeof session->session);
  session->started = stored->started;
  session->last_at = stored->last_at;
  session->day = stored->day;
  session->row_id = stored->row_id;
  session->next_part = stored->next_part;
  session->flushed_queries = session->summary.queries = stored->queries;
  session->refused = session->flushed_refused = stored->refused;
  session->rows = stored->rows;
  session->most_rows = stored->most_rows;
  session->differ = session->flushed_differ = stored->differ;
  session->reach = stored->reach;
  session->reach_known = stored->reach_known;
  session->alerted = stored->alerted & ~(kHeldByNovelty | kHeldByExtent);
  session->alarmed_by_novelty = (stored->alerted & kHeldByNovelty) != 0;
  session->alarmed_by_extent = (stored->alerted & kHeldByExtent) != 0;
  PrincipalPart* part = session->part;
  part->queries = stored->queries;
  part->tail_known = false;
  part->kept = true;
  part->ended.count = 1;
  part->ended.list[0] = {part->turn, stored->follows};
}

bool IsKnownEndUser(const char* role, const char* end_user, TimestampTz now) {
  // Nobody can make up who is no end user.
  if (end_user[0] == '\0') return true;
  if (!IsTransactionState()) return false;
  return HasSessionSince(role, end_user, DayOf(now) - kKnownDays, DayOf(now)) || HasBaseline(role, end_user);
}

}  // namespace privacy_score
