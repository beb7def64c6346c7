/*
 * tree.hpp - nodes and lists of parse trees, and the small questions that are asked of them everywhere.
 */
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <pg_query/pg_query.pb-c.h>

namespace privacy_score {

using Node = PgQuery__Node;

// A list of a parse tree.
struct NodeList {
  Node* const* items;
  std::size_t size;

  Node* const* begin() const { return items; }
  Node* const* end() const { return items + size; }
  Node* operator[](std::size_t index) const { return items[index]; }
};

// The text of a String node; empty for others.
std::string_view TextOf(const Node* node);
// The strings of a list.
std::vector<std::string_view> TextsOf(NodeList list);
bool IsStar(const Node* node);
// True for a ColumnRef or an indirection that ends in a star.
bool EndsInStar(const Node* node);
bool IsNullConstant(const Node* node);
const Node* WithoutCasts(const Node* node);
// True for EXPLAIN without ANALYZE.
bool OnlyExplains(const Node& node);

// Whether a statement is a query under LIMIT 0, written as a number, which returns and locks no row and writes nothing;
// also one within CREATE TABLE AS, DECLARE, PREPARE or COPY, but not within EXPLAIN.
bool IsLimitedToNothing(const Node& node);

}  // namespace privacy_score
