/*
 * live.cpp - the watched session of this backend (see live.hpp).
 *
 * The scorer is a C++ object that lives as long as the process; it is touched only inside CallCore. The session lives
 * in shared memory (shared_state.hpp) and belongs to this backend until it is closed.
 */
#include "live.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_shseclabel.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "pgtime.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/abstraction.hpp"
#include "core/live_scorer.hpp"
#include "core_call.hpp"
#include "limits.hpp"
#include "settings.hpp"
#include "shared_state.hpp"

using privacy_score::LiveScorer;
using privacy_score::SessionSummary;

namespace {

// What this backend knows about one principal, on the C++ heap.
struct LocalScorer {
  explicit LocalScorer(const privacy_score::ScoreSettings& settings, const char* role) : scorer(role, settings) {}
  LiveScorer scorer;
  std::unordered_set<int64> sent;  // definitions that the current session has handed to the worker
  std::vector<std::string> missing;
  std::string explanation = "{}";
};

struct Local {
  bool extension_known;
  Oid extension;
  Oid principal;
  bool principal_watched;
  uint64 labels_version;
  bool uncounted;
  bool model_changed, labels_changed;  // by this transaction
  bool error_logged;
  uint64 model_version;  // that the scorer has loaded
  Oid scorer_role;
  LocalScorer* scorer;
  std::unordered_map<int64, std::string>* tokens;  // joined by kTokenEnd, of all met in this process
  bool exit_registered;
  LiveSession* session;
  int pieces;  // sessions so far of this connection
};

Local local;

// The name of a role; of one that was dropped while its session runs, its OID.
const char* RoleName(Oid role) {
  const char* name = GetUserNameFromId(role, true);
  return name != nullptr ? name : psprintf("%u", role);
}

Oid PrincipalOf() {
  return ps_settings.principal == static_cast<int>(Principal::kCurrentUser) ? GetUserId() : GetSessionUserId();
}

void OnNamespaceChange(Datum, int, uint32) { local.extension_known = false; }

void OnTransactionEnd(XactEvent event, void*) {
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE || event == XACT_EVENT_PARALLEL_PRE_COMMIT)
    return;
  if (event == XACT_EVENT_COMMIT && ps_shared != nullptr) {
    if (local.labels_changed) pg_atomic_fetch_add_u64(&ps_shared->role_labels_version, 1);
    if (local.model_changed) {
      DatabaseSlot* slot = SlotOfDatabase(true);
      if (slot != nullptr) {
        pg_atomic_fetch_add_u64(&slot->model_wanted, 1);
        WakeWorker(slot);
      }
    }
  }
  local.model_changed = local.labels_changed = false;
  local.uncounted = false;
}

void OnSubtransactionEnd(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event == SUBXACT_EVENT_ABORT_SUB) local.uncounted = false;
}

void CloseSession() {
  if (local.session == nullptr) return;
  LiveSession* session = local.session;
  local.session = nullptr;
  SpinLockAcquire(&session->mutex);
  session->closed = true;
  SpinLockRelease(&session->mutex);
  // The last one to leave wakes the worker, so that it leaves too and the database can be dropped; else its interval is
  // soon enough.
  DatabaseSlot* slot = SlotOfDatabase(false);
  EnsureWorker(slot);
  if (slot->session_count <= 1) WakeWorker(slot);
}

void OnBackendExit(int, Datum) { CloseSession(); }

// Fills a fresh session; everything else is zero.
void FillSession(LiveSession* session, Oid role, TimestampTz now) {
  SpinLockInit(&session->mutex);
  session->pid = MyProcPid;
  session->role = role;
  namestrcpy(&session->role_name, RoleName(role));
  ++local.pieces;
  if (local.pieces == 1)
    snprintf(session->session, kSessionTextLength, "%lx.%x", static_cast<unsigned long>(MyStartTime), MyProcPid);
  else
    snprintf(session->session, kSessionTextLength, "%lx.%x/%d", static_cast<unsigned long>(MyStartTime), MyProcPid,
             local.pieces);
  session->started = session->last_at = now;
  session->day = DayOf(now);
  session->day_score = -1;
  session->settings = ScoreSettingsInForce();
}

// Opens a session in shared memory for `role`; leaves local.session null when there is no room.
void OpenSession(Oid role, TimestampTz now) {
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr) return;
  const dsa_pointer pointer = AllocateShared(sizeof(LiveSession));
  if (!DsaPointerIsValid(pointer)) return;
  auto* session = SharedAt<LiveSession>(pointer);
  FillSession(session, role, now);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  session->next = slot->sessions;
  if (DsaPointerIsValid(slot->sessions)) SharedAt<LiveSession>(slot->sessions)->previous = pointer;
  slot->sessions = pointer;
  ++slot->session_count;
  LWLockRelease(slot->lock);
  if (!local.exit_registered) before_shmem_exit(OnBackendExit, Datum(0));
  local.exit_registered = true;
  local.session = session;
}

