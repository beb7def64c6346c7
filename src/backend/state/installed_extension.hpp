/*
 * installed_extension.hpp - whether the extension is in this database, of this library's version, and can be written
 * to.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// The owner of the extension's schema, or InvalidOid when the extension is not in this database.
Oid ExtensionOwner();

// The same; raises 55000 when the extension is not in this database.
Oid RequireExtension();

// Whether the objects of the extension in this database are of this library's version, so that its tables are those
// which it writes. Inside a transaction.
bool ExtensionIsCurrent();

// The message, detail and hint of an ereport() that says that they are not.
int NotCurrentMessage();

// Raises 55000 when they are not.
void RequireCurrentExtension();

// Raises 25006 on a standby: `function` writes.
void RequirePrimary(const char* function);

// Raises 25000 in a transaction that does not see what others have committed since it began: what they wrote would
// stay.
void RequireReadCommitted(const char* function);

}  // namespace privacy_score
