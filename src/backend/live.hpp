/*
 * live.hpp - events of this backend: scoring what is executed.
 *
 * A statement becomes an abstraction by DefineAbstraction() when it is planned (abstracting.cpp); the hooks (hooks.cpp)
 * call RecordEvent() each time it is executed. This file keeps the backend's scorer, its session in shared memory,
 * and the announcements that wake the worker.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "constants.hpp"
#include "core/comparisons.hpp"
#include "core/live_scorer.hpp"
#include "core/statement.hpp"
#include "watching.hpp"

// Abstracts a statement and remembers its tokens; returns its id, 0 when it is empty. Never raises: what core cannot
// abstract becomes `unparsed` and is counted in scoring_errors. `estimates` (may be null): the id of explaining it,
// where DefineEstimates() of the former is too little; else it is left alone.
int64 DefineAbstraction(const privacy_score::Statement& statement, int64* estimates = nullptr);

// The abstraction of explaining a statement whose abstraction is remembered, in the same way.
int64 DefineEstimates(int64 id);

// Whether this is the abstraction of what could not be abstracted.
bool IsUnparsed(int64 id);

// When the abstractions that are remembered take more room than they may: forgets their tokens, with all that leads to
// abstractions of which they are no longer known, so that statements are abstracted anew. What the session has had
// stays with its scorer.
void ForgetAbstractionsWhenFull();
// Whether the tokens of an abstraction that was defined are remembered.
bool IsRemembered(int64 id);
// These tokens; none for 0. The id must be 0 or remembered; to be called through CallCore.
privacy_score::Tokens RememberedTokens(int64 id);

// What is known of an execution that is about to begin and to be counted, when it repeats.
struct ExpectedEvent {
  int64 id;  // 0: nothing
  privacy_score::LiveScorer::Expected expected;
};

// Counts one execution of an abstraction that is remembered in this backend: history, score, limits, reach.
void RecordEvent(int64 id, const privacy_score::BoundConstants& constants = {});

// The same of what an error has shown, which is too late to refuse.
void RecordShown(int64 id, const privacy_score::BoundConstants& constants);

// Expects an execution, with one constant in all, of an abstraction that is remembered.
ExpectedEvent ExpectEvent(int64 id, const OneConstant& constant);

// Counts an execution for the principal by the shortest way: what was expected, or, with constants, any. False, and
// nothing is done, when it takes RecordEvent().
bool RecordRepeat(const ExpectedEvent& event, const privacy_score::BoundConstants* constants, Oid principal);

// What the label of the principal asks for when a protected relation is read: refuses it for `dp only`, unless
// break_glass is on; announces it once a session for `exempt`.
void RecordProtectedRead(RoleClass role);
// Whether the label asks for anything: of `exempt` only until it was announced in this session.
bool LabelJudges(RoleClass role);
// The same for a relation that a function of ours is about to read on behalf of the caller.
void JudgeRead(Oid relation);

// Counts rows that an execution has returned. Never raises.
void RecordRows(int64 id, int64 rows);

// Counts a fault of scoring and logs the first of this backend.
void CountScoringError(const char* what);