// Makes the scorer of `role`, or gives it the settings in force; starts a new session in it.
bool RestartScorer(Oid role) {
  const char* name = RoleName(role);
  const privacy_score::ScoreSettings settings = ScoreSettingsInForce();
  CoreError error;
  const bool done = CallCore(&error, [&] {
    if (local.scorer == nullptr || local.scorer_role != role) {
      delete local.scorer;
      local.scorer = nullptr;
      local.scorer = new LocalScorer(settings, name);
      local.model_version = 0;
    }
    local.scorer->scorer.Configure(settings);
    local.scorer->scorer.Restart();
    local.scorer->sent.clear();
  });
  local.scorer_role = role;
  if (!done) CountScoringError(error.message);
  return done;
}

// Loads the model in force into the scorer when there is a newer one.
void RefreshModel(DatabaseSlot* slot) {
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  if (version == local.model_version || version == 0) return;
  LWLockAcquire(slot->lock, LW_SHARED);
  const uint64 held = pg_atomic_read_u64(&slot->model_version);
  const Size length = static_cast<Size>(slot->model_length);
  char* copy = static_cast<char*>(
      MemoryContextAllocExtended(CurrentMemoryContext, length + 1, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE));
  if (copy != nullptr && length > 0) memcpy(copy, dsa_get_address(SharedArea(), slot->model), length);
  LWLockRelease(slot->lock);
  CoreError error;
  if (copy == nullptr || !CallCore(&error, [&] { local.scorer->scorer.Load({copy, length}); }))
    CountScoringError(copy == nullptr ? "out of memory" : error.message);
  else
    local.model_version = held;
  if (copy != nullptr) pfree(copy);
}

// Hands the rates that the scorer missed to the worker. The list is bounded: what does not fit is asked for again when
// the next model has been loaded.
void SendMissingRates(DatabaseSlot* slot) {
  constexpr int kMostMissing = 20000;
  CoreError error;
  std::size_t count = 0;
  if (!CallCore(&error, [&] {
        local.scorer->missing.clear();
        for (const auto& rate : local.scorer->scorer.TakeMissing())
          local.scorer->missing.push_back(rate.relation + '\0' + rate.attributes);
        count = local.scorer->missing.size();
      }))
    return;
  if (count == 0) return;
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  for (std::size_t i = 0; i < count && slot->missing_count < kMostMissing; ++i) {
    const std::string& text = local.scorer->missing[i];
    const dsa_pointer pointer = AllocateShared(offsetof(MissingRateNode, text) + text.size());
    if (!DsaPointerIsValid(pointer)) break;
    auto* node = SharedAt<MissingRateNode>(pointer);
    node->length = static_cast<int32>(text.size());
    memcpy(node->text, text.data(), text.size());
    node->next = slot->missing_rates;
    slot->missing_rates = pointer;
    ++slot->missing_count;
  }
  LWLockRelease(slot->lock);
  WakeWorker(slot);
}

// Sends the tokens of an abstraction with the first event of the session that has it.
bool SendDefinition(LiveSession* session, int64 id) {
  const std::string* text = nullptr;
  CoreError error;
  if (!CallCore(&error, [&] {
        if (local.scorer->sent.count(id) == 0) text = &local.tokens->at(id);
      }))
    return false;
  if (text == nullptr) return true;
  const dsa_pointer pointer = AllocateShared(offsetof(Definition, tokens) + text->size());
  if (!DsaPointerIsValid(pointer)) return false;
  auto* node = SharedAt<Definition>(pointer);
  node->id = id;
  node->length = static_cast<int32>(text->size());
  memcpy(node->tokens, text->data(), text->size());
  SpinLockAcquire(&session->mutex);
  node->next = session->open.definitions;
  session->open.definitions = pointer;
  SpinLockRelease(&session->mutex);
  return CallCore(&error, [&] { local.scorer->sent.insert(id); });
}

