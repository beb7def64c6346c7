/*
 * private_trees.hpp - copying and changing trees of the server's nodes, in the words of this folder.
 */
#pragma once

#include "backend/server/compat.hpp"

namespace privacy_score {

template <typename T>
T* CopyTree(const T* node) {
  return static_cast<T*>(copyObjectImpl(node));
}

inline Node* CopyNode(const void* node) { return static_cast<Node*>(copyObjectImpl(node)); }

// Makes a copy of an expression whose direct children are what `mutate` returns for them.
using Mutator = Node* (*)(Node*, void*);
inline Node* MutateChildren(Node* node, Mutator mutate, void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_mutator_impl(node, mutate, context);
#else
  return expression_tree_mutator(node, reinterpret_cast<Node* (*)()>(reinterpret_cast<void (*)()>(mutate)), context);
#endif
}

// The same of a query and its range table.
inline ::Query* MutateQuery(::Query* query, Mutator mutate, void* context, int flags = 0) {
#if PG_VERSION_NUM >= 160000
  return query_tree_mutator_impl(query, mutate, context, flags);
#else
  return query_tree_mutator(query, reinterpret_cast<Node* (*)()>(reinterpret_cast<void (*)()>(mutate)), context, flags);
#endif
}

// Whether a node is that column of its level, whatever outer join has marked it so from 16 on.
inline bool IsColumn(const Node* node, const Var* column) {
  if (node == nullptr || !IsA(node, Var)) return false;
  const auto* var = reinterpret_cast<const Var*>(node);
  return var->varlevelsup == 0 && var->varno == column->varno && var->varattno == column->varattno;
}

}  // namespace privacy_score
