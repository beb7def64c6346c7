/*
 * code_search.cpp - see code_search.hpp.
 */
#include "backend/catalog/code_search.hpp"

#include <initializer_list>

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_range.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/catalog/code_comparing.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/relation_owner.hpp"
#include "backend/state/installed_extension.hpp"

namespace privacy_score {

namespace {

// Whether an object is met for the first time. Types may hold one another twice at each of many levels.
bool IsNew(CodeSearch* search, Oid catalog, Oid object, bool converts = false) {
  struct Key {
    Oid catalog, object, converts;
  };
  CHECK_FOR_INTERRUPTS();
  if (search->seen == nullptr) {
    HASHCTL control = {};
    control.keysize = control.entrysize = sizeof(Key);
    control.hcxt = CurrentMemoryContext;
    search->seen = hash_create("code that was looked at", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  const Key key = {catalog, object, static_cast<Oid>(converts)};
  bool seen = false;
  (void)hash_search(search->seen, &key, HASH_ENTER, &seen);
  return !seen;
}

bool Found(CodeSearch* search, const char* kind, const char* name, Oid theirs) {
  search->kind = kind;
  search->name = name;
  search->theirs = theirs;
  return true;
}

// The owner of the extension may do all that the extension does.
bool IsStrange(const CodeSearch* search, Oid theirs) {
  return !has_privs_of_role(theirs, search->owner) && theirs != ExtensionOwner();
}

constexpr const char* kInterpreter = "text-running function";
constexpr const char* kRefusal = "%s %s, which belongs to role \"%s\", cannot run here";

bool FindInType(Oid type, bool converts, CodeSearch* search);

// Of an aggregate, which anybody may put together, the parts are called.
bool FindInAggregate(Oid aggregate, CodeSearch* search) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for aggregate %u", aggregate);
  const FormData_pg_aggregate form = *reinterpret_cast<Form_pg_aggregate>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  for (const Oid part : {form.aggtransfn, form.aggfinalfn, form.aggcombinefn, form.aggserialfn, form.aggdeserialfn,
                         form.aggmtransfn, form.aggminvtransfn, form.aggmfinalfn})
    if (OidIsValid(part) && FindInFunction(part, search)) return true;
  return FindInType(form.aggtranstype, true, search) || FindInType(form.aggmtranstype, true, search);
}

// In expressions that a field of a catalog's row holds.
bool FindInField(int cache, HeapTuple tuple, AttrNumber field, CodeSearch* search) {
  bool null;
  const Datum value = SysCacheGetAttr(cache, tuple, field, &null);
  return !null && FindInNode(static_cast<Node*>(stringToNode(TextDatumGetCString(value))), search);
}

// In the body of a function in SQL. As a text it would be read anew, whatever its names mean then.
bool FindInBody(HeapTuple function, CodeSearch* search) {
  if (heap_attisnull(function, Anum_pg_proc_prosqlbody, nullptr)) return true;
  CodeSearch within = *search;
  within.within_relation = false;
  within.within_function = true;
  const bool found = FindInField(PROCOID, function, Anum_pg_proc_prosqlbody, &within);
  search->finds_later = within.finds_later;
  search->fills_records = within.fills_records;
  return found;
}

// In what a call brings with it: defaults of arguments, and the types that values become.
bool FindInSignature(HeapTuple function, CodeSearch* search) {
  const auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(function));
  if (FindInType(form->prorettype, true, search) || FindInField(PROCOID, function, Anum_pg_proc_proargdefaults, search))
    return true;
  Oid* types;
  char** names;
  char* modes;
  const int count = get_func_arg_info(function, &types, &names, &modes);
  for (int i = 0; i < count; ++i)
    if (FindInType(types[i], true, search)) return true;
  return false;
}

// Whether the code of a function that is not the server's is not trusted.
bool FindInCode(Oid function, HeapTuple tuple, CodeSearch* search) {
  const auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  if (form->prokind == PROKIND_AGGREGATE) return IsStrange(search, form->proowner) || FindInAggregate(function, search);
  if (form->prolang == SQLlanguageId) return IsStrange(search, form->proowner) || FindInBody(tuple, search);
  return form->prolang != INTERNALlanguageId && form->prolang != ClanguageId;
}

// Of the server's own functions those that take a text, or a cursor, and run what it says.
bool RunsText(Oid function) {
  switch (function) {
    case F_QUERY_TO_XML:
    case F_QUERY_TO_XMLSCHEMA:
    case F_QUERY_TO_XML_AND_XMLSCHEMA:
    case F_CURSOR_TO_XML:
    case F_CURSOR_TO_XMLSCHEMA:
    case F_TS_STAT_TEXT:
    case F_TS_STAT_TEXT_TEXT:
    case F_TS_REWRITE_TSQUERY_TEXT:
      return true;
    default:
      return ReadsAsNamedType(function);
  }
}

// In some fields of the row with that key.
bool FindInRow(int cache, Oid key, std::initializer_list<AttrNumber> fields, CodeSearch* search) {
  HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(key));
  if (!HeapTupleIsValid(tuple)) return false;
  bool found = false;
  for (const AttrNumber field : fields) found = found || FindInField(cache, tuple, field, search);
  ReleaseSysCache(tuple);
  return found;
}

bool FindInChecks(Oid domain, CodeSearch* search) {
  ::Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_contypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(domain));
  SysScanDesc scan = systable_beginscan(catalog, ConstraintTypidIndexId, true, nullptr, 1, &key);
  bool found = false;
  for (HeapTuple tuple; !found && HeapTupleIsValid(tuple = systable_getnext(scan));)
    found = FindInField(CONSTROID, tuple, Anum_pg_constraint_conbin, search);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

// The planner's estimates call what a range type measures its values with, and keep it ready beside the hooks.
bool FindInRange(Oid type, CodeSearch* search) {
  HeapTuple tuple = SearchSysCache1(RANGETYPE, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for range type %u", type);
  const FormData_pg_range form = *reinterpret_cast<Form_pg_range>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  for (const Oid function : {static_cast<Oid>(form.rngcanonical), static_cast<Oid>(form.rngsubdiff)})
    if (OidIsValid(function) && FindInFunction(function, search)) return true;
  return false;
}

// In a type, and in those that it is made of: in its checks too where values become such.
bool FindInType(Oid type, bool converts, CodeSearch* search) {
  if (type < FirstNormalObjectId || !IsNew(search, TypeRelationId, type, converts)) return false;
  check_stack_depth();
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", type);
  const FormData_pg_type form = *reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  ReleaseSysCache(tuple);
  // Only superusers make others.
  search->finds_later = search->finds_later || form.typtype != TYPTYPE_BASE;
  switch (form.typtype) {
    case TYPTYPE_DOMAIN:
      if (converts && IsStrange(search, form.typowner))
        return Found(search, "domain", format_type_be(type), form.typowner);
      return FindInType(form.typbasetype, converts, search) || (converts && FindInChecks(type, search));
    case TYPTYPE_COMPOSITE:
      return FindInColumns(form.typrelid, converts, search);
    case TYPTYPE_RANGE:
      return FindInRange(type, search) || FindInType(get_range_subtype(type), converts, search);
    case TYPTYPE_MULTIRANGE:
      return FindInType(get_multirange_range(type), converts, search);
    default:
      return OidIsValid(form.typelem) && FindInType(form.typelem, converts, search);
  }
}

bool FindInTypes(const List* types, CodeSearch* search) {
  const ListCell* cell;
  foreach (cell, types)
    if (FindInType(lfirst_oid(cell), true, search)) return true;
  return false;
}

// Whether a call makes a record out of one that is given, as json_populate_record() does. Of which types its columns
// are is known when it runs.
bool FillsRecord(const Node* node) {
  Oid function = InvalidOid;
  if (IsA(node, FuncExpr)) function = reinterpret_cast<const FuncExpr*>(node)->funcid;
  if (IsA(node, OpExpr)) function = get_opcode(reinterpret_cast<const OpExpr*>(node)->opno);
  return OidIsValid(function) && exprType(node) == RECORDOID && IsPolymorphicType(get_func_rettype(function));
}

// In the types that a node brings in, of which values are made where it runs.
bool FindInTypesOf(const Node* node, bool runs, CodeSearch* search) {
  search->fills_records = search->fills_records || FillsRecord(node);
  switch (nodeTag(node)) {
    case T_Var:
    case T_FieldSelect:
    case T_SubscriptingRef:
      return FindInType(exprType(node), search->all_convert, search);
    case T_Const:
    case T_Param:
    case T_FuncExpr:
    case T_OpExpr:
    case T_Aggref:
    case T_WindowFunc:
    case T_FieldStore:
    case T_CoerceToDomain:
    case T_CoerceViaIO:
    case T_ArrayCoerceExpr:
    case T_ConvertRowtypeExpr:
    case T_RelabelType:
    case T_RowExpr:
      return FindInType(exprType(node), runs, search);
    case T_RangeTblFunction:
      return FindInTypes(castNode(RangeTblFunction, node)->funccoltypes, search);
    case T_TableFunc:
      return FindInTypes(castNode(TableFunc, node)->coltypes, search);
    default:
      return IsJsonConversion(node) && FindInType(exprType(node), runs, search);
  }
}

// In what the planner evaluates of one relation. The relation cache has these expressions too, but evaluated.
bool FindInMember(::Relation relation, CodeSearch* search) {
  const ListCell* cell;
  foreach (cell, RelationGetIndexList(relation))
    if (FindInRow(INDEXRELID, lfirst_oid(cell), {Anum_pg_index_indexprs, Anum_pg_index_indpred}, search) ||
        FindInIndexClasses(lfirst_oid(cell), search))
      return true;
  foreach (cell, RelationGetStatExtList(relation))
    if (FindInRow(STATEXTOID, lfirst_oid(cell), {Anum_pg_statistic_ext_stxexprs}, search)) return true;
  if (FindInRow(PARTRELID, RelationGetRelid(relation), {Anum_pg_partitioned_table_partexprs}, search)) return true;
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_check; ++i)
    if (FindInNode(static_cast<Node*>(stringToNode(constraints->check[i].ccbin)), search)) return true;
  return false;
}

}  // namespace