// Appends one event to the open chunks of the session: a longer run, an entry, or a new chunk.
bool AppendEvent(LiveSession* session, int64 id) {
  SpinLockAcquire(&session->mutex);
  EventChunk* chunk =
      DsaPointerIsValid(session->open.chunks_last) ? SharedAt<EventChunk>(session->open.chunks_last) : nullptr;
  bool done = false;
  if (chunk != nullptr && chunk->entries[chunk->used - 1].id == id) {
    ++chunk->entries[chunk->used - 1].run;
    done = true;
  } else if (chunk != nullptr && chunk->used < kChunkEntries) {
    chunk->entries[chunk->used++] = {id, 1};
    done = true;
  }
  SpinLockRelease(&session->mutex);
  if (done) return true;
  const dsa_pointer pointer = AllocateShared(sizeof(EventChunk));
  if (!DsaPointerIsValid(pointer)) return false;
  auto* fresh = SharedAt<EventChunk>(pointer);
  fresh->used = 1;
  fresh->entries[0] = {id, 1};
  SpinLockAcquire(&session->mutex);
  if (DsaPointerIsValid(session->open.chunks_last))
    SharedAt<EventChunk>(session->open.chunks_last)->next = pointer;
  else
    session->open.chunks_first = pointer;
  session->open.chunks_last = pointer;
  SpinLockRelease(&session->mutex);
  return true;
}

// Makes sure that a session is open for the principal and the moment.
bool CurrentSession(Oid role, TimestampTz now) {
  LiveSession* session = local.session;
  const int64 gap = static_cast<int64>(ps_settings.idle_gap) * USECS_PER_SEC;
  if (session != nullptr && (session->role != role || now - session->last_at > gap || DayOf(now) != session->day))
    CloseSession();
  if (local.session != nullptr) return true;
  if (!RestartScorer(role)) return false;
  OpenSession(role, now);
  return local.session != nullptr;
}

// Whether the scorer has the model that declarations and baselines ask for now.
bool ModelIsCurrent(DatabaseSlot* slot) {
  return local.model_version != 0 && pg_atomic_read_u64(&slot->model_wanted) == slot->model_built_for;
}

// `current`: with the model in force; else the worker scores the session again when it has built that.
void PublishSummary(LiveSession* session, const SessionSummary& summary, bool current, int64 id, TimestampTz now) {
  SpinLockAcquire(&session->mutex);
  session->summary = summary;
  session->summary.estimated |= !current;
  session->model_version = current ? local.model_version : 0;
  session->last_id = id;
  session->last_at = now;
  session->limits = {ps_settings.session_limit, ps_settings.daily_limit, ps_settings.normalised_limit,
                     ps_settings.alert_level};
  session->warn = ModeInForce() != WatchMode::kObserve;
  SpinLockRelease(&session->mutex);
}

// Raises the alerts that are due, with the explanation of the last n-gram.
void AlertOnLimits(LiveSession* session, double rise) {
  PassedLimit passed[kAlertKinds];
  const int count = TakePassedLimits(session, rise, passed);
  if (count == 0) return;
  CoreError error;
  if (!CallCore(&error, [&] { local.scorer->explanation = local.scorer->scorer.LastExplanation(); }))
    CountScoringError(error.message);
  for (int i = 0; i < count; ++i) {
    RaiseAlert(session, passed[i], local.scorer->explanation.data(), local.scorer->explanation.size());
    if (session->warn) WarnClient(passed[i]);
  }
}

// Tells the client what the worker found when it corrected a score.
void DeliverWarnings(LiveSession* session) {
  PassedLimit passed[kAlertKinds];
  SpinLockAcquire(&session->mutex);
  const int count = session->unwarned_count;
  memcpy(passed, session->unwarned, sizeof passed);
  session->unwarned_count = 0;
  SpinLockRelease(&session->mutex);
  for (int i = 0; i < count; ++i) WarnClient(passed[i]);
}

}  // namespace

bool RoleIsWatched(Oid role, const char** reason) {
  if (superuser_arg(role)) {
    *reason = "superusers are not watched";
    return false;
  }
  ObjectAddress address;
  ObjectAddressSet(address, AuthIdRelationId, role);
  const char* label = GetSecurityLabel(&address, "privacy_score");
  if (label != nullptr) {
    *reason = "security label of the role";
    return strcmp(label, "exempt") != 0;
  }
  bool others = false;
  Relation relation = table_open(SharedSecLabelRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_shseclabel_classoid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(AuthIdRelationId));
  SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, nullptr, 1, &key);
  for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple) && !others; tuple = systable_getnext(scan)) {
    bool null_provider, null_label;
    const Datum provider = heap_getattr(tuple, Anum_pg_shseclabel_provider, RelationGetDescr(relation), &null_provider);
    const Datum value = heap_getattr(tuple, Anum_pg_shseclabel_label, RelationGetDescr(relation), &null_label);
    others = !null_provider && !null_label && strcmp(TextDatumGetCString(provider), "privacy_score") == 0 &&
             strcmp(TextDatumGetCString(value), "watched") == 0;
  }
  systable_endscan(scan);
  table_close(relation, AccessShareLock);
  *reason = others ? "only roles labelled watched are watched" : "no role is labelled watched, so all are";
  return !others;
}

