/*
 * fleet_copies.hpp - the copies that a hub keeps of what its members show.
 *
 * Each view export_* of a member is a foreign table here and has a table that its rows are copied into. The table's
 * columns say which of the view's are copied, its primary key which rows are the same. All of this runs in an internal
 * scope.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Makes the foreign tables of a member that are not there: all of them when it is added, or after a restore, for they
// belong to the extension and are not dumped.
void MakeForeignTables(const char* member);

// Drops them, and throws the copies away.
void DropForeignTables(const char* member);
void DropCopies(const char* member);

// The foreign table that orders to a member are inserted into, and the one that shows its history.
char* OrdersOf(const char* member);
char* PartsOf(const char* member);

// Brings copies up to date. Sessions, the state of the server and alerts that have changed since it last answered; with
// `days` also roles, and yesterday and today; with `all` every day and alert.
void CollectCopies(const char* member, bool days, bool all);

}  // namespace privacy_score
