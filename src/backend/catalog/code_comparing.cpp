/*
 * code_comparing.cpp - see code_comparing.hpp.
 */
#include "backend/catalog/code_comparing.hpp"

#include <initializer_list>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/indexing.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_index.h"
#include "catalog/pg_range.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

#include "backend/catalog/catalog_scan.hpp"
#include "backend/catalog/code_search.hpp"

namespace privacy_score {

namespace {

// The functions that one catalog lists for an operator family, by operators when `operators`.
bool FindInList(Oid family, Oid catalog_id, Oid index, AttrNumber column, bool operators, CodeSearch* search) {
  ScanKeyData key;
  ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(family));
  List* functions = operators
                        ? GatherOids<FormData_pg_amop>(catalog_id, index, &key,
                                                       [](const FormData_pg_amop* row) { return row->amopopr; })
                        : GatherOids<FormData_pg_amproc>(catalog_id, index, &key, [](const FormData_pg_amproc* row) {
                            return static_cast<Oid>(row->amproc);
                          });
  ListCell* cell;
  foreach (cell, functions)
    if (FindInFunction(operators ? get_opcode(lfirst_oid(cell)) : lfirst_oid(cell), search)) return true;
  return false;
}

// Those that the server has brought are its own.
bool FindInFamily(Oid family, CodeSearch* search) {
  if (family < FirstNormalObjectId) return false;
  return FindInList(family, AccessMethodProcedureRelationId, AccessMethodProcedureIndexId, Anum_pg_amproc_amprocfamily,
                    false, search) ||
         FindInList(family, AccessMethodOperatorRelationId, AccessMethodStrategyIndexId, Anum_pg_amop_amopfamily, true,
                    search);
}

struct Types {
  CodeSearch* search;
  List* seen;
};

bool FindInComparedType(Oid type, Types* types);

bool FindInComparedRow(Oid type, Types* types) {
  TupleDesc columns = lookup_rowtype_tupdesc_noerror(type, -1, true);
  if (columns == nullptr) return false;
  bool found = false;
  for (int i = 0; i < columns->natts && !found; ++i)
    found = !TupleDescAttr(columns, i)->attisdropped && FindInComparedType(TupleDescAttr(columns, i)->atttypid, types);
  ReleaseTupleDesc(columns);
  return found;
}

bool FindInComparedRange(Oid type, Types* types) {
  HeapTuple tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return false;
  const FormData_pg_range form = *reinterpret_cast<Form_pg_range>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  return FindInFamily(get_opclass_family(form.rngsubopc), types->search) || FindInComparedType(form.rngsubtype, types);
}

// In what compares values of a type when nobody says otherwise, and those that it is made of.
bool FindInComparedType(Oid type, Types* types) {
  if (!OidIsValid(type) || list_member_oid(types->seen, type)) return false;
  check_stack_depth();
  types->seen = lappend_oid(types->seen, type);
  const TypeCacheEntry* entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY | TYPECACHE_HASH_OPFAMILY);
  const Oid btree = entry->btree_opf;
  const Oid hash = entry->hash_opf;
  if (FindInFamily(btree, types->search) || FindInFamily(hash, types->search)) return true;
  switch (get_typtype(type)) {
    case TYPTYPE_DOMAIN:
      return FindInComparedType(getBaseType(type), types);
    case TYPTYPE_COMPOSITE:
      return FindInComparedRow(type, types);
    case TYPTYPE_RANGE:
      return FindInComparedRange(type, types);
    case TYPTYPE_MULTIRANGE:
      return FindInComparedType(get_multirange_range(type), types);
    default:
      return FindInComparedType(get_element_type(type), types);
  }
}

bool FindInComparing(Oid type, CodeSearch* search) {
  Types types = {search, NIL};
  return FindInComparedType(type, &types);
}

// In what an operator is a member of.
bool FindInOperator(Oid op, CodeSearch* search) {
  if (op < FirstNormalObjectId) return false;
  if (FindInFunction(get_opcode(op), search)) return true;
  bool found = false;
  CatCList* members = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(op));
  List* families = NIL;
  for (int i = 0; i < members->n_members; ++i)
    families =
        lappend_oid(families, reinterpret_cast<Form_pg_amop>(GETSTRUCT(&members->members[i]->tuple))->amopfamily);
  ReleaseSysCacheList(members);
  ListCell* cell;
  foreach (cell, families) found = found || FindInFamily(lfirst_oid(cell), search);
  return found;
}

