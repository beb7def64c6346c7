/*
 * write_oracles.cpp - see write_oracles.hpp.
 *
 * Reads the relation cache of the server anew each time: only `dp only` roles that write are asked about. What it has
 * is copied before anything else is looked up, which may throw it away.
 */
#include "backend/watch/write_oracles.hpp"

#include "backend/query/protected_reads.hpp"
#include "backend/server/compat.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"
}

namespace privacy_score {

namespace {

// What is done to a relation.
struct Writing {
  CmdType operation;
  OnConflictAction conflict;
  bool any_column;           // an UPDATE may change every column
  const Bitmapset* updated;  // else these, offset by FirstLowInvalidHeapAttributeNumber
};

bool IsTable(char kind) {
  return kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_FOREIGN_TABLE;
}

bool KeepsValuesApart(::Relation relation) {
  bool keeps = false;
  ListCell* cell;
  foreach (cell, RelationGetIndexList(relation)) {
    HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
    if (!HeapTupleIsValid(tuple)) continue;
    const auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
    keeps = keeps || index->indisunique || index->indisexclusion;
    ReleaseSysCache(tuple);
  }
  return keeps;
}

// Whether a foreign key of the relation refers to a protected one and has one of the columns that are written.
bool RefersToProtected(::Relation relation, bool any_column, const Bitmapset* updated) {
  ListCell* cell;
  foreach (cell, static_cast<List*>(copyObjectImpl(RelationGetFKeyList(relation)))) {
    const auto* key = static_cast<ForeignKeyCacheInfo*>(lfirst(cell));
    bool written = any_column;
    for (int i = 0; i < key->nkeys && !written; ++i)
      written = bms_is_member(key->conkey[i] - FirstLowInvalidHeapAttributeNumber, updated);
    if (written && RelationIsProtected(key->confrelid)) return true;
  }
  return false;
}

// Whether a protected relation refers to this one.
bool IsReferredToByProtected(::Relation relation) {
  List* referring = NIL;
  const TriggerDesc* triggers = relation->trigdesc;
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; ++i) {
    const Trigger& trigger = triggers->triggers[i];
    if (RI_FKey_trigger_type(trigger.tgfoid) == RI_TRIGGER_PK)
      referring = list_append_unique_oid(referring, trigger.tgconstrrelid);
  }
  ListCell* cell;
  foreach (cell, referring)
    if (OidIsValid(lfirst_oid(cell)) && RelationIsProtected(lfirst_oid(cell))) return true;
  return false;
}

// Whether an UPDATE may change columns that it does not name: triggers do, and generated columns follow others. A row
// that moves to another partition is inserted there.
bool ChangesMore(::Relation relation) {
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  return relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || relation->rd_rel->relispartition ||
         (relation->trigdesc != nullptr && relation->trigdesc->trig_update_before_row) ||
         (constraints != nullptr && constraints->has_generated_stored);
}

bool UpdateTellsOfKeys(::Relation relation, const Writing& writing) {
  const bool any = writing.any_column || ChangesMore(relation);
  if (RefersToProtected(relation, any, writing.updated)) return true;
  return (any || bms_overlap(writing.updated, RelationGetIndexAttrBitmap(relation, INDEX_ATTR_BITMAP_KEY))) &&
         IsReferredToByProtected(relation);
}

bool OpenTells(::Relation relation, const Writing& writing) {
  const bool is_protected = RelationIsProtected(RelationGetRelid(relation));
  switch (writing.operation) {
    case CMD_INSERT:
      if (is_protected && (relation->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
                           writing.conflict != ONCONFLICT_NONE || KeepsValuesApart(relation)))
        return true;
      return RefersToProtected(relation, true, nullptr) ||
             (writing.conflict == ONCONFLICT_UPDATE && UpdateTellsOfKeys(relation, writing));
    case CMD_UPDATE:
      return is_protected || UpdateTellsOfKeys(relation, writing);
    case CMD_DELETE:
      return is_protected || IsReferredToByProtected(relation);
    default:
      return is_protected || RefersToProtected(relation, true, nullptr) || IsReferredToByProtected(relation);
  }
}

// Whether writing to a relation, or to one below it, tells.
bool WritingTells(Oid relid, bool tree, Writing writing) {
  if (relid < FirstNormalObjectId) return false;
  const bool whole = tree || get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
  ListCell* cell;
  foreach (cell, whole ? find_all_inheritors(relid, AccessShareLock, nullptr) : list_make1_oid(relid)) {
    const Oid written = lfirst_oid(cell);
    // Columns are numbered as in the relation that the statement names.
    writing.any_column = writing.any_column || written != relid;
    ::Relation relation = relation_open(written, AccessShareLock);
    const bool tells = IsTable(relation->rd_rel->relkind) && OpenTells(relation, writing);
    relation_close(relation, NoLock);
    if (tells) return true;
  }
  return false;
}

bool TargetTells(const PlannedStmt* plan, int index, bool tree, const ModifyTable* modify) {
  const RangeTblEntry* rte = rt_fetch(index, plan->rtable);
  Bitmapset* read;
  Bitmapset* inserted;
  Bitmapset* updated = nullptr;
  const bool named = PlannedColumns(plan, rte, &read, &inserted, &updated);
  return WritingTells(rte->relid, tree, {modify->operation, modify->onConflictAction, !named, updated});
}

bool NodeTellsByWriting(const PlannedStmt* plan, const Plan* node) {
  if (node == nullptr || !IsA(node, ModifyTable)) return false;
  const auto* modify = reinterpret_cast<const ModifyTable*>(node);
  if (modify->rootRelation != 0) return TargetTells(plan, static_cast<int>(modify->rootRelation), true, modify);
  ListCell* cell;
  foreach (cell, modify->resultRelations)
    if (TargetTells(plan, lfirst_int(cell), false, modify)) return true;
  return false;
}

// Whether a constraint is a foreign key on a protected relation that is about to be checked. A table that was just
// created is empty: its keys are valid without.
bool ChecksProtected(const Constraint* constraint) {
  if (constraint->contype != CONSTR_FOREIGN || (constraint->skip_validation && constraint->initially_valid))
    return false;
  const Oid referred = RangeVarGetRelid(constraint->pktable, AccessShareLock, true);
  return OidIsValid(referred) && KeysAreProtected(referred);
}

// What one command of ALTER TABLE checks.
enum class Checks { kNothing, kProtected, kKeysThere };

Checks ChecksOf(const AlterTableCmd* command) {
  ListCell* cell;
  switch (command->subtype) {
    case AT_DropConstraint:
    case AT_DropColumn:
    case AT_ChangeOwner:
    case AT_ColumnDefault:
      return Checks::kNothing;
    case AT_AddConstraint:
      if (castNode(Constraint, command->def)->contype != CONSTR_FOREIGN) return Checks::kKeysThere;
      return ChecksProtected(castNode(Constraint, command->def)) ? Checks::kProtected : Checks::kNothing;
    case AT_AddColumn:
      foreach (cell, castNode(ColumnDef, command->def)->constraints)
        if (ChecksProtected(lfirst_node(Constraint, cell))) return Checks::kProtected;
      return Checks::kNothing;
    default:
      return Checks::kKeysThere;
  }
}

// Whether a key of the relation, or of one below it, has to do with a protected one.
bool HasKeyOfProtected(Oid relid) {
  ListCell* cell;
  foreach (cell, find_all_inheritors(relid, AccessShareLock, nullptr)) {
    ::Relation relation = relation_open(lfirst_oid(cell), AccessShareLock);
    const bool has = IsTable(relation->rd_rel->relkind) &&
                     (RefersToProtected(relation, true, nullptr) || IsReferredToByProtected(relation));
    relation_close(relation, NoLock);
    if (has) return true;
  }
  return false;
}

bool AlterTells(const AlterTableStmt* alter) {
  // Who does not own it is refused by the server. What is judged must be what is altered.
  Oid relid = RangeVarGetRelid(alter->relation, NoLock, true);
  if (!OidIsValid(relid) || !OwnsRelation(relid, GetUserId())) return false;
  relid = RangeVarGetRelid(alter->relation, ShareUpdateExclusiveLock, true);
  if (!OidIsValid(relid)) return false;
  bool keys = false;
  ListCell* cell;
  foreach (cell, alter->cmds) {
    const Checks checks = ChecksOf(lfirst_node(AlterTableCmd, cell));
    if (checks == Checks::kProtected) return true;
    keys = keys || checks == Checks::kKeysThere;
  }
  return keys && HasKeyOfProtected(relid);
}

}  // namespace

bool PlanTellsByWriting(const PlannedStmt* plan) {
  if (NodeTellsByWriting(plan, plan->planTree)) return true;
  ListCell* cell;
  foreach (cell, plan->subplans)
    if (NodeTellsByWriting(plan, static_cast<Plan*>(lfirst(cell)))) return true;
  return false;
}

bool UtilityTellsByWriting(const Node* statement) {
  if (IsA(statement, AlterTableStmt)) return AlterTells(reinterpret_cast<const AlterTableStmt*>(statement));
  if (!IsA(statement, CopyStmt)) return false;
  const auto* copy = reinterpret_cast<const CopyStmt*>(statement);
  if (!copy->is_from) return false;
  const Oid relid = RangeVarGetRelid(copy->relation, AccessShareLock, true);
  return OidIsValid(relid) && WritingTells(relid, false, {CMD_INSERT, ONCONFLICT_NONE, true, nullptr});
}

}  // namespace privacy_score
