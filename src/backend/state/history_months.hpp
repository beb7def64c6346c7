/*
 * history_months.hpp - the tables in which recorded sessions and their parts are, one of each a month.
 *
 * The id of a session has its month above kMonthBits: session and session_part are partitioned by it, and rows that
 * refer to a session need no date to be found. A session gets such an id where its month has both tables; else it is in
 * the tables that the extension was made with, so nothing that is recorded waits for a table.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "utils/date.h"
}

namespace privacy_score {

// Of an id: the month (months since January 2000, 0: none) is above, what counts up below.
constexpr int kMonthBits = 40;

// That an id is of that day's month or of none, in SQL: partitions of other months are not looked at.
#define SQL_ID_OF_DAY(id, day)                                                           \
  "(" id " < 1099511627776 OR " id " >= privacy_score.first_session_id(" day ") AND " id \
  " < privacy_score.first_session_id(" day ") + 1099511627776)"

int64 MonthOfDay(DateADT day);

// The table below `parent` ("session" or "session_part") that has the rows of sessions of that month, or of a session
// with that id; InvalidOid where the month has none, or somebody has detached it.
Oid TableOfMonth(const char* parent, int64 month);
Oid TableOfSession(const char* parent, int64 id);

// Whether sessions of that month, or a session with that id, are written to its tables: both are there, belong to whom
// the extension belongs to, and nobody else may do more than read them. Not asked of what has no month.
bool TakesSessionsOf(int64 month);
bool TakesSession(int64 id);

// Makes the tables of these months, but of at most kMostMonths before the last, where they are missing, inside an
// internal scope. Nobody waits longer than a moment: a month that cannot be made now is left out. False when one was.
constexpr int kMostMonths = 120;
bool MakeMonths(int64 first, int64 last);

// Gives tables of months that came with a restore to whom the extension belongs to, and takes rights on them, inside an
// internal scope. One that brings code of somebody's is left out: it takes no sessions. False when one was.
bool SettleMonths();

// The first month after that one all whose days are before a day, of which there is a table; 0: there is none.
int64 NextMonthBefore(DateADT day, int64 after);
// Drops its tables, in a subtransaction, inside an internal scope; false when somebody reads them.
bool DropMonth(int64 month);

}  // namespace privacy_score
