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

// The table of ours below `parent` ("session" or "session_part") that has the rows of a session with that id, palloc'd.
// It need not be there.
const char* TableOfMonth(const char* parent, int64 month);
const char* TableOfSession(const char* parent, int64 id);

// Makes the tables of these months, but of at most kMostMonths before the last, where they are missing, inside an
// internal scope. Nobody waits longer than a moment: a month that cannot be made now is left out. False when one was.
constexpr int kMostMonths = 120;
bool MakeMonths(int64 first, int64 last);

// Drops the tables of the months all whose days are before that one, each in a subtransaction, inside an internal
// scope. Returns how many; a month that somebody reads is left for the next time, and `all_dropped` false.
int DropMonthsBefore(DateADT day, bool* all_dropped);

}  // namespace privacy_score
