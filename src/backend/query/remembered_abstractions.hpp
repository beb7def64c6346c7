/*
 * remembered_abstractions.hpp - the abstractions that this process has met, by their ids.
 *
 * A plan, a known query and the scorer name an abstraction by its id; its tokens are kept here, as long as there is
 * room.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "backend/state/live_local.hpp"
#include "core/statement/statement.hpp"

namespace privacy_score {

// Abstracts a statement and remembers its tokens; returns its id, 0 when it is empty. Never raises: what core cannot
// abstract becomes `unparsed` and is counted in scoring_errors. `estimates` (may be null): the id of explaining it,
// where DefineEstimates() of the former is too little; else it is left alone.
int64 DefineAbstraction(const privacy_score::Statement& statement, int64* estimates = nullptr);

// The abstraction of explaining a statement whose abstraction is remembered, in the same way.
int64 DefineEstimates(int64 id);

// When the abstractions that are remembered take more room than they may: forgets their tokens, with all that leads to
// abstractions of which they are no longer known, so that statements are abstracted anew. What the session has had
// stays with its scorer.
void ForgetAbstractionsWhenFull();
// Whether the tokens of an abstraction that was defined are remembered.
inline bool IsRemembered(int64 id) { return !ps_local.forgot || id == 0 || ps_local.tokens->count(id) != 0; }
// These tokens; none for 0. The id must be 0 or remembered; to be called through CallCore.
privacy_score::Tokens RememberedTokens(int64 id);

}  // namespace privacy_score