[[noreturn]] void RaiseFound(const CodeSearch* search) {
  const bool is_function = strcmp(search->kind, "function") == 0;
  const bool is_interpreter = strcmp(search->kind, kInterpreter) == 0;
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg(kRefusal, search->kind, search->name, GetUserNameFromId(search->theirs, false)),
           errdetail("Rows are read with the rights of role \"%s\".", GetUserNameFromId(search->owner, false)),
           is_function ? errhint("Write out in the view or expression what the function does, or write it with RETURN "
                                 "in place of a text, as an expression that reads no table.")
           : is_interpreter ? errhint("Names in the text may mean anything that who asks has made.")
                            : errhint("It must belong to that role or to a superuser.")));
  pg_unreachable();
}

bool FindInFunction(Oid function, void* context) {
  auto* search = static_cast<CodeSearch*>(context);
  if (function < FirstNormalObjectId)
    return RunsText(function) && Found(search, kInterpreter, format_procedure(function), BOOTSTRAP_SUPERUSERID);
  if (!IsNew(search, ProcedureRelationId, function)) return false;
  check_stack_depth();
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for function %u", function);
  const auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  bool found = form->pronamespace != get_namespace_oid("privacy_score", true);
  if (found && FindInCode(function, tuple, search))
    Found(search, "function", format_procedure(function), form->proowner);
  else
    found = found && FindInSignature(tuple, search);
  ReleaseSysCache(tuple);
  return found;
}

