/*
 * private_reading.hpp - reading the rows of persons behind a level, once they are paid for.
 *
 * The private part runs as the owner of the persons' home (dp_scan.hpp). Each of its rows goes straight into core,
 * which keeps whose it is, its group and its values; nothing is sorted or stored by the server (private_joins.hpp).
 */
#pragma once

#include "backend/dp/dp_budget.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/private_sql/private_level.hpp"
#include "backend/private_sql/private_values.hpp"
#include "core/private_sql/person_sums.hpp"

namespace privacy_score {

// What was read.
struct PersonRows {
  PersonRecords records;
  std::vector<std::string> images;  // of the groups, by number: bytes that tell them apart
  std::vector<std::string> keys;    // the fields of their keys (private_rows.hpp)
};

// The grid of one of the values of a level, from 0.
ValueGrid GridOfValue(const PrivateLevel* level, int value);

// Locks what a part reads, and raises what it cannot be read for, before it is charged.
void PreparePersons(const Question* question, const PrivateLevel* level, ::Query* part);

// Where the groups are public (not null), rows of no other are kept. Null when there is an answer meanwhile. The rows
// live in the current memory context.
PersonRows* ReadPersons(Debit* debit, const PrivateLevel* level, ::Query* part, const PublicGroups* groups);

}  // namespace privacy_score
