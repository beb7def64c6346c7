/*
 * code_trust.hpp - which code runs where rows are read with rights that are lent.
 *
 * A noisy answer is read with the rights of the relation's owner, whoever asks; a report reads anybody's tables with
 * the rights of who wants it; rates are read with the rights of the owner, in anybody's session and in the worker. What
 * a function in SQL or a procedural language does there is not for its owner alone to say: the names in it may mean
 * temporary objects of the session, and what was made of it when it was called before stays. So nothing runs but
 * functions of the server, of shared libraries, which only superusers bring, of this extension, and expressions over
 * these that a trusted owner has written with RETURN, whose names were read when they were made.
 *
 * Views, foreign tables and types are code as well: the server's own functions, which they may call, run any statement.
 * They must belong to the role whose rights are lent, to who has its rights, or to a superuser. The planner evaluates
 * constant parts of what belongs to a relation, such as expressions of indexes; that code is looked at, too.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "executor/spi.h"
}

namespace privacy_score {

// What is stopped at this moment: nothing, or any other function, view, foreign table and type than one may have that
// reads with the rights of `owner` (42501).
struct CodeRule {
  bool holds;
  bool runs;  // a statement under the rule has begun to run: it may have seen rows
  Oid owner;
  Oid trusted[32];  // functions that may run
  unsigned next_trusted;
};
extern CodeRule ps_code_rule;

// Begins to look at what is about to run; before that the rule has no effect.
void WatchCode();

// Runs `work` under that rule. What it plans is looked at before.
template <typename Work>
void WithTrustedCode(Oid owner, Work work) {
  WatchCode();
  const CodeRule before = ps_code_rule;
  ps_code_rule = {true, false, owner, {}, 0};
  PG_TRY();
  { work(); }
  PG_FINALLY();
  { ps_code_rule = before; }
  PG_END_TRY();
}

// Whether a prepared query, or reading a relation and what inherits from it, which it locks, needs no other code than
// the rule allows.
bool NeedsOnlyTrustedCode(SPIPlanPtr plan, Oid owner);
void RequireTrustedCode(SPIPlanPtr plan, Oid owner);  // the same; raises 42501
void RequireTrustedCode(::Query* query, Oid owner);   // likewise
bool NeedsOnlyTrustedCode(Oid relation, Oid owner);

}  // namespace privacy_score
