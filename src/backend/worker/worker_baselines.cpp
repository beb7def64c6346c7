/*
 * worker_baselines.cpp - see worker_baselines.hpp.
 *
 * All baselines together may have millions of n-grams, and a model is published for each round of rates. So three looks
 * tell what has to be read: the server's counts of rows written say whether anything can have changed at all; then a
 * digest of the rows of each baseline whether it has; and only what is new or another is read and packed. A standby has
 * no such counts, and digests each time.
 *
 * Where they do not all fit, baselines of roles that have no session open come without their n-grams, the most of them,
 * and if need be others: sessions of such a role are scored by its statements, and estimated (core/scoring/score.hpp).
 * The statements of all are needed, which say what is usual among peers.
 */
#include "backend/worker/worker_baselines.hpp"

extern "C" {
#include "access/xlog.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/builtins.h"
}

#include "backend/rates/model_wire.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/own_scan.hpp"
#include "backend/state/shared_baselines.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

#define SQL_DIGEST(what, table)                                                             \
  "(SELECT pg_catalog.sum(pg_catalog.hash_array_extended(x." what ", x.count)) FROM " table \
  " x WHERE x.baseline_id = b.id)"
#define SQL_DIGESTS \
  "SELECT b.id, b.role, pg_catalog.hashtextextended(pg_catalog.concat_ws(' ', b.role, "                           \
  SQL_DIGEST("ngram", "privacy_score.baseline_ngram") ", '/', " SQL_DIGEST("ids", "privacy_score.baseline_session") \
  "), 0) AS digest FROM privacy_score.baseline b WHERE b.active "
const char* const kActiveDigests = SQL_DIGESTS "ORDER BY b.id";
const char* const kDigestOf = "SELECT d.digest FROM (" SQL_DIGESTS "AND b.id = $1::pg_catalog.int8) d";
const char* const kActiveIds =
    "SELECT b.id, b.role, NULL AS digest FROM privacy_score.baseline b WHERE b.active ORDER BY b.id";

const char* const kNGramsOf =
    "SELECT n.baseline_id, n.ngram, n.count FROM privacy_score.baseline_ngram n "
    "WHERE n.baseline_id = $1::pg_catalog.int8";
const char* const kSessionsOf =
    "SELECT s.baseline_id, s.count, s.ids FROM privacy_score.baseline_session s "
    "WHERE s.baseline_id = $1::pg_catalog.int8 ORDER BY s.ids";
const char* const kTokensOf = SQL_TOKENS(
    "WHERE a.id IN (SELECT pg_catalog.unnest(s.ids) FROM privacy_score.baseline_session s "
    "WHERE s.baseline_id = $1::pg_catalog.int8)");

}  // namespace

int64 CountWrittenBaselines() {
  if (RecoveryInProgress() || !pgstat_track_counts) return -1;
  constexpr const char* kTables[] = {"baseline", "baseline_ngram", "baseline_session"};
  constexpr PGFunction kCounts[] = {pg_stat_get_tuples_inserted, pg_stat_get_tuples_updated,
                                    pg_stat_get_tuples_deleted};
  uint64 all = 0;
  for (const char* table : kTables) {
    const Oid oid = OwnRelation(table);
    if (!OidIsValid(oid)) return -1;
    const Datum relation = ObjectIdGetDatum(oid);
    all += DatumGetObjectId(DirectFunctionCall1(pg_relation_filenode, relation));
    for (const PGFunction count : kCounts)
      all += static_cast<uint64>(DatumGetInt64(DirectFunctionCall1(count, relation)));
  }
  return static_cast<int64>(all & PG_INT64_MAX);
}

