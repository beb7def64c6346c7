/*
 * alert_list.hpp - alerts as one reads them: who, what, why, since when; behind each the statement beside the nearest
 * usual one.
 */
#pragma once

#include <vector>

#include "core/base/rows.hpp"
#include "core/report/html_page.hpp"
#include "core/report/people.hpp"

namespace privacy_score {

constexpr std::uint32_t kAlertFields = 22;

// `alerts`: id, at, last at, role, kind, severity, score, limit, occurrences, refused or null, session, acknowledged
// by, acknowledged at (null: open), n-gram, nearest one and new columns, each parted by line ends, cause, from where it
// came, what of that is new for the role, the reason in words; of a fleet the member, and not null: it was acknowledged
// at the hub, of which the member has not heard. `totals`: open ones, of which are critical, and seen ones of the time,
// open ones of before it.
void WriteAlerts(HtmlPage& page, const std::vector<Row>& alerts, const Row& totals, const std::vector<Person>& people);

}  // namespace privacy_score
