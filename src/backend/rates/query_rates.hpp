/*
 * query_rates.hpp - identification of statements given as text, from the data, with the caller's rights.
 */
#pragma once

#include "backend/rates/joint_rates.hpp"
#include "core/scoring/equivalence.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

// What a text reveals, columns under aggregates over few subjects with it, for which it reads the relations: a list of
// RevealedRelation; columns of relations that do not exist are left out. Raises 42601
// when the text does not parse, and where names lead into schemas that the current user may not use.
List* RevealedByText(const text* sql);

// The columns of which rates tell in what a text reveals, those that decide about its aggregates with them; nothing is
// read.
List* RatedByText(const text* sql);

// The same of tokens of statements that were analysed here, whatever schemas the current user may use; false when a
// column was not found.
bool RatedByTokens(const privacy_score::Tokens& tokens, List** rated);

// A relation of which the current user may not read all that is revealed: the columns, and every row. InvalidOid when
// there is none. Rates tell about the rows: they are for those who may read these, or all statistics.
Oid HiddenRelation(List* revealed);

// DRSQL: CDR of each relation against its subject; of relations that share a subject through foreign keys the joint
// rate of those that the current user may join (never less than that of one of them) and the rates of the others, added
// up to 1 at most; the greatest of these [Khan; combination ours].
double QueryRate(List* revealed);

// Two lists: the rate of each, and of both together; the first against the second: it reveals at most what the other
// does when that holds in every relation, or in what relations that are joined say together. Each relation is read
// once, and once more where it is joined.
struct QueryComparison {
  privacy_score::RevealOrder order;
  double rate1;
  double rate2;
  double both;
};
QueryComparison CompareRevealed(List* first, List* second);

}  // namespace privacy_score
