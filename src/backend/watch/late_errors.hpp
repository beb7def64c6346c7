/*
 * late_errors.hpp - constraints that were put off, and fail when a transaction commits of which no statement runs; and
 * waits for a key that end the session.
 *
 * Where COMMIT is a statement it meets such an error. Of a statement that commits by itself, or of several that were
 * sent at once, the error is only seen on its way to the client, where no catalog can be read. What it says is kept, in
 * this process, and counted before the next statement, or when the session ends.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

extern bool ps_has_late_error;

// Makes room for it, when the library is loaded.
void PrepareLateErrors();

// Keeps what an error that nobody has met says of a constraint or of a wait. Raises nothing; without memory it is a
// fault.
void KeepLateError(const ErrorData* error);

// Counts what is kept. To be called in a transaction.
void RecordKeptError();

inline void RecordLateError() {
  if (__builtin_expect(static_cast<long>(ps_has_late_error), 0) != 0) RecordKeptError();
}

}  // namespace privacy_score
