/*
 * end_user.hpp - who is asking, where one role speaks for many people.
 *
 * `end_user_source` names the places that are looked at, in order, whenever a statement is counted; the first that says
 * something counts. Only roles labelled `gateway` are believed, judged by the user of the session: whoever could speak
 * for others could hide behind them. Settings are read when a statement runs, so that SET LOCAL, savepoints and RESET
 * mean what they say. A comment is that of the text which the client sent: of a prepared statement, that of its
 * PREPARE. With standard_conforming_strings off no comment is believed: what is one is told with it on.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// What may come of looking: a name that is not believed, or not valid.
enum class EndUserFault { kNone, kIgnored, kInvalid };

struct EndUser {
  const char* name;  // empty: none; stays until the next call
  EndUserFault fault;
};

// The end user of what this process runs now.
EndUser EndUserNow();

// A name as it counts: without space around it; kInvalidEndUser where it is none. In the database's encoding, palloc'd.
char* CheckedName(const char* name);

// Whether statements of this session may have one: a source is set and its user is labelled `gateway`.
bool SpeaksForOthers();

// Takes in the text of a statement that is planned or run now, if it is one that the client has sent. Returns whether
// it may have changed who is asking.
bool NoteStatementText(const char* text);

// The text that EXECUTE runs, which the client has sent with PREPARE; null: none. Returns what it was before.
const char* NoteExecutedText(const char* text);

}  // namespace privacy_score
