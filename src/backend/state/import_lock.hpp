/*
 * import_lock.hpp - one import at a time, and nobody else removes sessions of history meanwhile.
 *
 * An import replaces what an earlier one has written: two at once would not see each other's sessions. Who removes
 * sessions would wait for those that an import has replaced, and the import in the end for what they hold.
 */
#pragma once

namespace privacy_score {

// Until the transaction ends.
void LockImports();

// False when somebody imports.
bool TryLockImports();

}  // namespace privacy_score
