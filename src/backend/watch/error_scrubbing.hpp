/*
 * error_scrubbing.hpp - errors that show values of protected relations, before anybody sees them.
 *
 * `Failing row contains (...)`, `Key (name)=(n7) already exists`, a line of COPY, `invalid input syntax for type
 * integer: "name7"`: for roles that limits refuse (mode `enforce`) and roles labelled `dp only`, what may hold a value
 * is taken out of an error as soon as it leaves the innermost statement that has to do with a protected relation, so
 * that no exception block finds it. SQLSTATE and the names of table, column and constraint stay, and so does a primary
 * message that is known to hold no value. The original goes along as what only the server's log is told (detail_log).
 * Errors that functions in PL/pgSQL raise by themselves say what their authors want; what they are given counts
 * (side_effect_functions.hpp).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/params.h"
#include "nodes/plannodes.h"
}

#include "backend/state/watching.hpp"

namespace privacy_score {

// What has failed: a planned statement, or a utility statement.
struct FailedStatement {
  const PlannedStmt* plan;  // null: a utility statement
  ParamListInfo parameters;
  const Node* utility;
  Oid handled;     // HandledRelation() of that
  bool outermost;  // it does not run within another one
};

// The relation whose rows a utility statement handles by itself; InvalidOid when there is none. To be asked before it
// runs: from version 17 on what makes and fills indexes and materialized views runs with another search path.
Oid HandledRelation(const Node* utility);

// To be called in PG_CATCH, in the state in which the statement began, with who it runs for: raises the error anew
// without what it must not show, or returns when it may go on as it is. Each error is looked at once, by the innermost
// statement that it concerns. Reads catalogs, as the server does to make such errors.
void JudgeError(const FailedStatement& failed, const Watch& watch);

// To be called in PG_CATCH, likewise: raises an error that denies a role labelled `dp only` a protected relation anew,
// with a hint at the questions that it may ask. Of a planned statement that fails before it runs, or of COPY.
void HintWhilePlanning();  // of a query that reads a protected relation
void HintAtNoisyAnswers(RoleClass role, const PlannedStmt* plan, const Node* utility, Oid handled);

// What fails when a transaction commits, where no statement runs any more, passes only on its way to the client: there
// is looked at what no statement has looked at.
void InstallErrorScrubbing();

}  // namespace privacy_score
