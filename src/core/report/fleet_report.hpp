/*
 * fleet_report.hpp - the report of a fleet as a page: its members, what roles did on all of them, what is open.
 *
 * The hub sends what its views say, as sections of rows (rows.hpp) in the order of the list in fleet_report.cpp. What
 * they hold members have shown, which may be anything: it is text, of whatever bytes.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// Throws Error XX001 when the sections are not those that are expected.
std::string FleetReportPage(std::string_view wire);

}  // namespace privacy_score
