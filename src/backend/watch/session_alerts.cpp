/*
 * session_alerts.cpp - see session_alerts.hpp.
 */
#include "backend/watch/session_alerts.hpp"

extern "C" {
#include "miscadmin.h"
}

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/enforce.hpp"

namespace privacy_score {

namespace {

// From where on figures of the session's reach are too great, of those of which nobody was told. Other processes set no
// such alert.
privacy_score::ReachLimits UntoldLimits(const LiveSession* session) {
  privacy_score::ReachLimits limits = ps_local.scorer->scorer.LeastOutOfReach(ps_settings.reach_factor);
  for (std::size_t figure = 0; figure < limits.size(); ++figure)
    if ((session->alerted & ReachAlertOf(static_cast<int>(figure))) != 0)
      limits[figure] = privacy_score::kNeverOutOfReach;
  return limits;
}

// Raises an alert for each figure of the session's reach that is too great for the first time.
void AlertOnReach(LiveSession* session) {
  const double factor = ps_settings.reach_factor;
  CoreError error;
  if (!CallCore(&error, [&] { ps_local.scorer->excesses = ps_local.scorer->scorer.OutOfReach(factor); }))
    CountScoringError(error.message);
  PassedLimit raised[privacy_score::kReachFigureCount];
  std::size_t raised_count = 0;
  const std::size_t count = ps_local.scorer->excesses.size();
  for (std::size_t i = 0; i < count; ++i) {
    const privacy_score::ReachExcess excess = ps_local.scorer->excesses[i];
    const PassedLimit passed = {ReachAlertOf(excess.figure), static_cast<double>(excess.value), excess.limit};
    if (!TakeReachAlert(session, passed.kind)) continue;
    if (!CallCore(&error, [&] { ps_local.scorer->explanation = ReachExcessJson(excess, factor); }))
      CountScoringError(error.message);
    RaiseAlert(session, passed, false, ps_local.scorer->explanation.data(), ps_local.scorer->explanation.size());
    raised[raised_count++] = passed;
  }
  if (raised_count == 0) return;
  AwaitAlerts(session);
  for (std::size_t i = 0; i < raised_count && session->warn; ++i) WarnClient(raised[i]);
}

}  // namespace

void TellOfEndUser(LiveSession* session, EndUserFault fault) {
  const char* cause = "";
  if (fault == EndUserFault::kIgnored)
    cause = "ignored";
  else if (strcmp(EndUserOf(session), kOverflowEndUser) == 0)
    cause = "overflow";
  else if (fault == EndUserFault::kInvalid)
    cause = "invalid";
  else
    return;
  if (!AnnounceEndUser(session, cause) || fault != EndUserFault::kIgnored) return;
  ereport(WARNING, (errmsg("the name of an end user is ignored: role \"%s\" does not speak for others",
                           GetUserNameFromId(GetSessionUserId(), true)),
                    errhint("Only a superuser labels a role \"gateway\". What this session does counts for its role."),
                    errhidestmt(true), errhidecontext(true)));
}

void AlertOnLimits(LiveSession* session, double rise) {
  PassedLimit passed[kAlertKinds];
  const int count = TakePassedLimits(session, ps_local.scorer->scorer.summary(), rise, passed);
  if (count == 0) return;
  CoreError error;
  if (!CallCore(&error, [&] { ps_local.scorer->explanation = ps_local.scorer->scorer.LastExplanation(); }))
    CountScoringError(error.message);
  for (int i = 0; i < count; ++i)
    RaiseAlert(session, passed[i], false, ps_local.scorer->explanation.data(), ps_local.scorer->explanation.size());
  AwaitAlerts(session);
  for (int i = 0; i < count && session->warn; ++i) WarnClient(passed[i]);
}

void DeliverWarnings(LiveSession* session) {
  PassedLimit passed[kMostUnwarned];
  SpinLockAcquire(&session->mutex);
  const int count = session->unwarned_count;
  memcpy(passed, session->unwarned, sizeof passed);
  session->unwarned_count = 0;
  SpinLockRelease(&session->mutex);
  if (count > 0) AwaitAlerts(session);
  for (int i = 0; i < count; ++i) WarnClient(passed[i]);
}

void JudgeReach(LiveSession* session) {
  ps_own.reach_judged_below = UntoldLimits(session);
  if (!MayBeOutOfReach(ps_local.scorer->scorer.reach())) return;
  AlertOnReach(session);
  ps_own.reach_judged_below = UntoldLimits(session);
}

}  // namespace privacy_score
