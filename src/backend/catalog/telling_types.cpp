/*
 * telling_types.cpp - see telling_types.hpp.
 *
 * Types hold one another, but never themselves; one that is met twice is looked at once.
 */
#include "backend/catalog/telling_types.hpp"

#include "backend/catalog/side_effect_functions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/pg_list.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace privacy_score {

namespace {

// Whether a type by itself, what it is made of left out, does what is looked for.
using TypeTest = bool (*)(Oid type, char kind);

struct TypeSearch {
  TypeTest tells;
  List* seen;
};

// A function that the server has brought tells where it stands in a query, too.
bool AddedTells(Oid function) { return function >= FirstNormalObjectId && FunctionTells(function); }

bool Find(Oid type, TypeSearch* search);

bool SearchColumns(Oid type, TypeSearch* search) {
  TupleDesc columns = lookup_rowtype_tupdesc_noerror(type, -1, true);
  if (columns == nullptr) return false;
  bool found = false;
  for (int i = 0; i < columns->natts && !found; ++i)
    found = !TupleDescAttr(columns, i)->attisdropped && Find(TupleDescAttr(columns, i)->atttypid, search);
  ReleaseTupleDesc(columns);
  return found;
}

// In a type and in those that it is made of.
bool Find(Oid type, TypeSearch* search) {
  if (!OidIsValid(type) || list_member_oid(search->seen, type)) return false;
  check_stack_depth();
  search->seen = lappend_oid(search->seen, type);
  const char kind = get_typtype(type);
  if (search->tells(type, kind)) return true;
  switch (kind) {
    case TYPTYPE_DOMAIN:
      return Find(getBaseType(type), search);
    case TYPTYPE_COMPOSITE:
      return SearchColumns(type, search);
    case TYPTYPE_RANGE:
      return Find(get_range_subtype(type), search);
    case TYPTYPE_MULTIRANGE:
      return Find(get_multirange_range(type), search);
    default:
      return Find(get_element_type(type), search);
  }
}

bool SearchType(Oid type, TypeTest tells) {
  TypeSearch search = {tells, NIL};
  const bool found = Find(type, &search);
  list_free(search.seen);
  return found;
}

// A range is brought into one form, and its bounds are compared.
bool RangeTells(Oid type) {
  HeapTuple tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return false;
  const FormData_pg_range form = *reinterpret_cast<Form_pg_range>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  Oid family;
  Oid input;
  return AddedTells(form.rngcanonical) ||
         (get_opclass_opfamily_and_input_type(form.rngsubopc, &family, &input) &&
          AddedTells(get_opfamily_proc(family, input, input, BTORDER_PROC))) ||
         ComparingTells(form.rngsubtype);
}

bool TellsMade(Oid type, char kind) {
  return (kind == TYPTYPE_DOMAIN && ChecksTell(type)) || (kind == TYPTYPE_RANGE && RangeTells(type));
}

// The server's functions look for a cast of what is no array, no row, and not its own.
bool TellsAsJson(Oid type, char /*kind*/) {
  Oid cast;
  return type >= FirstNormalObjectId &&
         find_coercion_pathway(JSONOID, type, COERCION_EXPLICIT, &cast) == COERCION_PATH_FUNC && FunctionTells(cast);
}

bool TellsCompared(Oid type, char /*kind*/) {
  const TypeCacheEntry* entry =
      lookup_type_cache(type, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_CMP_PROC | TYPECACHE_HASH_PROC);
  return AddedTells(entry->cmp_proc) || AddedTells(entry->hash_proc) ||
         (entry->eq_opr >= FirstNormalObjectId && FunctionTells(get_opcode(entry->eq_opr)));
}

}  // namespace

bool ChecksTell(Oid domain) {
  if (!DomainHasConstraints(domain)) return false;
  // The memory context lets go of it when it is reset, so it must live there.
  auto* reference = static_cast<DomainConstraintRef*>(palloc(sizeof(DomainConstraintRef)));
  InitDomainConstraintRef(domain, reference, CurrentMemoryContext, false);
  ListCell* cell;
  foreach (cell, reference->constraints) {
    auto* constraint = static_cast<DomainConstraintState*>(lfirst(cell));
    if (ExpressionTells(reinterpret_cast<Node*>(constraint->check_expr))) return true;
  }
  return false;
}

// Whatever holds a type that is not the server's own is none itself.
bool MakingTells(Oid type) { return type >= FirstNormalObjectId && SearchType(type, TellsMade); }

bool JsonTells(Oid type) { return type >= FirstNormalObjectId && SearchType(type, TellsAsJson); }

bool ComparingTells(Oid type) { return SearchType(type, TellsCompared); }

}  // namespace privacy_score