bool Watching() {
  if (ps_settings.mode == static_cast<int>(WatchMode::kOff) || ps_shared == nullptr) return false;
  if (local.uncounted || !OidIsValid(MyDatabaseId)) return false;
  const Oid principal = PrincipalOf();
  const uint64 labels = pg_atomic_read_u64(&ps_shared->role_labels_version);
  if (principal == local.principal && labels == local.labels_version && local.extension_known)
    return OidIsValid(local.extension) && local.principal_watched;
  if (!IsTransactionState()) return false;
  const char* reason;
  const Oid extension = get_extension_oid("privacy_score", true);
  // Dropped and created again it has empty tables: what this session has sent before must be sent anew.
  if (extension != local.extension) CloseSession();
  local.extension = extension;
  local.extension_known = true;
  local.principal_watched = RoleIsWatched(principal, &reason);
  local.principal = principal;
  local.labels_version = labels;
  return OidIsValid(local.extension) && local.principal_watched;
}

int64 DefineAbstraction(const privacy_score::Statement& statement) {
  int64 id = 0;
  const auto define = [&](const privacy_score::Tokens& tokens) {
    id = privacy_score::Fingerprint(tokens);
    if (local.tokens == nullptr) local.tokens = new std::unordered_map<int64, std::string>();
    if (id == 0 || local.tokens->count(id) != 0) return;
    std::string text;
    for (const auto& token : tokens) {
      if (!text.empty()) text += kTokenEnd;
      text += token;
    }
    local.tokens->emplace(id, std::move(text));
  };
  CoreError error;
  if (CallCore(&error, [&] { define(privacy_score::Abstract(statement)); })) return id;
  CountScoringError(error.message);
  CallCore(&error, [&] { define({"unparsed"}); });
  return id;
}

void RecordEvent(int64 id) {
  if (id == 0) return;
  const TimestampTz now = GetCurrentTimestamp();
  pg_atomic_fetch_add_u64(&ps_shared->events, 1);
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot == nullptr || !CurrentSession(PrincipalOf(), now)) {
    pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
    return;
  }
  LiveSession* session = local.session;
  RefreshModel(slot);
  if (!SendDefinition(session, id) || !AppendEvent(session, id)) pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
  SessionSummary summary = {};
  double before = 0;
  CoreError error;
  const bool scored = CallCore(&error, [&] {
    LiveScorer& scorer = local.scorer->scorer;
    if (!scorer.Knows(id)) {
      privacy_score::Tokens tokens;
      const std::string& text = local.tokens->at(id);
      for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find(kTokenEnd, from), text.size());
        tokens.push_back(text.substr(from, to - from));
        from = to + 1;
      }
      scorer.Define(id, tokens);
    }
    before = scorer.summary().score;
    scorer.Observe(id);
    summary = scorer.summary();
  });
  if (!scored) {
    CountScoringError(error.message);
    return;
  }
  const bool current = ModelIsCurrent(slot);
  PublishSummary(session, summary, current, id, now);
  SendMissingRates(slot);
  EnsureWorker(slot);
  DeliverWarnings(session);
  if (!summary.estimated && current) AlertOnLimits(session, summary.score - before);
}

void CountScoringError(const char* what) {
  if (ps_shared != nullptr) pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  if (local.error_logged) return;
  local.error_logged = true;
  ereport(LOG, (errmsg("could not score a statement: %s", what), errhidestmt(true), errhidecontext(true)));
}

void NoteModelChange() { local.model_changed = true; }
void NoteRoleLabelChange() { local.labels_changed = local.model_changed = true; }
bool BeginUncounted() {
  const bool before = local.uncounted;
  local.uncounted = true;
  return before;
}

void EndUncounted(bool before) { local.uncounted = before; }

void InstallLiveCallbacks() {
  CacheRegisterSyscacheCallback(NAMESPACENAME, OnNamespaceChange, Datum(0));
  RegisterXactCallback(OnTransactionEnd, nullptr);
  RegisterSubXactCallback(OnSubtransactionEnd, nullptr);
}

int32 DayOf(TimestampTz at) {
  struct pg_tm tm;
  fsec_t fraction;
  int zone;
  if (timestamp2tm(at, &zone, &tm, &fraction, nullptr, log_timezone) != 0) return 0;
  return date2j(tm.tm_year, tm.tm_mon, tm.tm_mday) - POSTGRES_EPOCH_JDATE;
}