namespace {

// Roles that have a session open, sorted.
struct OpenRoles {
  NameData* names;
  int count;
};

int CompareNames(const void* a, const void* b) {
  return strcmp(NameStr(*static_cast<const NameData*>(a)), NameStr(*static_cast<const NameData*>(b)));
}

OpenRoles FindOpenRoles(DatabaseSlot* slot) {
  LWLockAcquire(slot->lock, LW_SHARED);
  const int most = slot->session_count;
  LWLockRelease(slot->lock);
  OpenRoles roles = {static_cast<NameData*>(palloc(static_cast<Size>(most + 1) * sizeof(NameData))), 0};
  LWLockAcquire(slot->lock, LW_SHARED);
  for (const LiveSession* session = slot->sessions; session != nullptr && roles.count < most; session = session->next)
    if (!session->closed) roles.names[roles.count++] = session->role_name;
  LWLockRelease(slot->lock);
  qsort(roles.names, static_cast<size_t>(roles.count), sizeof(NameData), CompareNames);
  return roles;
}

bool HasOpenSession(const OpenRoles& roles, const char* role) {
  NameData name;
  namestrcpy(&name, role);
  return bsearch(&name, roles.names, static_cast<size_t>(roles.count), sizeof(NameData), CompareNames) != nullptr;
}

// A baseline in force, as the tables have it.
struct ActiveBaseline {
  char* id;
  char* role;
  uint64 digest;
  bool is_open;        // its role has a session open
  dsa_pointer place;   // invalid: it has to be read
  dsa_pointer before;  // as it stands in shared memory
};

SharedBaseline* At(dsa_pointer place) { return DsaPointerIsValid(place) ? SharedAt<SharedBaseline>(place) : nullptr; }

int64 WholeSize(const SharedBaseline* baseline) {
  return baseline->length + (baseline->whole ? 0 : baseline->ngram_bytes);
}

// What a baseline is on its way into shared memory.
struct Packed {
  std::string whole, rest;
  int64 ngram_bytes = 0;
  bool lost_tokens = false;
};

dsa_pointer PlaceBaseline(DatabaseSlot* slot, const ActiveBaseline& active, const Packed& packed, bool whole) {
  const dsa_pointer place =
      NewSharedBaseline(slot, strtoll(active.id, nullptr, 10), whole ? packed.whole : packed.rest);
  if (SharedBaseline* baseline = At(place); baseline != nullptr) {
    baseline->digest = active.digest;
    baseline->whole = whole;
    baseline->ngram_bytes = packed.ngram_bytes;
    baseline->lost_tokens = packed.lost_tokens;
    namestrcpy(&baseline->role, active.role);
  }
  return place;
}

// Within CallCore.
void PackRest(Packed* packed) {
  packed->rest = PackedBaseline::WithoutNGrams(packed->whole);
  const PackedBaseline rest = PackedBaseline::At(packed->rest);
  packed->ngram_bytes = static_cast<int64>(rest.left_out);
  packed->lost_tokens = !rest.HasAllTokens();
}

// Reads a baseline as its rows are now into shared memory: with its n-grams if they are no more than `room` with the
// rest, and there is so much; else, unless `only_whole`, without them. Invalid when there is no room for that. It stays
// where it is when its rows are what they were.
dsa_pointer ReadBaseline(DatabaseSlot* slot, ActiveBaseline* of, int64 room, bool only_whole) {
  if (of->digest == 0) {
    const char* digest = KeptInternalValue(kDigestOf, 1, &of->id);
    of->digest = digest == nullptr ? 0 : static_cast<uint64>(strtoll(digest, nullptr, 10));
  }
  const ActiveBaseline& active = *of;
  StringInfoData ngrams, sessions, tokens;
  for (StringInfo wire : {&ngrams, &sessions, &tokens}) initStringInfo(wire);
  const char* id = active.id;
  AppendKeptSection<BaselineNGramSection>(&ngrams, kNGramsOf, 1, &id);
  AppendKeptSection<BaselineSessionSection>(&sessions, kSessionsOf, 1, &id);
  AppendKeptSection<TokenSection>(&tokens, kTokensOf, 1, &id);
  auto* packed = NewCoreObject<Packed>();
  CallCoreOrRaise([&] {
    packed->whole = PackedBaseline::Pack(WireBytes(&ngrams), WireBytes(&sessions), WireBytes(&tokens));
    PackRest(packed);
  });
  for (StringInfo wire : {&ngrams, &sessions, &tokens}) pfree(wire->data);
  const bool whole = static_cast<int64>(packed->whole.size()) <= room;
  dsa_pointer place = InvalidDsaPointer;
  if (SharedBaseline* before = At(active.before); before != nullptr && before->whole == whole) {
    const std::string_view bytes = {before->bytes, static_cast<std::size_t>(before->length)};
    if (bytes == (whole ? packed->whole : packed->rest) && strcmp(NameStr(before->role), active.role) == 0) {
      before->digest = active.digest;
      place = active.before;
    }
  }
  if (!DsaPointerIsValid(place) && whole) place = PlaceBaseline(slot, active, *packed, true);
  if (!DsaPointerIsValid(place) && !only_whole) place = PlaceBaseline(slot, active, *packed, false);
  CallCoreOrRaise([&] { *packed = Packed(); });
  return place;
}

// The same baseline without its n-grams.
dsa_pointer LeaveOutNGrams(DatabaseSlot* slot, const ActiveBaseline& active) {
  const SharedBaseline* whole = At(active.place);
  auto* packed = NewCoreObject<Packed>();
  CallCoreOrRaise([&] {
    packed->whole.assign(whole->bytes, static_cast<std::size_t>(whole->length));
    PackRest(packed);
  });
  const dsa_pointer place = PlaceBaseline(slot, active, *packed, false);
  CallCoreOrRaise([&] { *packed = Packed(); });
  return place;
}

// What shared memory held when n-grams that should fit found no room; 0: they did. They are not tried again before some
// of that is free, or a minute has passed.
uint64 full_at = 0;
TimestampTz tried_at = 0;

// Finds a place for one with what room is left for all of them, and takes that off.
void PlaceWithin(DatabaseSlot* slot, ActiveBaseline* active, int64* room) {
  const dsa_pointer before = active->place;
  const SharedBaseline* known = At(before);
  const bool may_become_whole = known != nullptr && !known->whole && WholeSize(known) <= *room;
  if (known == nullptr || may_become_whole)
    active->place = ReadBaseline(slot, active, *room, may_become_whole);
  else if (known->whole && known->length > *room)
    active->place = LeaveOutNGrams(slot, *active);
  if (!DsaPointerIsValid(active->place)) active->place = before;
  const SharedBaseline* placed = At(active->place);
  if (placed == nullptr) return;
  if (!placed->whole && WholeSize(placed) <= *room) {
    // The room is kept for it: the next ones come without their n-grams, and then it has it.
    *room -= WholeSize(placed);
    full_at = pg_atomic_read_u64(&ps_shared->memory_used);
    tried_at = GetCurrentTimestamp();
  } else {
    *room -= placed->length;
  }
}

// Whether a role with an open session lacks n-grams for which there is room without those of roles that have none.
bool AnyWouldFit(DatabaseSlot* slot) {
  if (BaselinesLeftOut(slot) == 0) return false;
  if (full_at != 0 && pg_atomic_read_u64(&ps_shared->memory_used) >= full_at &&
      GetCurrentTimestamp() - tried_at < USECS_PER_MINUTE)
    return false;
  const OpenRoles roles = FindOpenRoles(slot);
  const SharedBaselines* set = BaselinesInForce(slot);
  int64 room = RoomForBaselines();
  int64 least = PG_INT64_MAX;
  for (int32 i = 0; i < set->count; ++i) {
    const SharedBaseline* baseline = At(set->of[i]);
    const bool is_open = HasOpenSession(roles, NameStr(baseline->role));
    room -= WholeSize(baseline) - (is_open && baseline->whole ? 0 : baseline->ngram_bytes);
    if (is_open && !baseline->whole) least = Min(least, baseline->ngram_bytes);
  }
  return least <= room;
}

int64 counted_at_gathering = -1;
bool all_gathered = false;  // none was left out for lack of room
bool are_due = false;

}  // namespace

