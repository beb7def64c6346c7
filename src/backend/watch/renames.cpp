/*
 * renames.cpp - see renames.hpp.
 */
#include "backend/watch/renames.hpp"
#include "backend/catalog/relation_concerns.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/extension.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

namespace {

bool IsRelationKind(ObjectType type) {
  return type == OBJECT_TABLE || type == OBJECT_MATVIEW || type == OBJECT_FOREIGN_TABLE;
}

void RenameColumn(const char* relation, const char* name, const Renaming& renaming) {
  const char* args[] = {relation, name, renaming.old_name, renaming.new_name};
  RunInternal(
      "UPDATE privacy_score.protected_relation SET subject = pg_catalog.array_replace(subject, $3::pg_catalog.name, "
      "$4::pg_catalog.name) WHERE relation = $1::pg_catalog.oid AND $3::pg_catalog.name = ANY (subject)",
      4, args);
  RunInternal(
      "UPDATE privacy_score.dependency SET "
      "determinant = CASE WHEN determinant = $3::pg_catalog.name THEN $4::pg_catalog.name ELSE determinant END, "
      "dependent = CASE WHEN dependent = $3::pg_catalog.name THEN $4::pg_catalog.name ELSE dependent END "
      "WHERE relation_name = $2 AND $3::pg_catalog.name IN (determinant, dependent)",
      4, args);
  RunInternal(
      "UPDATE privacy_score.column_domain SET attribute = $4::pg_catalog.name "
      "WHERE relation = $1::pg_catalog.oid AND attribute = $3::pg_catalog.name",
      4, args);
  // Another column may bear the name next; computing them again is safe.
  const char* names[] = {name};
  RunInternal("DELETE FROM privacy_score.rate WHERE $1 = ANY (sources)", 1, names);
}

// A column's new name holds for the tables that inherit it too.
void FollowColumn(const Renaming& renaming) {
  ListCell* cell;
  foreach (cell, find_all_inheritors(renaming.relation, AccessShareLock, nullptr))
    RenameColumn(TextOfOid(lfirst_oid(cell)), CanonicalRelationName(lfirst_oid(cell)), renaming);
}

// Dependencies go with their relation; rates are computed anew. Declarations keep the name that was declared: a table
// that is made under it when the renamed one is dropped is protected by it.
void FollowRelation(const char* old_name, const char* new_name) {
  const char* args[] = {old_name, new_name};
  RunInternal("DELETE FROM privacy_score.rate WHERE sources && ARRAY[$1, $2]", 2, args);
  // What a dropped relation of the new name has left behind does not hold for the renamed one.
  const char* name[] = {new_name};
  RunInternal("DELETE FROM privacy_score.dependency WHERE relation_name = $1", 1, name);
  RunInternal("UPDATE privacy_score.dependency SET relation_name = $2 WHERE relation_name = $1", 2, args);
}

// The same for all relations of a schema.
void FollowSchema(const Renaming& renaming) {
  const char* args[] = {psprintf("%s.", QuoteName(renaming.old_name)), psprintf("%s.", QuoteName(renaming.new_name))};
  RunInternal(
      "DELETE FROM privacy_score.rate WHERE EXISTS (SELECT FROM pg_catalog.unnest(sources) s "
      "WHERE pg_catalog.starts_with(s, $1) OR pg_catalog.starts_with(s, $2))",
      2, args);
  const char* name[] = {args[1]};
  RunInternal("DELETE FROM privacy_score.dependency WHERE pg_catalog.starts_with(relation_name, $1)", 1, name);
  RunInternal(
      "UPDATE privacy_score.dependency SET relation_name = $2 || pg_catalog.substr(relation_name, "
      "pg_catalog.length($1) + 1) WHERE pg_catalog.starts_with(relation_name, $1)",
      2, args);
}

}  // namespace

Renaming RenamingOf(const Node* statement) {
  Renaming renaming = {};
  const RangeVar* relation = nullptr;
  if (IsA(statement, RenameStmt)) {
    const auto* rename = reinterpret_cast<const RenameStmt*>(statement);
    const bool column = rename->renameType == OBJECT_COLUMN && IsRelationKind(rename->relationType);
    if (column || rename->renameType == OBJECT_SCHEMA) {
      renaming.old_name = rename->subname;
      renaming.new_name = rename->newname;
    }
    renaming.schema = rename->renameType == OBJECT_SCHEMA;
    if (column || IsRelationKind(rename->renameType)) relation = rename->relation;
  } else if (IsA(statement, AlterObjectSchemaStmt)) {
    const auto* move = reinterpret_cast<const AlterObjectSchemaStmt*>(statement);
    if (IsRelationKind(move->objectType)) relation = move->relation;
  }
  if (relation == nullptr) return renaming;
  renaming.relation = RangeVarGetRelid(relation, NoLock, true);
  if (OidIsValid(renaming.relation)) renaming.relation_name = CanonicalRelationName(renaming.relation);
  return renaming;
}

void FollowRenaming(const Renaming& renaming) {
  if ((!renaming.schema && !OidIsValid(renaming.relation)) || !OidIsValid(get_extension_oid("privacy_score", true)))
    return;
  if (!ExtensionIsCurrent()) {
    ereport(WARNING, (errmsg("declarations of privacy_score do not follow the new name"),
                      errdetail("The extension in this database is not of version %s.", PS_EXTENSION_VERSION),
                      errhint("Run ALTER EXTENSION privacy_score UPDATE, and declare again what had the old name.")));
    return;
  }
  CommandCounterIncrement();
  InternalScope scope;
  EnterInternal(&scope);
  if (renaming.schema)
    FollowSchema(renaming);
  else if (renaming.old_name != nullptr)
    FollowColumn(renaming);
  else
    FollowRelation(renaming.relation_name, CanonicalRelationName(renaming.relation));
  LeaveInternal(&scope);
  if (renaming.schema) {
    for (const char* name : {renaming.old_name, renaming.new_name}) ConcernName(Concern::kSchema, QuoteName(name));
  } else {
    ConcernName(Concern::kRelation, renaming.relation_name);
    ConcernRelation(renaming.relation);
  }
  NoteModelChange();
}

}  // namespace privacy_score
