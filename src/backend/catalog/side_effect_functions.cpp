/*
 * side_effect_functions.cpp - see side_effect_functions.hpp.
 */
#include "backend/catalog/side_effect_functions.hpp"

#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace {

// Functions that are not VOLATILE and tell all the same, by how the name of what they run begins.
struct TellingFunction {
  const char* name;
  bool compiled;  // in a library, else in the server
};

constexpr TellingFunction kTellingFunctions[] = {
    // A name of a type that is too long is cut, with a notice that has it.
    {"regtypein", false},
    {"regprocedurein", false},
    {"regoperatorin", false},
    {"to_regtype", false},
    {"to_regprocedure", false},
    {"to_regoperator", false},
    {"has_type_privilege", false},
    {"has_function_privilege", false},
    {"pg_get_object_address", false},
    {"pg_input_", false},
    // Warnings of libxml have the line that they are about.
    {"xml_in", false},
    {"xml_recv", false},
    {"xml_is_well_formed", false},
    {"texttoxml", false},
    {"xpath", false},
    {"xmlexists", false},
    {"xpath_", true},  // xml2
    {"xslt_process", true},
    // A query without lexemes, and words that are too long.
    {"tsqueryin", false},
    {"to_tsquery", false},
    {"plainto_tsquery", false},
    {"phraseto_tsquery", false},
    {"websearch_to_tsquery", false},
    {"ts_match_tq", false},
    {"ts_match_tt", false},
    {"to_tsvector", false},
    {"json_to_tsvector", false},
    {"jsonb_to_tsvector", false},
    {"json_string_to_tsvector", false},
    {"jsonb_string_to_tsvector", false},
    {"ts_headline", false},
    // Warnings.
    {"aclitemin", false},
    {"pg_tablespace_databases", false},
    {"pgp_", true},  // pgcrypto, with its option `debug`
    // Locks on what is named, until the transaction ends.
    {"pg_get_viewdef", false},
    {"pg_get_ruledef", false},
    {"pg_get_functiondef", false},
    {"pg_get_function_sqlbody", false},
    {"table_to_xml", false}};

// Whether a function in C tells although it is not VOLATILE.
bool CompiledTells(HeapTuple tuple, bool in_library) {
  bool null;
  const Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &null);
  if (null) return false;
  const char* name = TextDatumGetCString(source);
  for (const TellingFunction& telling : kTellingFunctions)
    if (telling.compiled == in_library && strncmp(name, telling.name, strlen(telling.name)) == 0) return true;
  return false;
}

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
  const bool tells =
      !compiled || form->provolatile == PROVOLATILE_VOLATILE || CompiledTells(tuple, form->prolang == ClanguageId);
  ReleaseSysCache(tuple);
  return tells;
}

bool FunctionIsPlain(Oid function) {
  if (function >= FirstNormalObjectId) return false;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return false;
  auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  const bool plain =
      form->provolatile != PROVOLATILE_VOLATILE &&
      (form->prolang == SQLlanguageId || (form->prolang == INTERNALlanguageId && !CompiledTells(tuple, false)));
  ReleaseSysCache(tuple);
  return plain;
}

bool ExpressionTells(Node* node) { return FindTelling(node, nullptr); }

bool NodeTells(Node* node) {
  switch (nodeTag(node)) {
    case T_CoerceToDomain:
      return DomainTells(reinterpret_cast<CoerceToDomain*>(node)->resulttype);
    case T_XmlExpr: {
      const XmlExprOp op = reinterpret_cast<XmlExpr*>(node)->op;
      return op == IS_XMLPARSE || op == IS_XMLSERIALIZE || op == IS_DOCUMENT;
    }
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
