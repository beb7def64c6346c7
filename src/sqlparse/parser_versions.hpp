/*
 * parser_versions.hpp - what differs between the parse trees of libpg_query 13 to 18, in one place.
 *
 * The trees have the fields of the grammar of one server version each. What an older one lacks is answered as absent;
 * kinds of node that a newer one brings are read by what they hold (ChildNodes), so that no column hides in them.
 */
#pragma once

#include <string_view>
#include <vector>

#include "sqlparse/tree.hpp"

namespace privacy_score {

// The nearest nodes below a node of any kind, whatever they are for.
std::vector<Node*> ChildNodes(const Node& node);

// What RETURNING lists, and the names by which it sees the row before and after the change (version 18; else empty).
struct ReturningList {
  NodeList list = {nullptr, 0};
  std::string_view before;
  std::string_view after;
};
ReturningList ReturningOf(const PgQuery__InsertStmt& statement);
ReturningList ReturningOf(const PgQuery__UpdateStmt& statement);
ReturningList ReturningOf(const PgQuery__DeleteStmt& statement);
ReturningList ReturningOf(const PgQuery__MergeStmt& statement);

// Which rows a WHEN clause of MERGE is about, and so which it sees.
enum class MergeMatch { kBoth, kSource, kTarget };
MergeMatch MatchOf(const PgQuery__MergeWhenClause& clause);

// JSON_TABLE in FROM (version 17): true when the node is one. Names in the order of the columns, nested ones in place.
bool IsJsonTable(const Node& node, const PgQuery__Alias** alias, std::vector<std::string_view>* columns);

}  // namespace privacy_score
