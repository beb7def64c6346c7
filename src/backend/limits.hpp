/*
 * limits.hpp - which limits a session has passed, and telling people about it.
 *
 * The backend checks after each event whose score is exact, the worker after it has corrected an estimated score; each
 * cause raises one alert a session. An alert is a LOG line at once, a warning to the client in warn mode, and a row
 * and a notification that the worker writes.
 */
#pragma once

#include "shared_state.hpp"

// A limit that was passed: its kind, and the two numbers.
struct PassedLimit {
  AlertKind kind;
  double score;
  double limit;
};

// The limits that the session passes now and has not been alerted for; marks them as alerted. `rise` is what the last
// event added to the score. Returns their number; `passed` has room for four.
int TakePassedLimits(LiveSession* session, double rise, PassedLimit* passed);

// Logs the alert, queues it for the worker, and warns the client when `warn_client`. `detail` is JSON text that
// explains the n-gram.
void RaiseAlert(LiveSession* session, const PassedLimit& passed, const char* detail, Size detail_length,
                bool warn_client);

const char* AlertKindName(AlertKind kind);
