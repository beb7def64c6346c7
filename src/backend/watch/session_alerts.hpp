/*
 * session_alerts.hpp - what is said of a session once a statement is counted: to the log and the table of alerts, and
 * to the client.
 */
#pragma once

#include "backend/state/end_user.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

// Announces once a session what has become of the name of an end user.
void TellOfEndUser(LiveSession* session, EndUserFault fault);

// Raises the alerts that are due, with the explanation of the last n-gram.
void AlertOnLimits(LiveSession* session, double rise);

// Tells the client what the worker found when it corrected a score.
void DeliverWarnings(LiveSession* session);

// Raises an alert for each figure of the session's reach that is too great, when nobody was told.
void JudgeReach(LiveSession* session);

}  // namespace privacy_score
