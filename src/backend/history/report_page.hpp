/*
 * report_page.hpp - what the report of a server and that of a fleet have in common: their days, the settings under
 * which they ask, and how what they were told becomes a page.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
}

#include <string>
#include <string_view>

namespace privacy_score {

// Puts the settings in force that the queries are written for; returns the level that AtEOXact_GUC() ends.
int SetForReport();

// The days of a report, both included, as text.
struct ReportDays {
  const char* from;
  const char* to;
};
// From the arguments 1 and 2: by default the last thirty. Raises 22023 when the first is after the last. SPI is
// connected.
ReportDays DaysOfReport(FunctionCallInfo fcinfo);

// The page that core makes of the sections, as the text that the function returns.
Datum PageOfSections(StringInfo wire, std::string (*page)(std::string_view));

}  // namespace privacy_score
