/*
 * limits.cpp - see limits.hpp.
 */
#include "limits.hpp"

extern "C" {
#include "port/pg_bitutils.h"
}

#include "alerts.hpp"
#include "settings.hpp"
#include "wait_events.hpp"

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
  }
  return "unknown";
}

SessionLimits LimitsInForce() {
  return {ps_settings.session_limit, ps_settings.daily_limit, ps_settings.normalised_limit, ps_settings.alert_level};
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

bool TakeReachAlert(LiveSession* session, AlertKind kind) {
  SpinLockAcquire(&session->mutex);
  const bool first = (session->alerted & kind) == 0;
  session->alerted |= kind;
  SpinLockRelease(&session->mutex);
  return first;
}

void RaiseAlert(LiveSession* session, const PassedLimit& passed, bool blocked, const char* detail, Size detail_length) {
  const dsa_pointer pointer = AllocateShared(offsetof(PendingAlert, detail) + detail_length);
  if (DsaPointerIsValid(pointer)) {
    auto* node = SharedAt<PendingAlert>(pointer);
    node->at = GetCurrentTimestamp();
    strlcpy(node->kind, AlertKindName(passed.kind), sizeof node->kind);
    node->score = passed.score;
    node->limit = passed.limit;
    node->blocked = blocked;
    node->length = static_cast<int32>(detail_length);
    memcpy(node->detail, detail, detail_length);
    SpinLockAcquire(&session->mutex);
    node->next = session->open.alerts;
    session->open.alerts = pointer;
    SpinLockRelease(&session->mutex);
  } else {
    pg_atomic_fetch_add_u64(&ps_shared->dropped, 1);
  }
  const AlertRecord record = {GetCurrentTimestamp(),
                              NameStr(session->role_name),
                              session->session,
                              AlertKindName(passed.kind),
                              passed.score,
                              passed.limit,
                              blocked,
                              ""};
  LogAlert(&record);
}

void AwaitAlerts(LiveSession* session) {
  constexpr int kMostMilliseconds = 1000;
  DatabaseSlot* slot = SlotOfDatabase(false);
  if (slot == nullptr || session->unrecorded) return;
  const TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kMostMilliseconds);
  ConditionVariablePrepareToSleep(&slot->flushed);
  for (;;) {
    SpinLockAcquire(&session->mutex);
    const bool pending = DsaPointerIsValid(session->open.alerts) || DsaPointerIsValid(session->sealed.alerts);
    SpinLockRelease(&session->mutex);
    if (!pending || GetCurrentTimestamp() > deadline) break;
    EnsureWorker(slot);
    WakeWorker(slot);
    ConditionVariableTimedSleep(&slot->flushed, 100, WaitEventOf(OwnWait::kAlert));
  }
  ConditionVariableCancelSleep();
}

void WarnClient(const PassedLimit& passed) {
  const char* counted = CountedBy(passed.kind);
  ereport(WARNING, (counted != nullptr ? errmsg("%s of this session, %.0f, are above the limit %.6g", counted,
                                                passed.score, passed.limit)
                                       : errmsg("%s privacy score %.6g is above the limit %.6g",
                                                AlertKindName(passed.kind), passed.score, passed.limit),
                    errhint("Ask the administrator of privacy_score if this work is meant to be done."),
                    errhidestmt(true), errhidecontext(true)));
}
