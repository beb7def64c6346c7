/*
 * described_columns.hpp - the columns of protected relations that rows of pg_statistic and pg_statistic_ext_data show.
 *
 * Reading pg_stats is reading the columns that it describes. Which these are is narrowed by what the conditions say for
 * certain: top-level conjuncts that compare schema, table, column, starelid or staattnum with constants by the server's
 * own equality, up through subqueries that only pass rows on. Everything else leaves all columns of all protected
 * relations that the current user may read. May raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

#include "core/statement/statement.hpp"

namespace privacy_score {

struct QueryScope;

// True for the catalogs whose rows show values of other relations.
bool DescribesColumns(Oid catalog);

// Gives a range of such a catalog what it describes, by the conditions of the scope and of those around it.
void DescribeRange(QueryScope* scope, int rtindex, privacy_score::Relation* relation);

// The same without conditions; `all`: also what the current user may not read.
void DescribeAll(privacy_score::Arena* arena, Oid catalog, privacy_score::Relation* relation, bool all);

// Whether such a catalog shows values of anything protected.
bool DescribesProtected(bool all);

}  // namespace privacy_score
