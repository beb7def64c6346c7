/*
 * model_changes.hpp - which relations and roles the changes concern that the model in force does not reflect yet.
 *
 * Changes of declarations, labels, dependencies, names and baselines are numbered as they commit
 * (DatabaseSlot::model_wanted), and a model says up to which number it reflects them (model_built_for). Who changes
 * their own declarations all the time must not keep the statements of others from being judged, so each change leaves
 * its number at the relations and roles that it concerns: a statement waits for the newest change of those that it
 * touches. What a change says of others is not waited for: the share of sessions of other roles in a surprise is that
 * of the model in force.
 *
 * The numbers stand in a table of fixed size, by a hash under the server's key, so that nobody can choose to share a
 * place with somebody. Who shares one by chance waits for nothing for one model, never for all that follow: a statement
 * waits for what was announced when it began.
 */
#pragma once

#include "backend/state/shared_state.hpp"

namespace privacy_score {

// What a name is of.
enum class Concern : char { kRelation = 't', kSchema = 's', kRole = 'r' };

// Says what the change of the model concerns that this transaction announces at its commit (watching.hpp). May raise.
void ConcernName(Concern kind, std::string_view name);

// The same of a role whose baseline is another one: there is a worker at the commit, which calibrates alarms by it
// before the next session begins.
void ConcernBaseline(std::string_view role);

// At a commit: numbers the change, leaves the number at what it concerns, and wakes the worker where it does not know
// yet that it has to do. Never raises.
void AnnounceChange(DatabaseSlot* slot);
// At the end of a transaction that announces none.
void ForgetConcerns();

// What the change of this transaction concerns, palloc'd, for one that is prepared; null for nothing that has a name.
// TakeConcerns() makes it the concerns of the change that is announced next; null, and what was kept before a
// restart, whose key is another one, concern every statement. Taking it never raises. JoinConcerns() is what both
// concern, in place of the other one; the first may be null.
bytea* ConcernsToKeep();
const bytea* JoinConcerns(const bytea* one, bytea* other);
void TakeConcerns(const bytea* kept);

// The number of the newest change that concerns a statement: the role, and the relations that its tokens, parted by
// kTokenEnd, name. To be called through CallCore.
uint64 NewestChange(DatabaseSlot* slot, std::string_view role, std::string_view tokens);

// Frees the table of a database that was dropped.
void FreeChangeMarks(DatabaseSlot* slot);

}  // namespace privacy_score
