/*
 * people.hpp - the roles at work, and their end users, on one scale: a table with a strip of days each, and charts of
 * the worst. Limits hold for each end user by herself, so each has days of her own.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/day_chart.hpp"
#include "core/report/html_page.hpp"

namespace privacy_score {

// Its name `role` is that which is shown: "role / end user" of an end user.
struct Person : DaysOfRole {
  std::string of_role;
  std::optional<std::string> end_user;
  std::string mode;      // what holds for a new session of the role; empty when nothing is watched
  std::string standing;  // why the role, or the end user, is not simply watched: exempt, dp only, ...; else empty
  std::string standing_of_role;
  std::int64_t open_alerts = 0;
  std::int64_t queries = 0;
  std::int64_t mismatched = 0;
  double worst = 0;
  bool IsAboveLimit() const { return daily_limit && worst > *daily_limit; }
  const std::string& ModeOfRole() const { return standing_of_role.empty() ? mode : standing_of_role; }
};

// `days`: as DayOf() reads them, and the end user; sorted by role, end user and day. `roles`: role, mode, standing,
// session_limit, daily_limit (less than 0: none), open alerts about no end user, first and last day of the baseline
// since 2000-01-01. `end_users`: role, end user, session_limit, daily_limit, open alerts, days of the baseline,
// standing: what is in the place of the role's; none: that holds. The worst first.
std::vector<Person> PeopleOf(const std::vector<Row>& days, const std::vector<Row>& roles,
                             const std::vector<Row>& end_users);

bool HasEndUsers(const std::vector<Person>& people);

// What the lines are of which there are so many: "roles at work".
const char* AtWork(const std::vector<Person>& people);

// The identifier of a role in the page, where `people` has it among those that are shown; else empty.
std::string PlaceOf(const std::vector<Person>& people, std::string_view role);

// Whose roles: of one server, with modes and limits, or of a fleet, where each member has its own. Then `mode` is where
// the role has worked.
enum class PeopleOn { kServer, kFleet };

// The section's contents.
void WritePeople(HtmlPage& page, const std::vector<Person>& people, PeopleOn of = PeopleOn::kServer);

}  // namespace privacy_score
