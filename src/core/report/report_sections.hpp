/*
 * report_sections.hpp - the sections of a report, of a server or of a fleet, whose columns are looked at one by one.
 * Those that only become tables of the page are as wide as the table.
 */
#pragma once

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/base/wire_section.hpp"

namespace privacy_score {

// A row a principal, or a role, and day; days as numbers from 2000-01-01.
WIRE_SECTION(ScoredDaySection, kRole, kDay, kQueries, kMismatched, kScore, kMaxScore, kCumulative, kEndUser);
WIRE_SECTION(TileSection, kValue, kMeaning, kAlarming);
// One row.
WIRE_SECTION(AlertTotalSection, kOpen, kCritical, kSeen, kOlder);
WIRE_SECTION(RoleSection, kRole, kMode, kStanding, kSessionLimit, kDailyLimit, kOpenAlerts, kFromDay, kToDay);
WIRE_SECTION(EndUserSection, kRole, kEndUser, kSessionLimit, kDailyLimit, kOpenAlerts, kFromDay, kToDay, kLabel);
// The last three are not shown: kWho has two of them together, kScore is the third, rounded.
WIRE_SECTION(WorstSessionSection, kScore, kDay, kWho, kSession, kMaxScore, kQueries, kMismatched, kRows, kSubjects,
             kPeerScore, kRole, kEndUser, kExactScore);
// The last one is of a fleet only.
WIRE_SECTION(WorstNGramSection, kDay, kWho, kScore, kCount, kNgram, kNearest, kAttributes, kServers);
WIRE_SECTION(RelationChartSection, kRelation, kChart);
WIRE_SECTION(StepSection, kEpsilon, kEntropy);

// Of a fleet. What the whole page is about; sees_all: that members are shown, too. One row.
WIRE_SECTION(FleetFactSection, kDatabase, kUser, kVersion, kMadeAt, kFromDay, kToDay, kOfRole, kSeesAll);
// Their state as what it is shown by, in words.
WIRE_SECTION(FleetMemberSection, kServer, kState, kError, kSeenAt, kKind, kVersion, kServerVersion, kOrders);
// A row a day: servers that have shown work of it, statements on all of them.
WIRE_SECTION(FleetDaySection, kDay, kServers, kQueries);

// A section of one row. Throws Error XX001 when it has another number.
inline Row OnlyRow(WireReader& reader, std::uint32_t columns) {
  std::vector<Row> rows = reader.Section(columns);
  if (rows.size() != 1)
    throw Error("XX001", "a section of a report that is one row has " + std::to_string(rows.size()));
  return rows.front();
}

}  // namespace privacy_score
