/*
 * enforce.cpp - see enforce.hpp.
 */
#include "backend/watch/enforce.hpp"

extern "C" {
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

#include <unordered_set>

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostTold = 64;  // abstractions a session and kind
constexpr int kRefused = MAKE_SQLSTATE('P', 'S', '0', '0', '1');

// What this backend has written alerts about, so that a refused statement in a loop is one alert a session.
struct Told {
  const LiveSession* session;
  TimestampTz started;  // of it: its place may be another session's by now
  std::unordered_set<int64>* abstractions[kAlertKinds];
};

Told told;

// True the first time in a session.
bool FirstTime(const LiveSession* session, AlertKind kind, int64 id) {
  bool first = true;
  CoreError error;
  CallCore(&error, [&] {
    if (told.session != session || told.started != session->started)
      for (auto*& set : told.abstractions) {
        delete set;
        set = nullptr;
      }
    told.session = session;
    told.started = session->started;
    auto*& set = told.abstractions[AlertIndex(kind)];
    if (set == nullptr) set = new std::unordered_set<int64>();
    // Beyond that the number of refusals says enough: alerts must not fill the memory of everybody.
    first = set->size() < kMostTold && set->insert(id).second;
  });
  return first;
}

// Raises an alert and waits until it is durable: the client hears of it afterwards.
void AnnounceAlert(LiveSession* session, const PassedLimit& passed, bool blocked, std::string_view detail) {
  RaiseAlert(session, passed, blocked, detail.data(), detail.size());
  AwaitAlerts(session);
}

void CountRefusal(LiveSession* session) {
  SpinLockAcquire(&session->mutex);
  ++session->refused;
  SpinLockRelease(&session->mutex);
  EnsureWorker(SlotOfDatabase(false));
}

// Lets the statement pass under break_glass and says so once a session and kind.
bool GlassBroken(LiveSession* session, const PassedLimit& passed, std::string_view detail) {
  if (!ps_settings.break_glass) return false;
  if (session != nullptr && FirstTime(session, kAlertBreakGlass, passed.kind))
    AnnounceAlert(session, {kAlertBreakGlass, passed.score, passed.limit}, false, detail);
  return true;
}

// Counts and announces a refusal, the caller's error is to follow; false when the glass is broken. `session` may be
// null. `id`: of one cause of the kind an alert is enough.
bool AnnounceRefusal(LiveSession* session, const PassedLimit& passed, int64 id, std::string_view detail) {
  if (GlassBroken(session, passed, detail)) return false;
  if (session == nullptr) return true;
  CountRefusal(session);
  if (FirstTime(session, passed.kind, id)) AnnounceAlert(session, passed, true, detail);
  return true;
}

const char* WhomToAsk() {
  const Oid owner = ExtensionOwner();
  const char* name = OidIsValid(owner) ? GetUserNameFromId(owner, true) : nullptr;
  return name == nullptr ? "the administrator" : psprintf("role \"%s\", who administers privacy_score", name);
}

}  // namespace

const char* NoisyAnswerHint() {
  return psprintf("Use the dp functions of privacy_score, such as dp_count(), or ask %s.", WhomToAsk());
}

bool Enforcing() { return ModeInForce() == WatchMode::kEnforce; }

bool AnyLimitSet(const SessionLimits& limits) { return limits.session >= 0 || limits.daily >= 0; }

bool WouldPassLimit(const privacy_score::LiveScorer::Weighed& weighed, double day_before, const SessionLimits& set,
                    PassedLimit* passed) {
  // Who has passed a limit already may go on with what adds nothing.
  if (!weighed.adds) return false;
  const PassedLimit limits[] = {{kAlertSession, weighed.sum, set.session},
                                {kAlertDaily, day_before + weighed.rise, set.daily}};
  for (const PassedLimit& limit : limits) {
    if (limit.limit < 0 || limit.score <= limit.limit) continue;
    *passed = limit;
    return true;
  }
  return false;
}

void RefuseAboveLimit(LiveSession* session, const PassedLimit& passed, int64 id, bool estimated,
                      std::string_view explanation) {
  if (!AnnounceRefusal(session, passed, id, explanation)) return;
  ereport(ERROR, (errcode(kRefused),
                  errmsg("statement refused: its %s privacy score would be %.6g, above the limit %.6g",
                         AlertKindName(passed.kind), passed.score, passed.limit),
                  estimated ? errdetail("The score is an upper bound: exact rates are not known yet.") : 0,
                  errhint("Ask %s, if this work is meant to be done.", WhomToAsk())));
}

