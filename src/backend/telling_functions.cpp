/*
 * telling_functions.cpp - see telling_functions.hpp.
 */
#include "telling_functions.hpp"

#include "compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace {

bool Tells(Oid function, void*) { return FunctionTells(function); }

// Stops at a function that tells anywhere in an expression.
bool FindTelling(Node* node, void* context) {
  if (node == nullptr) return false;
  check_stack_depth();
  if (IsA(node, Query)) return false;
  return NodeTells(node) || WalkChildren(node, FindTelling, context);
}

// Whether a CHECK of the domain runs such a function.
bool DomainTells(Oid domain) {
  if (!DomainHasConstraints(domain)) return false;
  // The memory context lets go of it when it is reset, so it must live there.
  auto* reference = static_cast<DomainConstraintRef*>(palloc(sizeof(DomainConstraintRef)));
  InitDomainConstraintRef(domain, reference, CurrentMemoryContext, false);
  ListCell* cell;
  foreach (cell, reference->constraints) {
    auto* constraint = static_cast<DomainConstraintState*>(lfirst(cell));
    if (FindTelling(reinterpret_cast<Node*>(constraint->check_expr), nullptr)) return true;
  }
  return false;
}

}  // namespace

bool FunctionTells(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return true;
  auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  const bool compiled = form->prolang == INTERNALlanguageId || form->prolang == ClanguageId;
  const bool tells = !compiled || form->provolatile == PROVOLATILE_VOLATILE;
  ReleaseSysCache(tuple);
  return tells;
}

bool ExpressionTells(Node* node) { return FindTelling(node, nullptr); }

bool NodeTells(Node* node) {
  switch (nodeTag(node)) {
    case T_CoerceToDomain:
      return DomainTells(reinterpret_cast<CoerceToDomain*>(node)->resulttype);
    // What these two do to their values stands beside them, with a placeholder for the value.
    case T_ArrayCoerceExpr:
      return FindTelling(reinterpret_cast<Node*>(reinterpret_cast<ArrayCoerceExpr*>(node)->elemexpr), nullptr);
    case T_CaseExpr: {
      auto* expression = reinterpret_cast<CaseExpr*>(node);
      ListCell* cell;
      if (expression->arg == nullptr) return false;
      foreach (cell, expression->args)
        if (FindTelling(reinterpret_cast<Node*>(lfirst_node(CaseWhen, cell)->expr), nullptr)) return true;
      return false;
    }
    default:
      return check_functions_in_node(node, Tells, nullptr);
  }
}
