/*
 * known_queries.hpp - queries that this backend has abstracted before, by their keys (query_key.hpp).
 *
 * What is remembered of a query is what does not depend on its constants: the abstraction, the words of
 * core/statement/comparisons.hpp with gaps for the hashes, how each gap is filled, and whether planning shows protected
 * values. It holds as long as no catalog changes in any way that CatalogGeneration() counts. Memory is bounded; what
 * does not fit pushes others out.
 */
#pragma once

#include "backend/query/constants.hpp"
#include "backend/query/plan_mark.hpp"
#include "backend/query/query_key.hpp"
#include "backend/query/value_recipes.hpp"

namespace privacy_score {

struct KnownQuery;

// What is remembered of the query with this key; null when it was not met or may have changed. Valid until the next
// call of RememberQuery.
const KnownQuery* FindKnownQuery(const QueryKey& key);

// Whether planning the query hands protected values to somebody's function (protected_reads.hpp).
bool PlanningIsKnownToShow(const KnownQuery* known);

// Whether it may have pieces (pieces.hpp), and which column is the answer of an aggregate (aggregate_plans.hpp): what a
// walk over the query itself has found, once.
bool KnownToHavePieces(const KnownQuery* known, ::Query* query);
int KnownAnswerColumn(const KnownQuery* known, ::Query* query);

// The mark of a plan of the query with its literals, in the current context. Null when the output function of a
// literal's type has itself planned a query: nothing holds any more of what the key and `known` point to.
PlanMark* MarkOfKnownQuery(const KnownQuery* known, const QueryKey& key);

// Remembers a query that was abstracted under `generation`, with the words of its constants and the recipes of the
// hashes in them; returns null when there is nothing to be remembered.
const KnownQuery* RememberQuery(const QueryKey& key, uint64 generation, int64 id, int64 estimates,
                                ConstantWordsView words, const ValueRecipes& recipes, bool planning_shows);

// Forgets all of them.
void ForgetKnownQueries();

}  // namespace privacy_score
