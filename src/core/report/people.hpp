/*
 * people.hpp - the roles at work, on one scale: a table with a strip of days each, and charts of the worst.
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/day_chart.hpp"
#include "core/report/html_page.hpp"

namespace privacy_score {

struct Person : DaysOfRole {
  std::string mode;      // what holds for a new session of the role; empty when nothing is watched
  std::string standing;  // why the role is not simply watched: exempt, dp only, ...; else empty
  std::int64_t open_alerts = 0;
  std::int64_t queries = 0;
  std::int64_t mismatched = 0;
  double worst = 0;
  bool IsAboveLimit() const { return daily_limit && worst > *daily_limit; }
};

// `days`: as DayOf() reads them, sorted by role and day. `roles`: role, mode, standing, session_limit, daily_limit
// (less than 0: none), open alerts, first and last day of the baseline since 2000-01-01; sorted by role.
// The worst first.
std::vector<Person> PeopleOf(const std::vector<Row>& days, const std::vector<Row>& roles);

// The identifier of a role in the page, where `people` has it among those that are shown; else empty.
std::string PlaceOf(const std::vector<Person>& people, std::string_view role);

// The section's contents.
void WritePeople(HtmlPage& page, const std::vector<Person>& people);

}  // namespace privacy_score
