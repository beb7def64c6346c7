/*
 * cells.hpp - over how few rows an aggregate may be taken, as far as a Statement tells.
 *
 * sum(x) of one row is x. Where the conditions of a query level compare columns for equality with what is the same for
 * all of its rows, or with a row outside of it, these columns and those that it groups by name the cell that each of
 * its aggregates is taken over; how few subjects a cell has is for the rates to say (aggregates.hpp). Where rows are
 * picked by their place, no rate tells, and the aggregate shows what it is given.
 *
 * Looked at are the level and all that feed it: subqueries, views, WITH queries, conditions of subqueries in
 * conditions. Equalities count wherever they stand, under OR, in CASE, in FILTER and in an aggregate's argument too. A
 * range counts when it leaves one value; when its ends are not known yet, only if the column is a key or refers to one,
 * by itself. So do <>, which NOT turns round, and a condition that hides it under other functions. A part of a
 * time is a range.
 */
#pragma once

#include <vector>

#include "core/statement/scope.hpp"

namespace privacy_score {

// True when the level takes its rows from one that has LIMIT, OFFSET, DISTINCT ON or TABLESAMPLE, picks them by a
// window function, or groups by something that varies: an aggregate in it may be of one row.
bool PicksRows(Scopes& scopes, Scope* level);

// The columns of base relations that name the rows that reach the level, perhaps repeated.
std::vector<ItemColumn> FindCells(Scopes& scopes, Scope* level);

}  // namespace privacy_score