bool FindInClause(const SortGroupClause* clause, Node* sorted, CodeSearch* search) {
  return FindInOperator(clause->eqop, search) || FindInOperator(clause->sortop, search) ||
         FindInComparing(exprType(sorted), search);
}

bool FindInSorted(const List* clauses, List* targets, CodeSearch* search) {
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = lfirst_node(SortGroupClause, cell);
    if (FindInClause(clause, get_sortgroupclause_expr(clause, targets), search)) return true;
  }
  return false;
}

// In what tests the rows of set operations for equality.
bool FindInSets(Node* node, CodeSearch* search) {
  check_stack_depth();
  if (node == nullptr || !IsA(node, SetOperationStmt)) return false;
  const auto* operation = reinterpret_cast<SetOperationStmt*>(node);
  ListCell* cell;
  foreach (cell, operation->groupClauses) {
    const auto* clause = lfirst_node(SortGroupClause, cell);
    if (FindInOperator(clause->eqop, search) || FindInOperator(clause->sortop, search)) return true;
  }
  foreach (cell, operation->groupClauses == NIL ? NIL : operation->colTypes)
    if (FindInComparing(lfirst_oid(cell), search)) return true;
  return FindInSets(operation->larg, search) || FindInSets(operation->rarg, search);
}

bool FindInOperands(const List* operands, CodeSearch* search) {
  ListCell* cell;
  foreach (cell, operands)
    if (FindInComparing(exprType(static_cast<Node*>(lfirst(cell))), search)) return true;
  return false;
}

}  // namespace

bool FindInIndexClasses(Oid index, CodeSearch* search) {
  HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
  if (!HeapTupleIsValid(tuple)) return false;
  bool null;
  const Datum value = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &null);
  const auto* classes = null ? nullptr : reinterpret_cast<const oidvector*>(DatumGetPointer(value));
  List* families = NIL;
  List* inputs = NIL;
  for (int i = 0; classes != nullptr && i < classes->dim1; ++i) {
    families = lappend_oid(families, get_opclass_family(classes->values[i]));
    inputs = lappend_oid(inputs, get_atttype(index, static_cast<AttrNumber>(i + 1)));
  }
  ReleaseSysCache(tuple);
  ListCell* cell;
  foreach (cell, families)
    if (FindInFamily(lfirst_oid(cell), search)) return true;
  foreach (cell, inputs)
    if (OidIsValid(lfirst_oid(cell)) && FindInComparing(lfirst_oid(cell), search)) return true;
  return false;
}

bool FindInClauses(const ::Query* query, CodeSearch* search) {
  for (const List* clauses : {query->groupClause, query->distinctClause, query->sortClause})
    if (FindInSorted(clauses, query->targetList, search)) return true;
  ListCell* cell;
  foreach (cell, query->windowClause) {
    const auto* window = lfirst_node(WindowClause, cell);
    if (FindInSorted(window->partitionClause, query->targetList, search) ||
        FindInSorted(window->orderClause, query->targetList, search))
      return true;
  }
  return FindInSets(query->setOperations, search);
}

bool FindInComparison(Node* node, CodeSearch* search) {
  switch (nodeTag(node)) {
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr: {
      const auto* op = reinterpret_cast<OpExpr*>(node);
      return FindInOperator(op->opno, search) || FindInOperands(op->args, search);
    }
    case T_ScalarArrayOpExpr: {
      const auto* op = reinterpret_cast<ScalarArrayOpExpr*>(node);
      return FindInOperator(op->opno, search) || FindInOperands(op->args, search);
    }
    case T_RowCompareExpr: {
      const auto* comparison = reinterpret_cast<RowCompareExpr*>(node);
      ListCell* cell;
      foreach (cell, comparison->opnos)
        if (FindInOperator(lfirst_oid(cell), search)) return true;
      return FindInOperands(comparison->largs, search);
    }
    case T_MinMaxExpr:
      return FindInComparing(exprType(node), search);
    case T_Aggref: {
      const auto* aggregate = reinterpret_cast<Aggref*>(node);
      return FindInSorted(aggregate->aggorder, aggregate->args, search) ||
             FindInSorted(aggregate->aggdistinct, aggregate->args, search);
    }
    default:
      return false;
  }
}

}  // namespace privacy_score
