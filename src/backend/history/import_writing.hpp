/*
 * import_writing.hpp - imported sessions are written as the owner of the extension, many at a time.
 *
 * Importing the same sessions again replaces them; those that were watched live are left out. How far a session reaches
 * is written where the log tells all of its constants.
 *
 * What others work with as well comes at the end, under locks that the worker may wait for: abstractions and their
 * counts, each once, and which days are to be scored again. A row that is changed a thousand times in a transaction
 * would be looked for among its thousand versions.
 */
#pragma once

#include "backend/history/import_sessions.hpp"
#include "backend/server/guarded.hpp"
#include "backend/state/progress.hpp"

namespace privacy_score {

// Writes the sessions that are over, while others are read.
void WriteClosedSessions(Import* import);

// Writes all that is left, with a NOTICE of what was watched live.
void EndImport(Import* import);

// Runs `read`, which adds statements, and writes what it has added. Where one comes after its session was written, all
// is undone and read again, and kept in memory until the end.
template <typename Read>
void RunImport(Import* import, Read read) {
  for (const bool streams : {true, false}) {
    ErrorData* error = InSubtransaction([&] {
      BeginImport(import, streams);
      read();
      SetProgressPhase("writing history");
      EndImport(import);
    });
    if (error == nullptr) return;
    if (!streams || !import->events.is_late()) ReThrowError(error);
    SetProgressPhase("reading again");
  }
}

}  // namespace privacy_score
