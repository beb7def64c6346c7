/*
 * subject_key.hpp - the key under which constants of statements are hashed.
 *
 * It is one a database and stands in privacy_score.subject_key, which nobody but the extension's owner and members of
 * pg_read_all_data read and no dump has: so a subject has the same hash on all connections, after a restart, and on a
 * standby, until the key is replaced. Where the table has none (subject_key_period is 0) it is that of the server's
 * start, and nothing is known of subjects beyond a session.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "core/base/keyed_hash.hpp"

namespace privacy_score {

struct SubjectKey {
  bool known;  // what follows is what the table said when it was last read
  bool kept;   // it is that of the database
  privacy_score::HashKey key;
};
extern SubjectKey ps_subject_key;

// Reads it from the table, inside a transaction. Outside of one it is that of the server's start for now.
void ReadSubjectKey();

inline const SubjectKey& SubjectKeyInForce() {
  if (!ps_subject_key.known) ReadSubjectKey();
  return ps_subject_key;
}

// From now on it is read again: another model is in force, and with it maybe another key.
inline void ForgetSubjectKey() { ps_subject_key.known = false; }

}  // namespace privacy_score
