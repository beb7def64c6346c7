/*
 * live.hpp - events of this backend: scoring what is executed.
 *
 * A statement becomes an abstraction by DefineAbstraction() when it is planned (abstracting.cpp); the hooks (hooks.cpp)
 * call RecordEvent() each time it is executed. The session and its scorer are found by session_scorer.hpp, what mode
 * enforce lets pass by statement_admission.hpp, and session_alerts.hpp says what follows.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "backend/query/constants.hpp"
#include "backend/state/watching.hpp"
#include "core/scoring/live_scorer.hpp"
#include "core/statement/comparisons.hpp"

namespace privacy_score {

// What is known of an execution that is about to begin and to be counted, when it repeats.
struct ExpectedEvent {
  int64 id;  // 0: nothing
  privacy_score::LiveScorer::Expected expected;
};

// Counts one execution of an abstraction that is remembered in this backend: history, score, limits, reach.
void RecordEvent(int64 id, const privacy_score::BoundConstants& constants = {});

// The same of what an error has shown, which is too late to refuse.
void RecordUnrefusable(int64 id, const privacy_score::BoundConstants& constants);

// Makes the session of who asks now, by role and end user, the open one.
void OpenPrincipal();

// Tells the client what the worker has found out since the last statement, when this one is no event.
void TellClient();

// Expects an execution, with one constant in all, of an abstraction that is remembered.
ExpectedEvent ExpectEvent(int64 id, const OneConstant& constant);

// Counts an execution for the principal by the shortest way: what was expected, or, with constants, any. False, and
// nothing is done, when it takes RecordEvent().
bool RecordRepeat(const ExpectedEvent& event, const privacy_score::BoundConstants* constants, Oid principal);

// What the label of the principal asks for when a protected relation is read: refuses it for `dp only`, unless
// break_glass is on; announces it once a session for `exempt`.
void RecordProtectedRead(RoleClass role);
// The same of a write by a role labelled `dp only` that tells of rows which are there (write_oracles.hpp).
void RefuseTellingWrite();
// Whether the label asks for anything: of `exempt` only until it was announced in this session.
bool LabelJudges(RoleClass role);
// The same for a relation that a function of ours is about to read on behalf of the caller.
void JudgeRead(Oid relation);

// Counts rows that an execution has returned. Never raises.
void RecordRows(int64 id, int64 rows);

}  // namespace privacy_score