bool AddsToAlarm(const LiveSession* session, int64 id, bool defined) {
  if (!session->alarmed_by_novelty && !session->alarmed_by_extent) return false;
  if (AlarmActionInForce() != AlarmAction::kRefuse) return false;
  if (!defined || IsUnparsed(id)) return true;
  bool adds = true;
  CoreError error;
  if (!CallCore(&error, [&] {
        privacy_score::LiveScorer& scorer = ps_local.scorer->scorer;
        adds = scorer.Weigh(id).adds || (session->alarmed_by_extent && scorer.IsAboutProtected(id));
      }))
    CountScoringError(error.message);
  return adds;
}

bool AddsToOverflow(const LiveSession* session, int64 id, bool defined) {
  if (strcmp(EndUserOf(session), kOverflowEndUser) != 0) return false;
  bool adds = true;
  return !defined || !Counted([&] { adds = ps_local.scorer->scorer.Weigh(id).adds; }) || adds;
}

void RefuseUnusual(LiveSession* session) {
  if (!AnnounceRefusal(session, {kAlertUnusual, 0, 0}, 0, "{\"version\": 1, \"cause\": \"refused\"}")) return;
  ereport(ERROR, (errcode(kRefused), errmsg("statement refused: what this session does is unusual for its role"),
                  errhint("Ask %s, if this work is meant to be done.", WhomToAsk())));
}

void RefuseFault(LiveSession* session, const char* why) {
  if (!AnnounceRefusal(session, {kAlertFault, 0, 0}, 0, "{}")) return;
  ereport(ERROR,
          (errcode(kRefused), errmsg("statement refused: its privacy score cannot be told"), errdetail("%s", why),
           errhint("Try again; if it stays, ask %s to look into the server log.", WhomToAsk())));
}

// Says what there is no room for.
static int RoomDetail(const LiveSession* session) {
  if (strcmp(EndUserOf(session), kOverflowEndUser) == 0)
    return errdetail("There are more end users than shared memory has room to tell apart, and the statement is new.");
  return errdetail(
      "The session has used its share of shared memory, and what it may have of the rest, with what the background "
      "worker has not written yet.");
}

void RefuseForRoom(LiveSession* session) {
  if (GlassBroken(session, {kAlertMemory, 0, 0}, "{}")) return;
  CountRefusal(session);
  if (RaiseRoomAlert(session, true)) AwaitAlerts(session);
  ereport(ERROR, (errcode(kRefused), errmsg("statement refused: there is no room to record it"), RoomDetail(session),
                  errhint("Try again; if it stays, ask %s to raise privacy_score.max_memory.", WhomToAsk())));
}

// Says whose label it is.
static int DpOnlyDetail(const char* end_user) {
  return end_user == nullptr ? errdetail("The security label of the role is \"dp only\".")
                             : errdetail("The label of end user \"%s\" is \"dp only\".", end_user);
}

void RefuseDpOnly(LiveSession* session, DpOnlyRefusal why) {
  if (!AnnounceRefusal(session, {kAlertDpOnly, 0, 0}, 0, "{}")) return;
  const char* end_user = EndUserLabelledDpOnly();
  if (why == DpOnlyRefusal::kTellsByWriting)
    ereport(ERROR, (errcode(kRefused),
                    errmsg("statement refused: whether it succeeds, or how many rows it writes, would tell "
                           "of protected relations"),
                    DpOnlyDetail(end_user),
                    errhint("Write to tables that neither are protected nor refer to protected ones, or ask %s.",
                            WhomToAsk())));
  ereport(ERROR, (errcode(kRefused),
                  end_user == nullptr ? errmsg("statement refused: this role may not read protected relations")
                                      : errmsg("statement refused: this end user may not read protected relations"),
                  end_user == nullptr ? errdetail("Its security label is \"dp only\".") : DpOnlyDetail(end_user),
                  errhint("%s", NoisyAnswerHint())));
}

namespace {

bool AnnounceOnce(LiveSession* session, AlertKind kind, std::string_view detail = "{}") {
  SpinLockAcquire(&session->mutex);
  const bool told = (session->alerted & kind) != 0;
  session->alerted |= kind;
  SpinLockRelease(&session->mutex);
  if (!told) AnnounceAlert(session, {kind, 0, 0}, false, detail);
  return !told;
}

}  // namespace

void AnnounceFault(LiveSession* session) { AnnounceOnce(session, kAlertFault); }

void AnnounceExempt(LiveSession* session) { AnnounceOnce(session, kAlertExempt); }

bool AnnounceEndUser(LiveSession* session, const char* cause) {
  return AnnounceOnce(session, kAlertEndUser, psprintf("{\"version\": 1, \"cause\": \"%s\"}", cause));
}

}  // namespace privacy_score
