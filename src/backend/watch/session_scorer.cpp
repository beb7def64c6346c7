/*
 * session_scorer.cpp - see session_scorer.hpp.
 */
#include "backend/watch/session_scorer.hpp"

extern "C" {
#include "miscadmin.h"
}

#include <algorithm>

#include "backend/catalog/subject_key.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_model.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

Local ps_local;

namespace {

// Makes the scorer of this connection's sessions that of the role, or gives it the settings in force; starts a new
// session in it.
bool RestartScorer(const LiveSession* session) {
  const Oid role = session->role;
  const char* name = NameStr(session->role_name);
  const char* end_user = EndUserOf(session);
  const privacy_score::ScoreSettings settings = session->settings;
  CoreError error;
  const bool done = CallCore(&error, [&] {
    if (ps_local.own == nullptr || ps_local.own_role != role) {
      delete ps_local.own;
      ps_local.own = nullptr;
      ps_local.own = new LocalScorer(settings, name, end_user);
    }
    ps_local.own->scorer.Restart();  // first: what the session has had need not be scored once more
    ps_local.own->scorer.Configure(settings, end_user);
  });
  ps_local.own_role = role;
  ps_local.scorer = ps_local.own;
  if (!done) CountScoringError(error.message);
  return done;
}

// A new model comes with what may be a new key of subjects; where the database has none nobody adds up its days.
void FollowSubjectKey(LocalScorer* local, bool changed) {
  if (changed) ForgetSubjectKey();
  local->scorer.TellDay(SubjectKeyInForce().kept ? &local->told : nullptr);
}

}  // namespace

void RefreshModel(DatabaseSlot* slot, const LiveSession* session) {
  LocalScorer* local = ps_local.scorer;
  // What a model of this version, or of one before, reflects.
  const uint64 reflected = slot->model_built_for;
  pg_read_barrier();
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  if (version == local->model_version) local->model_built_for = reflected;
  if (version == local->model_version || version == 0) return;
  if (ShareModel(local, session->role, version)) {
    FollowSubjectKey(local, false);
    return;
  }
  const PinnedModel pinned = PinModel(slot);
  if (pinned.model == nullptr) return;
  CoreError error;
  const bool done = CallCore(&error, [&] { local->scorer.Load(BytesOf(pinned).Source()); });
  UnpinModel(pinned);
  if (done) {
    local->model_version = pinned.version;
    local->model_built_for = pinned.built_for;
    FollowSubjectKey(local, true);
  } else {
    CountScoringError(error.message);
  }
  GiveBackMemory();
}

void SendMissingRates(DatabaseSlot* slot) {
  static AskedShare asked;
  CoreError error;
  std::size_t count = 0;
  if (!CallCore(&error, [&] {
        ps_local.scorer->missing = ps_local.scorer->scorer.TakeMissing();
        count = ps_local.scorer->missing.size();
      }))
    return;
  if (count == 0) return;
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  for (std::size_t i = 0; i < count; ++i) {
    const privacy_score::MissingRate& rate = ps_local.scorer->missing[i];
    if (!AskForRate(slot, rate.relation, rate.attributes, &asked)) break;
    ++slot->missing_count;
  }
  LWLockRelease(slot->lock);
  WakeWorker(slot);
}

uint64 ChangeToWaitFor(DatabaseSlot* slot, const LiveSession* session, int64 id, uint64 changes) {
  if (ps_local.scorer->model_built_for >= changes) return 0;
  uint64 newest = changes;
  CoreError error;
  if (!CallCore(&error, [&] {
        newest = std::min(newest, NewestChange(slot, NameStr(session->role_name), ps_local.tokens->at(id)));
      }))
    CountScoringError(error.message);
  return newest;
}

bool ModelReflects(uint64 change) {
  return ps_local.scorer->model_version != 0 && ps_local.scorer->model_built_for >= change;
}

bool DefineInScorer(int64 id) {
  CoreError error;
  if (CallCore(&error, [&] {
        LiveScorer& scorer = ps_local.scorer->scorer;
        if (scorer.Knows(id)) return;
        scorer.Define(id, SplitTokens(ps_local.tokens->at(id)));
      }))
    return true;
  CountScoringError(error.message);
  return false;
}

LiveSession* CurrentSession(TimestampTz now, EndUserFault* fault) {
  const Oid role = PrincipalOf();
  const EndUser end_user = EndUserNow();
  *fault = end_user.fault;
  ps_own.asks_for_nobody = !SpeaksForOthers();
  CutLiveSession(role, end_user.name, now);
  if (OwnSession() != nullptr) return OwnSession();
  if (IsOverAll(end_user.name)) {
    LiveSession* session = AttachToPrincipal(role, end_user.name, now);
    if (session != nullptr || end_user.name[0] != '\0') return session;
  }
  LiveSession* session = OpenSession(role, end_user.name, now);
  if (session == nullptr || RestartScorer(session)) return session;
  CloseSession();
  return nullptr;
}

}  // namespace privacy_score
