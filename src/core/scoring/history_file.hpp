/*
 * history_file.hpp - what ran on a hot standby, as the bytes of a file that is only appended to.
 *
 * A record is what one session has gathered since the last one: its figures as they are now, what it has run, the
 * tokens that nobody has written to this file before, and its alerts, as three sections (rows.hpp). Before them stand
 * their length and a checksum: of a file whose end was torn off by a crash what is whole is read.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"
#include "core/base/wire_section.hpp"

namespace privacy_score {

// The figures are those of a row of the table of sessions; moments are microseconds and days numbers from 2000-01-01.
// `ids`, `runs` and `rows` are literals of bigint[], empty where nothing ran. At most one row a record.
WIRE_SECTION(FiledPartSection, kRole, kEndUser, kDay, kSession, kStarted, kLastAt, kQueries, kRefused, kReach,
             kSubjects, kSubjectColumns, kEnforced, kClientAddr, kApplicationName, kTls, kAuthMethod, kAddressed,
             kPerson, kMostRows, kDiffer, kPart, kIds, kRuns, kRows);
// `tokens` is a literal of text[].
WIRE_SECTION(FiledTokenSection, kId, kTokens);
// Of the session of the record.
WIRE_SECTION(FiledAlertSection, kAt, kKind, kScore, kLimit, kBlocked, kSeverity, kDetail, kClientAddr,
             kApplicationName);

using FiledRow = std::vector<std::optional<std::string>>;

// A record with what stands before it.
std::string FileRecord(const FiledRow& part, const std::vector<FiledRow>& tokens, const std::vector<FiledRow>& alerts);

// How many bytes of a file are whole records.
std::size_t WholeRecords(std::string_view file);

// The files of some days, the earliest first. Of a session with the role `role` only; null: of all.
using DayFiles = std::vector<std::string_view>;

// A row a part: the number of the session among all, and the columns of FiledPartSection, with the newest figures of
// the session. Records without what ran are none.
ResultTable FiledParts(const DayFiles& files, const std::optional<std::string>& role);

// A row an abstraction: id and tokens. Those that sessions of the role have.
ResultTable FiledTokens(const DayFiles& files, const std::optional<std::string>& role);

// A row an alert: a number below zero, which stays the same while nothing is written before it, the role, the end user,
// the day, the session, and the columns of FiledAlertSection.
ResultTable FiledAlerts(const DayFiles& files, const std::optional<std::string>& role);

// A file without what was recorded of an end user, but for the tokens, which other records rest on; `sessions` is
// raised by how many sessions that was. Alerts that stand behind it get other numbers.
std::string WithoutEndUser(std::string_view file, std::string_view role, std::string_view end_user,
                           std::int64_t* sessions);

}  // namespace privacy_score