void GatherBaselines(DatabaseSlot* slot, MemoryContext context, int64 counted, GatheredBaselines* gathered) {
  FreeBaselines(slot, false);
  full_at = 0;
  const bool may_differ = counted < 0 || counted != counted_at_gathering || !all_gathered;
  const int done = SPI_execute(may_differ ? kActiveDigests : kActiveIds, true, 0);
  if (done != SPI_OK_SELECT) elog(ERROR, "baselines could not be read: %s", SPI_result_code_string(done));
  const auto count = static_cast<int32>(SPI_processed);
  const OpenRoles roles = FindOpenRoles(slot);
  auto* active = static_cast<ActiveBaseline*>(palloc(static_cast<Size>(count + 1) * sizeof(ActiveBaseline)));
  for (int32 i = 0; i < count; ++i) {
    const auto row = static_cast<uint64>(i);
    active[i] = {FieldText(row, 0), FieldText(row, 1), static_cast<uint64>(FieldNumber(row, 2)), false,
                 InvalidDsaPointer, InvalidDsaPointer};
    active[i].is_open = HasOpenSession(roles, active[i].role);
    const dsa_pointer place = FindSharedBaseline(slot, strtoll(active[i].id, nullptr, 10));
    const SharedBaseline* known = At(place);
    active[i].before = place;
    if (known == nullptr || known->lost_tokens || (may_differ && known->digest != active[i].digest)) continue;
    active[i].place = place;
    active[i].digest = known->digest;
  }
  int64 room = RoomForBaselines();
  for (const bool is_open : {true, false})
    for (int32 i = 0; i < count; ++i) {
      CHECK_FOR_INTERRUPTS();
      if (active[i].is_open == is_open) PlaceWithin(slot, &active[i], &room);
    }
  const Size size = static_cast<Size>(count + 1) * sizeof(dsa_pointer);
  *gathered = {static_cast<dsa_pointer*>(MemoryContextAlloc(context, size)), count, true};
  for (int32 i = 0; i < count; ++i) {
    gathered->of[i] = active[i].place;
    gathered->fit = gathered->fit && DsaPointerIsValid(active[i].place);
  }
  counted_at_gathering = counted;
  all_gathered = gathered->fit;
  are_due = false;
}

bool SameBaselines(const DatabaseSlot* slot, const GatheredBaselines& gathered) {
  const SharedBaselines* set = BaselinesInForce(slot);
  return set != nullptr && set->count == gathered.count &&
         memcmp(set->of, gathered.of, static_cast<Size>(set->count) * sizeof(dsa_pointer)) == 0;
}

void LookAtBaselines(DatabaseSlot* slot) {
  FreeBaselines(slot, false);
  const int64 counted = CountWrittenBaselines();
  are_due = (counted >= 0 && counted != counted_at_gathering) || AnyWouldFit(slot);
}

bool BaselinesAreDue() { return are_due; }

}  // namespace privacy_score
