/*
 * limits.cpp - see limits.hpp.
 */
#include "backend/state/limits.hpp"

extern "C" {
#include "port/pg_bitutils.h"
#include "utils/float.h"
}

#include <cmath>

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/state/alerts.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"

namespace privacy_score {

namespace {

void Consider(LiveSession* session, AlertKind kind, double score, double limit, PassedLimit* passed, int* count) {
  if (limit < 0 || score <= limit || (session->alerted & kind) != 0) return;
  session->alerted |= kind;
  passed[(*count)++] = {kind, score, limit};
}

// What a figure of reach counts; null for other kinds of alerts.
const char* CountedBy(AlertKind kind) {
  switch (kind) {
    case kAlertReach:
      return "distinct constants of one statement";
    case kAlertSubjects:
      return "distinct subjects asked about";
    case kAlertSubjectColumns:
      return "columns revealed of one subject";
    default:
      return nullptr;
  }
}

}  // namespace

const char* AlertKindName(AlertKind kind) {
  switch (kind) {
    case kAlertSession:
      return "session";
    case kAlertDaily:
      return "daily";
    case kAlertNormalised:
      return "normalised";
    case kAlertNgram:
      return "ngram";
    case kAlertReach:
    case kAlertSubjects:
    case kAlertSubjectColumns:
      return "reach";
    case kAlertDpOnly:
      return "dp_only";
    case kAlertExempt:
      return "exempt";
    case kAlertBreakGlass:
      return "break_glass";
    case kAlertFault:
      return "fault";
    case kAlertMemory:
      return "memory";
    case kAlertEndUser:
      return "end_user";
    case kAlertUnusual:
      return "unusual";
    case kAlertDrip:
      return "drip";
  }
  return "unknown";
}

SessionLimits LimitsInForce(const LiveSession* session) {
  SessionLimits limits = {ps_settings.session_limit, ps_settings.daily_limit, ps_settings.normalised_limit,
                          ps_settings.alert_level};
  if (session->part == nullptr) return limits;
  if (!std::isnan(session->part->session_limit)) limits.session = session->part->session_limit;
  if (!std::isnan(session->part->daily_limit)) limits.daily = session->part->daily_limit;
  return limits;
}

void TakeEndUserLimits(LiveSession* session) {
  if (session->part == nullptr) return;
  const double none = get_float8_nan();
  double session_limit = none;
  double daily_limit = none;
  CoreError error;
  if (!CallCore(&error, [&] {
        const privacy_score::EndUserLimits* own = ps_local.scorer->scorer.LimitsOf(EndUserOf(session));
        if (own == nullptr) return;
        session_limit = own->session.value_or(none);
        daily_limit = own->daily.value_or(none);
      })) {
    CountScoringError(error.message);
    return;
  }
  session->part->session_limit = session_limit;
  session->part->daily_limit = daily_limit;
  const SessionLimits limits = LimitsInForce(session);
  SpinLockAcquire(&session->mutex);
  session->limits = limits;
  SpinLockRelease(&session->mutex);
}

int AlertIndex(AlertKind kind) { return pg_rightmost_one_pos32(kind); }

int TakePassedLimits(LiveSession* session, const privacy_score::SessionSummary& summary, double rise,
                     PassedLimit* passed) {
  int count = 0;
  SpinLockAcquire(&session->mutex);
  Consider(session, kAlertSession, summary.score, session->limits.session, passed, &count);
  Consider(session, kAlertNormalised, summary.normalised, session->limits.normalised, passed, &count);
  // The day's score as of the last flush holds at least what the session holds itself.
  const double day_score = Max(session->day_score, summary.score);
  Consider(session, kAlertDaily, day_score, session->limits.daily, passed, &count);
  Consider(session, kAlertNgram, rise, session->limits.ngram, passed, &count);
  SpinLockRelease(&session->mutex);
  return count;
}

bool TakeDayAlert(LiveSession* session, PassedLimit* passed) {
  int count = 0;
  SpinLockAcquire(&session->mutex);
  Consider(session, kAlertDaily, session->day_score, session->limits.daily, passed, &count);
  SpinLockRelease(&session->mutex);
  return count > 0;
}

AlertKind ReachAlertOf(int figure) {
  constexpr AlertKind kKinds[privacy_score::kReachFigureCount] = {kAlertReach, kAlertSubjects, kAlertSubjectColumns};
  return kKinds[figure];
}

bool TakeReachAlert(LiveSession* session, AlertKind kind) {
  SpinLockAcquire(&session->mutex);
  const bool first = (session->alerted & kind) == 0;
  session->alerted |= kind;
  SpinLockRelease(&session->mutex);
  return first;
}

namespace {

void Log(const LiveSession* session, const PassedLimit& passed, bool blocked, const char* detail,
         const ConnectionContext& context) {
  const AlertRecord record = {GetCurrentTimestamp(),
                              NameStr(session->role_name),
                              EndUserOf(session),
                              session->session,
                              AlertKindName(passed.kind),
                              passed.score,
                              passed.limit,
                              blocked,
                              detail,
                              &context};
  LogAlert(&record);
}

// What the worker finds out is about the session.
ConnectionContext ContextOf(const LiveSession* session) {
  const ConnectionContext own = OwnContext();
  return own.known ? own : session->context;
}

}  // namespace

void RaiseAlert(LiveSession* session, const PassedLimit& passed, bool blocked, const char* detail, Size detail_length) {
  AlertHead head = {};
  head.at = GetCurrentTimestamp();
  strlcpy(head.kind, AlertKindName(passed.kind), sizeof head.kind);
  head.score = passed.score;
  head.limit = passed.limit;
  head.blocked = blocked;
  head.context = ContextOf(session);
  head.length = static_cast<int64>(detail_length);
  const auto append = [&] {
    return AppendNote(session, &PendingHistory::alerts, &head, sizeof head, detail, static_cast<Size>(head.length));
  };
  bool kept = append();
  if (!kept) {
    // Without its detail it may have room.
    detail = "{}";
    head.length = 2;
    kept = append();
  }
  char* const text = pnstrdup(detail, static_cast<Size>(head.length));
  Log(session, passed, blocked, text, head.context);
  pfree(text);
  if (kept) return;
  pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
  RaiseRoomAlert(session, blocked);
}

bool RaiseRoomAlert(LiveSession* session, bool blocked) {
  SpinLockAcquire(&session->mutex);
  const bool first = (session->alerted & kAlertMemory) == 0;
  session->alerted |= kAlertMemory;
  if (first) session->open.room = blocked ? RoomAlert::kRefused : RoomAlert::kRaised;
  SpinLockRelease(&session->mutex);
  if (first) Log(session, {kAlertMemory, 0, 0}, blocked, "{}", ContextOf(session));
  return first;
}

void AwaitAlerts(LiveSession* session) {
  constexpr int kMostMilliseconds = 1000;
  DatabaseSlot* slot = SlotOfDatabase(false);
  if (slot == nullptr || session->unrecorded) return;
  const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kMostMilliseconds);
  ConditionVariablePrepareToSleep(&slot->flushed);
  for (;;) {
    SpinLockAcquire(&session->mutex);
    const bool pending = session->open.HasAlerts() || session->sealed.HasAlerts();
    SpinLockRelease(&session->mutex);
    if (!pending || GetCurrentTimestamp() > deadline) break;
    EnsureWorker(slot);
    WakeWorker(slot);
    ConditionVariableTimedSleep(&slot->flushed, 100, WaitEventOf(OwnWait::kAlert));
  }
  ConditionVariableCancelSleep();
}

void WarnClient(const PassedLimit& passed) {
  if (passed.kind == kAlertMemory) {
    ereport(WARNING, (errmsg("there is no room to record what this session does"),
                      errdetail("What has no room counts as if it told all that can be told."),
                      errhint("Ask the administrator of privacy_score if this work is meant to be done."),
                      errhidestmt(true), errhidecontext(true)));
    return;
  }
  if (passed.kind == kAlertUnusual || passed.kind == kAlertDrip) {
    ereport(WARNING, (errmsg("what this session does is unusual for its role"),
                      errhint("Ask the administrator of privacy_score if this work is meant to be done."),
                      errhidestmt(true), errhidecontext(true)));
    return;
  }
  const char* counted = CountedBy(passed.kind);
  ereport(WARNING, (counted != nullptr ? errmsg("%s %s, %.0f, are above the limit %.6g", counted,
                                                passed.of_day ? "of this principal today" : "of this session",
                                                passed.score, passed.limit)
                                       : errmsg("%s privacy score %.6g is above the limit %.6g",
                                                AlertKindName(passed.kind), passed.score, passed.limit),
                    errhint("Ask the administrator of privacy_score if this work is meant to be done."),
                    errhidestmt(true), errhidecontext(true)));
}

}  // namespace privacy_score
