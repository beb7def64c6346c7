/*
 * maintenance_reads.cpp - see maintenance_reads.hpp.
 *
 * What a statement says is looked at before the server has understood it: any function or operator of that name, and
 * whatever is written like a field. REFRESH counts by its query.
 */
#include "backend/watch/maintenance_reads.hpp"

#include "backend/catalog/catalog_lineage.hpp"
#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/others_code.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/query/abstracting.hpp"
#include "backend/server/compat.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/row_code.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_type.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

namespace {

bool AnyFunctionIsOthers(List* name, const RelationEntry* entry) {
  for (FuncCandidateList one = FuncnameGetCandidates(name, -1, NIL, false, false, false, true); one != nullptr;
       one = one->next)
    if (IsOthersFunction(one->oid, entry)) return true;
  return false;
}

bool AnyOperatorIsOthers(List* name, const RelationEntry* entry) {
  for (FuncCandidateList one = OpernameGetCandidates(name, '\0', true); one != nullptr; one = one->next)
    if (IsOthersFunction(get_opcode(one->oid), entry)) return true;
  return false;
}

// Whether a part of a statement names code of others. A field may be a function that is called with the row.
bool FindNamed(Node* node, void* context) {
  if (node == nullptr) return false;
  check_stack_depth();
  const auto* entry = static_cast<const RelationEntry*>(context);
  const auto field = [entry](Node* name) { return IsA(name, String) && AnyFunctionIsOthers(list_make1(name), entry); };
  ListCell* cell;
  switch (nodeTag(node)) {
    case T_FuncCall:
      if (AnyFunctionIsOthers(reinterpret_cast<FuncCall*>(node)->funcname, entry)) return true;
      break;
    case T_A_Expr:
      if (AnyOperatorIsOthers(reinterpret_cast<A_Expr*>(node)->name, entry)) return true;
      break;
    case T_TypeCast: {
      const Oid type = LookupTypeNameOid(nullptr, reinterpret_cast<TypeCast*>(node)->typeName, true);
      if (type >= FirstNormalObjectId && IsOthersType(type, entry)) return true;
      break;
    }
    case T_ColumnRef:
      return list_length(reinterpret_cast<ColumnRef*>(node)->fields) > 1 &&
             field(static_cast<Node*>(llast(reinterpret_cast<ColumnRef*>(node)->fields)));
    case T_A_Indirection:
      foreach (cell, reinterpret_cast<A_Indirection*>(node)->indirection)
        if (field(static_cast<Node*>(lfirst(cell)))) return true;
      break;
    default:
      break;
  }
  return WalkRaw(node, FindNamed, context);
}

bool NamesOthers(Node* node, const RelationEntry* entry) { return FindNamed(node, const_cast<RelationEntry*>(entry)); }

// Of a constraint, or of the constraints of a column.
bool ConstraintNamesOthers(const Constraint* constraint, const RelationEntry* entry) {
  if (NamesOthers(constraint->raw_expr, entry) || NamesOthers(constraint->where_clause, entry)) return true;
  ListCell* cell;
  foreach (cell, constraint->exclusions) {
    auto* element = static_cast<Node*>(linitial(lfirst_node(List, cell)));
    if (NamesOthers(element, entry) || AnyOperatorIsOthers(static_cast<List*>(lsecond(lfirst_node(List, cell))), entry))
      return true;
  }
  return false;
}

bool CommandNamesOthers(const AlterTableCmd* command, const RelationEntry* entry) {
  if (command->def == nullptr) return false;
  if (SetsExpression(command)) return NamesOthers(command->def, entry);
  if (IsA(command->def, Constraint)) return ConstraintNamesOthers(castNode(Constraint, command->def), entry);
  if (!IsA(command->def, ColumnDef)) return false;
  const auto* column = castNode(ColumnDef, command->def);
  if (command->subtype == AT_AlterColumnType && NamesOthers(column->raw_default, entry)) return true;
  ListCell* cell;
  foreach (cell, column->constraints)
    if (lfirst_node(Constraint, cell)->contype != CONSTR_DEFAULT &&
        ConstraintNamesOthers(lfirst_node(Constraint, cell), entry))
      return true;
  return false;
}

// A relation whose rows a statement handles, if that is anything that concerns us.
const RelationEntry* Handled(const RangeVar* name) {
  if (name == nullptr) return nullptr;
  Oid relid = RangeVarGetRelid(name, NoLock, true);
  if (OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_INDEX) relid = IndexGetRelation(relid, true);
  if (relid < FirstNormalObjectId) return nullptr;
  const RelationEntry* entry = FindRelation(relid);
  return ProtectedEntry(entry) && (CopiesProtected(entry) || !OwnsRelation(relid, GetUserId())) ? entry : nullptr;
}

// What a statement is about to hand on, as OIDs.
struct Handing {
  List* relations;
};

void AddRelationInHand(Handing* handing, const RelationEntry* entry, bool hands) {
  if (entry != nullptr && hands)
    handing->relations = list_append_unique_oid(handing->relations, ResolveRelation(entry->relid).root->relid);
}

void AddAltered(Handing* handing, const AlterTableStmt* alter) {
  const RelationEntry* entry = Handled(alter->relation);
  ListCell* cell;
  foreach (cell, alter->cmds) {
    const auto* command = lfirst_node(AlterTableCmd, cell);
    if (entry != nullptr)
      AddRelationInHand(handing, entry, CommandNamesOthers(command, entry) || RowCodeIsOthers(entry->relid, entry));
    if (command->subtype != AT_AttachPartition) continue;
    // The rows of what is attached are tried by the key of what it is attached to.
    const RelationEntry* part = Handled(castNode(PartitionCmd, command->def)->name);
    const Oid root = RangeVarGetRelid(alter->relation, NoLock, true);
    if (part != nullptr && OidIsValid(root)) AddRelationInHand(handing, part, RowCodeIsOthers(root, part));
  }
}

void AddIndexed(Handing* handing, const IndexStmt* index) {
  const RelationEntry* entry = Handled(index->relation);
  if (entry == nullptr) return;
  bool names = NamesOthers(index->whereClause, entry);
  ListCell* cell;
  foreach (cell, index->indexParams) names = names || NamesOthers(lfirst_node(IndexElem, cell)->expr, entry);
  AddRelationInHand(handing, entry, names);
}

// Statistics are made by ANALYZE, for whoever runs it: they count when they are defined.
void AddStatistics(Handing* handing, const CreateStatsStmt* statistics) {
  ListCell* cell;
  foreach (cell, statistics->relations) {
    auto* from = static_cast<Node*>(lfirst(cell));
    const RelationEntry* entry = IsA(from, RangeVar) ? Handled(castNode(RangeVar, from)) : nullptr;
    ListCell* element;
    foreach (element, entry != nullptr ? statistics->exprs : NIL)
      AddRelationInHand(handing, entry, NamesOthers(lfirst_node(StatsElem, element)->expr, entry));
  }
}

void AddMaintained(Handing* handing, const RangeVar* name) {
  const RelationEntry* entry = Handled(name);
  if (entry != nullptr) AddRelationInHand(handing, entry, RowCodeIsOthers(entry->relid, entry));
}

void AddMaintenance(Handing* handing, const Node* statement) {
  ListCell* cell;
  switch (nodeTag(statement)) {
    case T_AlterTableStmt:
      AddAltered(handing, reinterpret_cast<const AlterTableStmt*>(statement));
      break;
    case T_IndexStmt:
      AddIndexed(handing, reinterpret_cast<const IndexStmt*>(statement));
      break;
    case T_CreateStatsStmt:
      AddStatistics(handing, reinterpret_cast<const CreateStatsStmt*>(statement));
      break;
    case T_ReindexStmt:
      AddMaintained(handing, reinterpret_cast<const ReindexStmt*>(statement)->relation);
      break;
    case T_ClusterStmt:
      AddMaintained(handing, reinterpret_cast<const ClusterStmt*>(statement)->relation);
      break;
    default:
      foreach (cell, reinterpret_cast<const VacuumStmt*>(statement)->rels)
        AddMaintained(handing, lfirst_node(VacuumRelation, cell)->relation);
      break;
  }
}

}  // namespace

bool IsMaintenance(const Node* statement) {
  switch (nodeTag(statement)) {
    case T_AlterTableStmt:
    case T_IndexStmt:
    case T_CreateStatsStmt:
    case T_ReindexStmt:
    case T_ClusterStmt:
    case T_VacuumStmt:
      return true;
    default:
      return false;
  }
}

void RecordMaintenanceReads(const Node* statement, RoleClass role, bool judged, bool counts) {
  if (!judged && !counts) return;
  ForgetStaleRelations();
  Handing handing = {NIL};
  AddMaintenance(&handing, statement);
  if (handing.relations == NIL) return;
  if (judged) RecordProtectedRead(role);
  ListCell* cell;
  foreach (cell, counts ? handing.relations : NIL) RecordEvent(AbstractRows(lfirst_oid(cell), CMD_SELECT));
}

}  // namespace privacy_score
