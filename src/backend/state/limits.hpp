/*
 * limits.hpp - which limits a session has passed, and telling people about it.
 *
 * The backend checks after each event whose score is exact, the worker after it has corrected an estimated score; each
 * cause raises one alert a session. An alert is a LOG line at once, a warning to the client unless the mode is observe,
 * and a row and a notification that the worker writes.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// The limits that the settings ask for, and of an end user those that were set for it. Another moment's call may give
// others.
SessionLimits LimitsInForce(const LiveSession* session);

// Gives the session the limits that the model in force has for its end user. Does nothing for others.
void TakeEndUserLimits(LiveSession* session);

// The limits that the session passes with this score and has not been alerted for; marks them as alerted. `rise` is
// what the last event added to it. Returns their number; `passed` has room for kAlertKinds.
int TakePassedLimits(LiveSession* session, const privacy_score::SessionSummary& summary, double rise,
                     PassedLimit* passed);

// The same of the day's score alone, when that has just come to hold what the session has added.
bool TakeDayAlert(LiveSession* session, PassedLimit* passed);

// The kind of alert for a figure of reach.
AlertKind ReachAlertOf(int figure);

// Whether the session has no alert of this figure of its reach yet; marks it as alerted.
bool TakeReachAlert(LiveSession* session, AlertKind kind);

// Logs the alert and queues it for the worker. `blocked`: the statement was refused. `detail` is JSON text that
// explains the n-gram.
void RaiseAlert(LiveSession* session, const PassedLimit& passed, bool blocked, const char* detail, Size detail_length);

// Logs that the session has used its share of shared memory and gets no more, and has the worker write it, which takes
// no room; false when that was done before in this session.
bool RaiseRoomAlert(LiveSession* session, bool blocked);

// Waits until the worker has committed the alerts of the session, so that nobody is told of an alert or a refusal that
// a crash could still take back; for a second at most, since a statement must not hang on a worker that cannot write.
// Not on a standby, where the log is all there is.
void AwaitAlerts(LiveSession* session);

// Tells the client of this backend.
void WarnClient(const PassedLimit& passed);

const char* AlertKindName(AlertKind kind);

// The place of a kind among kAlertKinds.
int AlertIndex(AlertKind kind);

}  // namespace privacy_score