// Columns of a relation, or of a composite type, which does not change from here to the end of the transaction.
bool FindInColumns(Oid relation, bool converts, CodeSearch* search) {
  bool found = false;
  ::Relation opened = relation_open(relation, AccessShareLock);
  const TupleDesc columns = RelationGetDescr(opened);
  for (int i = 0; !found && i < columns->natts; ++i)
    found =
        !TupleDescAttr(columns, i)->attisdropped && FindInType(TupleDescAttr(columns, i)->atttypid, converts, search);
  relation_close(opened, NoLock);
  return found;
}

// A tree walker: true ends the walk.
bool FindInNode(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* search = static_cast<CodeSearch*>(context);
  if (IsA(node, Query)) return FindInClauses(AsQuery(node), search) || WalkQuery(AsQuery(node), FindInNode, context);
  if (IsA(node, RangeTblEntry)) {
    const auto* rte = castNode(RangeTblEntry, node);
    return OidIsValid(rte->relid) && (search->within_function || FindInRelation(rte->relid, rte->inh, search));
  }
  const bool runs = !search->within_relation || !contain_var_clause(node);
  // The planner estimates the rest, too, with what the types of values bring.
  if (FindInTypesOf(node, runs, search)) return true;
  if (runs && (check_functions_in_node(node, FindInFunction, context) || FindInComparison(node, search))) return true;
  return WalkChildren(node, FindInNode, context);
}

// A view, or a foreign table, which runs code elsewhere and makes values of what comes from there.
bool FindInKind(Oid relation, char kind, CodeSearch* search) {
  if (kind != RELKIND_VIEW && kind != RELKIND_FOREIGN_TABLE) return false;
  const Oid theirs = OwnerOfRelation(relation);
  if (IsStrange(search, theirs))
    return Found(search, kind == RELKIND_VIEW ? "view" : "foreign table", get_rel_name(relation), theirs);
  if (kind == RELKIND_VIEW) return false;
  const ForeignServer* server = GetForeignServer(GetForeignServerIdByRelId(relation));
  if (IsStrange(search, server->owner)) return Found(search, "foreign server", server->servername, server->owner);
  return FindInColumns(relation, true, search);
}

bool FindInRelation(Oid relation, bool inherits, CodeSearch* search) {
  bool found = false;
  const bool before = search->within_relation;
  search->within_relation = true;
  const ListCell* cell;
  foreach (cell, inherits ? find_all_inheritors(relation, AccessShareLock, nullptr) : list_make1_oid(relation)) {
    const Oid oid = lfirst_oid(cell);
    ::Relation member = IsNew(search, RelationRelationId, oid) ? try_relation_open(oid, AccessShareLock) : nullptr;
    if (member == nullptr) continue;
    found = FindInKind(oid, member->rd_rel->relkind, search) || FindInMember(member, search);
    relation_close(member, NoLock);
    if (found) break;
  }
  search->within_relation = before;
  return found;
}

bool FindInQuery(Node* query, CodeSearch* search) {
  if (FindInNode(query, search)) return true;
  if (!search->fills_records) return false;
  CodeSearch again = SearchFor(search->owner);
  again.all_convert = true;
  const bool found = FindInNode(query, &again);
  *search = again;
  return found;
}

CodeSearch SearchFor(Oid owner) {
  return {owner, false, false, false, false, false, nullptr, nullptr, nullptr, InvalidOid};
}

bool IsRefusal(const ErrorData* error) {
  return error->message_id != nullptr && strcmp(error->message_id, kRefusal) == 0;
}

}  // namespace privacy_score
