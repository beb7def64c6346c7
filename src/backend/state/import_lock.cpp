/*
 * import_lock.cpp - see import_lock.hpp.
 */
#include "backend/state/import_lock.hpp"

extern "C" {
#include "postgres.h"

#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "storage/lock.h"
}

namespace privacy_score {

namespace {

// A part of the extension that has no other lock: that of the whole is its own, which DROP EXTENSION takes.
constexpr uint16 kImports = 1;

LOCKTAG ImportsTag() {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, MyDatabaseId, ExtensionRelationId, get_extension_oid("privacy_score", false), kImports);
  return tag;
}

}  // namespace

void LockImports() {
  const LOCKTAG tag = ImportsTag();
  (void)LockAcquire(&tag, ExclusiveLock, false, false);
}

bool TryLockImports() {
  const LOCKTAG tag = ImportsTag();
  return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

}  // namespace privacy_score
