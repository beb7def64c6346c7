/*
 * query_build.hpp - what the pieces of the Query front end share.
 *
 * A QueryScope is one query level while it is translated; scopes live on the stack and link to the level outside, so
 * that a Var with varlevelsup finds its range table. Everything here may raise and so holds no destructors.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

#include "core/statement/statement.hpp"

namespace privacy_score {

struct RelationEntry;

// The range of one range table entry.
struct RangeSlot {
  int index;           // into result->ranges, -1 when it has none
  const int* columns;  // of a relation: attribute number - 1 -> column of the range, -1 when dropped
  int natts;
  ::Query* inlined;  // what stands in the place of a call of an SQL function or of a view; null else
  Oid view;          // that view
};

// The stored query of a view or materialized view, which nobody has rewritten: the views in it are put in place here.
// Functions stay calls, for to look into them the planner may run what somebody else has written.
struct StoredViews {
  List* path;   // the views around what is being translated
  List* views;  // all views met
  int expanded;
};

struct ValueRecipes;

struct QueryScope {
  privacy_score::Arena* arena;
  ::Query* query;
  privacy_score::Query* result;
  RangeSlot* slots;  // by range table index; the first is not used
  QueryScope* parent;
  List* targets;            // the assignments that are being translated
  StoredViews* definition;  // null but within a stored query
  int place;                // the range table entry of the parent that this is the query of, 0 when it is not in FROM
  int entering;             // the range table entry whose query is about to be translated
  int told;                 // how many functions that may be seen to run were met so far, here and in subqueries
  ValueRecipes* recipes;    // null where hashes of values are wanted at once
};

// query_statement.cpp

privacy_score::Command CommandOf(CmdType type);

// Translates a query that stands inside `parent` (null for the outermost).
privacy_score::Query* BuildQuery(privacy_score::Arena* arena, ::Query* query, QueryScope* parent,
                                 StoredViews* definition = nullptr, ValueRecipes* recipes = nullptr);

// query_ranges.cpp

// Gives each FROM item of the join tree, the target and EXCLUDED its range, without their contents.
void AddRanges(QueryScope* scope);

// Fills in the WITH queries and the contents of all ranges; adds the conditions of joins and WHERE.
void FillRanges(QueryScope* scope);

// The range of a range table entry; one that the join tree does not name is added.
const RangeSlot* FindRange(QueryScope* scope, int rtindex);

// query_policies.cpp

// Whether conditions that the owner of a relation has put on it (row security, check options) belong to a statement
// that meets them: when they read what somebody else owns, which what a superuser has put there may; and when they hand
// rows of a protected relation that were there (`rows_there`) to code of others.
bool PolicyCounts(const RelationEntry* relation, Node* conditions, bool rows_there);

// Adds the conditions for rows that are written, as far as they count.
void AddCheckOptions(QueryScope* scope);

// query_expressions.cpp

// Translates an expression; never null.
privacy_score::Expr* BuildExpr(QueryScope* scope, Node* node);

// Translates `node` and adds it to `list`; nothing for null.
void AddExpr(QueryScope* scope, privacy_score::ArenaList<privacy_score::Expr>* list, Node* node);

// kOther with the children of `node`; a constant when nothing is below.
privacy_score::Expr* BuildOther(QueryScope* scope, Node* node);

// `expr` as what a function is given that tells it by other ways than a value.
privacy_score::Expr* BuildTold(QueryScope* scope, privacy_score::Expr* expr);

// Adds what a clause sorts, groups or makes distinct to what is told, when comparing it does.
void AddTold(QueryScope* scope, const SortGroupClause* clause, Node* sorted);

// Notes what a level calls by name (core's Query::calls).
void NoteCallOf(QueryScope* scope, const FuncExpr* call);

bool IsEqualityOperator(Oid opno);
// Its negator, as <> is that of =.
bool IsInequalityOperator(Oid opno);

// query_marks.cpp

// Marks what is known of an operator or function beyond its arguments: Expr::packs, pins, time_part, limit.
void MarkOther(QueryScope* scope, privacy_score::Expr* expr, Node* node);

// The marks that depend on constants, of which a QueryKey says nothing else: what part of a time a call gives; whether
// some range in a list of OpExpr may leave one value, or some pattern is one.
privacy_score::TimePart TimePartOf(const FuncExpr* call);
bool DependOnConstants(OpExpr* const* comparisons, int count);

// query_values.cpp

// What is cast, as 5 in 5::bigint: the text of a value is what counts.
Node* WithoutCasts(Node* node);

// Translates an expression and notes its constant when it is one.
privacy_score::Expr* BuildOperand(QueryScope* scope, Node* node);

// Adds to `expr` the constant that `node` is, or the elements of the array that is unnested; false when it is none.
bool AddValues(QueryScope* scope, privacy_score::Expr* expr, Node* node);

// x IN (list), x = ANY (array) and the like.
privacy_score::Expr* BuildArrayComparison(QueryScope* scope, ScalarArrayOpExpr* comparison);

// IS DISTINCT FROM, NULLIF: both are nodes of the form of OpExpr.
privacy_score::Expr* BuildDisguisedEquality(QueryScope* scope, OpExpr* comparison);

privacy_score::Expr* BuildCase(QueryScope* scope, CaseExpr* node);

}  // namespace privacy_score
