/*
 * side_effect_functions.cpp - see side_effect_functions.hpp.
 */
#include "backend/catalog/side_effect_functions.hpp"

#include "backend/catalog/telling_types.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include <initializer_list>

namespace privacy_score {

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

bool TellsAsWalker(Oid function, void*) { return FunctionTells(function); }

// Stops at a function that tells anywhere in an expression.
bool FindTelling(Node* node, void* context) {
  if (node == nullptr) return false;
  check_stack_depth();
  if (IsA(node, Query)) return false;
  return NodeTells(node) || WalkChildren(node, FindTelling, context);
}

// Whether one of some expressions is of a type that tells when it is made JSON.
bool AnyJsonTells(const List* expressions) {
  ListCell* cell;
  foreach (cell, expressions)
    if (JsonTells(exprType(static_cast<Node*>(lfirst(cell))))) return true;
  return false;
}

// Whether making a value of one of some types tells.
bool AnyMakingTells(const List* types) {
  ListCell* cell;
  foreach (cell, types)
    if (MakingTells(lfirst_oid(cell))) return true;
  return false;
}

// Of what makes JSON arguments come as lists.
bool IsOfTellingType(Node* node, void* context) {
  if (node == nullptr) return false;
  return IsA(node, List) ? WalkChildren(node, IsOfTellingType, context) : JsonTells(exprType(node));
}

// Whether the type that a node makes a value of, or of what it is given, brings a function that tells. A type that
// tells as JSON does so where its value is made: what turns that into JSON may be given a record, which does not say of
// what.
bool TypesTell(Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr:
    case T_OpExpr: {
      const List* args =
          IsA(node, FuncExpr) ? reinterpret_cast<FuncExpr*>(node)->args : reinterpret_cast<OpExpr*>(node)->args;
      return MakingTells(exprType(node)) || JsonTells(exprType(node)) || AnyJsonTells(args);
    }
    case T_CoerceViaIO:
      return MakingTells(exprType(node)) || JsonTells(exprType(node));
    case T_ArrayExpr:
    case T_RowExpr:
    case T_RelabelType:
    case T_ArrayCoerceExpr:
    case T_ConvertRowtypeExpr:
      return JsonTells(exprType(node));
    case T_TableFunc:
      return AnyMakingTells(reinterpret_cast<TableFunc*>(node)->coltypes);
    default:
      return IsJsonConversion(node) && (MakingTells(exprType(node)) || WalkChildren(node, IsOfTellingType, nullptr));
  }
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
    case T_CoerceToDomain: {
      const Oid domain = reinterpret_cast<CoerceToDomain*>(node)->resulttype;
      return ChecksTell(domain) || JsonTells(domain);
    }
    case T_XmlExpr: {
      const XmlExprOp op = reinterpret_cast<XmlExpr*>(node)->op;
      return op == IS_XMLPARSE || op == IS_XMLSERIALIZE || op == IS_DOCUMENT;
    }
    // What these two do to their values stands beside them, with a placeholder for the value.
    case T_ArrayCoerceExpr:
      return FindTelling(reinterpret_cast<Node*>(reinterpret_cast<ArrayCoerceExpr*>(node)->elemexpr), nullptr) ||
             TypesTell(node);
    case T_CaseExpr: {
      auto* expression = reinterpret_cast<CaseExpr*>(node);
      ListCell* cell;
      if (expression->arg == nullptr) return false;
      foreach (cell, expression->args)
        if (FindTelling(reinterpret_cast<Node*>(lfirst_node(CaseWhen, cell)->expr), nullptr)) return true;
      return false;
    }
    default:
      return check_functions_in_node(node, TellsAsWalker, nullptr) || TypesTell(node);
  }
}

bool ItemTells(const RangeTblFunction* item) { return NodeTells(item->funcexpr) || AnyMakingTells(item->funccoltypes); }

bool ClauseTells(const SortGroupClause* clause, Node* sorted) {
  if ((clause->eqop >= FirstNormalObjectId && FunctionTells(get_opcode(clause->eqop))) ||
      (clause->sortop >= FirstNormalObjectId && FunctionTells(get_opcode(clause->sortop))))
    return true;
  Oid family;
  Oid input;
  if (clause->sortop >= FirstNormalObjectId && FindOrdering(clause->sortop, &family, &input) &&
      FunctionTells(get_opfamily_proc(family, input, input, BTORDER_PROC)))
    return true;
  return ComparingTells(exprType(sorted));
}

}  // namespace privacy_score
