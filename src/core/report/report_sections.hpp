/*
 * report_sections.hpp - the sections of a report whose columns are looked at one by one. Those that only become tables
 * of the page are as wide as the table.
 */
#pragma once

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
WIRE_SECTION(WorstNGramSection, kDay, kWho, kScore, kCount, kNgram, kNearest, kAttributes);
WIRE_SECTION(RelationChartSection, kRelation, kChart);
WIRE_SECTION(StepSection, kEpsilon, kEntropy);

}  // namespace privacy_score
