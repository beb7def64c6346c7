/*
 * fleet_copies.hpp - the copies that a hub keeps of what its members show.
 *
 * Each view export_* of a member is a foreign table here and has a table that its rows are copied into. The table's
 * columns say which of the view's are copied, its primary key which rows are the same, its constraints what no member
 * shows that is right. Foreign tables are temporary, so that they go with the process that reads them: one that stayed
 * would depend on its server, and what the extension has would go with that, or be in its way. All of this runs in an
 * internal scope.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Makes the foreign tables that a collector needs of a member, unless they are there.
void MakeForeignTables(const char* member);
// Locks them, those that are there, for as long as the transaction runs; raises where somebody drops them meanwhile.
// Who drops a server locks them one after another: with all of them or none there is no deadlock.
void HoldForeignTables(const char* member);
// Of these the one that orders are inserted into.
char* OrdersOf(const char* member);

// Makes the one that shows its history, and returns its name.
char* MakePartsOf(const char* member);

// Throws the copies of a member away.
void DropCopies(const char* member);

// Brings copies up to date. Sessions, the state of the server and alerts that have changed since it last answered; with
// `days` also roles, and yesterday and today; with `all` every day and alert.
void CollectCopies(const char* member, bool days, bool all);

}  // namespace privacy_score
