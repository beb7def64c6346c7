/*
 * report.hpp - the report of a database as a page: what was read, by whom, and what it cost.
 *
 * The server sends what its views say, as sections of rows (rows.hpp) in the order of the list in report.cpp; nothing
 * is computed here but the drawings.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// Throws Error XX001 when the sections are not those that are expected.
std::string ReportPage(std::string_view wire);

}  // namespace privacy_score
