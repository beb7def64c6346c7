/*
 * live_room.cpp - see live_room.hpp.
 */
#include "backend/state/live_room.hpp"

#include "backend/server/core_call.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_session.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

namespace {

// The tokens of `unparsed` are remembered from now on; its id, 0 for lack of memory.
int64 RememberUnparsed() {
  const int64 id = UnparsedId();
  CoreError error;
  return CallCore(&error, [&] { ps_local.tokens->emplace(id, kUnparsed); }) ? id : 0;
}

}  // namespace

int64 UnparsedId() {
  static int64 id = 0;
  CoreError error;
  if (id == 0) CallCore(&error, [] { id = privacy_score::Fingerprint({kUnparsed}); });
  return id;
}

bool IsUnparsed(int64 id) { return id == UnparsedId(); }

bool SendTokens(LiveSession* session, int64 id) {
  if (DefinitionSent(id)) return true;
  const std::string* text = nullptr;
  CoreError error;
  return CallCore(&error, [&] { text = &ps_local.tokens->at(id); }) && SendDefinition(session, id, *text);
}

void WaitForRoom(DatabaseSlot* slot) {
  EnsureWorker(slot);
  WakeWorker(slot);
  ConditionVariablePrepareToSleep(&slot->flushed);
  ConditionVariableTimedSleep(&slot->flushed, 20, WaitEventOf(OwnWait::kRoom));
  ConditionVariableCancelSleep();
}

int64 AppendUnparsed(LiveSession* session) {
  pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
  const int64 id = RememberUnparsed();
  if (id == 0 || !SendTokens(session, id) || !AppendEvent(session, id, nullptr)) CountUncounted(session, 1, 0);
  return id;
}

void AnnounceNoRoom(LiveSession* session) {
  if (!RaiseRoomAlert(session, false)) return;
  AwaitAlerts(session);
  if (session->warn) WarnClient({kAlertMemory, 0, 0});
}

void RecordLateRows(LiveSession* session, int64 id, int64 rows) {
  const int64 known = SendTokens(session, id) ? id : RememberUnparsed();
  if (known == 0 || !SendTokens(session, known) || !AppendRows(session, known, rows)) CountUncounted(session, 0, rows);
}

}  // namespace privacy_score
