/*
 * alert_line.hpp - the text of an alert in the server's log, in the form that alert_format asks for.
 */
#pragma once

#include "backend/state/alerts.hpp"

extern "C" {
#include "utils/timestamp.h"
}

#include "core/report/alert_event.hpp"

namespace privacy_score {

// palloc'd, one line. `severity` and `database` as the view alerts has them. Where another form cannot be made, for
// want of memory, it is our own.
const char* AlertLine(const AlertRecord* alert, const char* severity, const char* database);

// Both ways in which others write a moment.
privacy_score::AlertMoment AlertMomentOf(TimestampTz at);

}  // namespace privacy_score
