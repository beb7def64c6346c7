/*
 * alerts.hpp - telling people: a LOG line for each alert, one row and one notification for each cause and window.
 *
 * A cause is the role, the kind, whether it was refused, and what brought it about: `detail->'cause'` when the detail
 * names one, else the n-gram in `detail->'ngram'`. While an alert of the same cause is not acknowledged and younger
 * than `alert_window`, a further one only raises its occurrences, so many short sessions flood neither the table nor
 * the channel. Many different causes do not either: from kMostCauses on they share one alert, with cause "others".
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/nodes.h"
#include "utils/timestamp.h"
}

namespace privacy_score {

struct ConnectionContext;

// Open alerts of one role and kind within the window before further causes share one.
constexpr int kMostCauses = 20;

// What an alert says. `detail` is the JSON text of an object, ended by NUL.
struct AlertRecord {
  TimestampTz at;
  const char* role;
  const char* end_user;  // empty where there is none
  const char* session;   // empty where there is none
  const char* kind;
  double score;
  double limit;
  bool blocked;
  const char* detail;
  const ConnectionContext* context;  // null where there is none
};

// info: worth a look when there is time; critical: refused, or more than twice the limit; warning: all else.
const char* AlertSeverity(const AlertRecord* alert);

// Writes the LOG line: key=value, names in double quotes with backslash escapes, never more than one line.
void LogAlert(const AlertRecord* alert);

// Writes or raises the row, and notifies when it is a new one or its severity rises. Inside an internal scope of a
// transaction that may write. Never waits for somebody who holds an alert locked.
void WriteAlert(const AlertRecord* alert);

// Remembers the name of this database for LOG lines outside transactions. Nobody renames a database in use. Inside a
// transaction.
void NoteDatabaseName();

// Raises 42501 when the statement is LISTEN on the channel of alerts and the current user may not read other roles'
// alerts: the server gives a notification to whoever listens, whatever it says.
void CheckListening(const Node* statement);

}  // namespace privacy_score
