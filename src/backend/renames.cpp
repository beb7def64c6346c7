/*
 * renames.cpp - see renames.hpp.
 */
#include "renames.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/extension.h"
}

#include "internal.hpp"
#include "watching.hpp"

namespace {

bool IsRelationKind(ObjectType type) {
  return type == OBJECT_TABLE || type == OBJECT_MATVIEW || type == OBJECT_FOREIGN_TABLE;
}

void RenameColumn(const char* relation, const char* name, const Renaming& renaming) {
  const char* args[] = {relation, name, renaming.old_column, renaming.new_column};
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
  // Another column may bear the name next; computing them again is safe.
  const char* names[] = {name};
  RunInternal("DELETE FROM privacy_score.rate WHERE relation_name = $1", 1, names);
}

// A column's new name holds for the tables that inherit it too.
void FollowColumn(const Renaming& renaming) {
  ListCell* cell;
  foreach (cell, find_all_inheritors(renaming.relation, AccessShareLock, nullptr))
    RenameColumn(TextOfOid(lfirst_oid(cell)), CanonicalRelationName(lfirst_oid(cell)), renaming);
}

// Declared relations that exist and bear another name than is written.
const char* const kRenamed =
    "(SELECT p.relation, p.name AS old, pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) "
    "AS new FROM privacy_score.protected_relation p JOIN pg_catalog.pg_class c ON c.oid = p.relation "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE p.name <> pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname)) r ";

// Rows that wait for their name: no relation is called like that.
const char* const kWaiting = "'\x01' || ";

void FollowRelations() {
  if (InternalValue(psprintf("SELECT 1 FROM %s LIMIT 1", kRenamed)) == nullptr) return;
  RunInternal(psprintf("DELETE FROM privacy_score.rate x USING %s WHERE x.relation_name IN (r.old, r.new)", kRenamed));
  RunInternal(
      psprintf("UPDATE privacy_score.dependency d SET relation_name = %s r.new FROM %s WHERE d.relation_name = r.old",
               kWaiting, kRenamed));
  // What a dropped relation of the new name has left behind does not hold for the renamed one.
  RunInternal(psprintf("DELETE FROM privacy_score.dependency d USING %s WHERE d.relation_name = r.new", kRenamed));
  RunInternal(
      psprintf("DELETE FROM privacy_score.protected_relation p USING %s WHERE p.name = r.new "
               "AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.relation)",
               kRenamed));
  RunInternal(
      "UPDATE privacy_score.dependency SET relation_name = pg_catalog.substr(relation_name, 2) "
      "WHERE relation_name LIKE '\x01%'");
  // In two steps, since two of them may have changed names.
  RunInternal(
      psprintf("UPDATE privacy_score.protected_relation p SET name = %s r.new FROM %s WHERE p.relation = r.relation",
               kWaiting, kRenamed));
  RunInternal("UPDATE privacy_score.protected_relation SET name = pg_catalog.substr(name, 2) WHERE name LIKE '\x01%'");
}

}  // namespace

Renaming RenamingOf(const Node* statement) {
  Renaming renaming = {};
  if (IsA(statement, RenameStmt)) {
    const auto* rename = reinterpret_cast<const RenameStmt*>(statement);
    renaming.any = IsRelationKind(rename->renameType) || rename->renameType == OBJECT_SCHEMA;
    if (rename->renameType != OBJECT_COLUMN || !IsRelationKind(rename->relationType)) return renaming;
    renaming.relation = RangeVarGetRelid(rename->relation, NoLock, true);
    renaming.old_column = rename->subname;
    renaming.new_column = rename->newname;
    renaming.any = OidIsValid(renaming.relation);
  } else if (IsA(statement, AlterObjectSchemaStmt)) {
    renaming.any = IsRelationKind(reinterpret_cast<const AlterObjectSchemaStmt*>(statement)->objectType);
  }
  return renaming;
}

void FollowRenaming(const Renaming& renaming) {
  if (!renaming.any || !OidIsValid(get_extension_oid("privacy_score", true))) return;
  CommandCounterIncrement();
  InternalScope scope;
  EnterInternal(&scope);
  if (OidIsValid(renaming.relation))
    FollowColumn(renaming);
  else
    FollowRelations();
  LeaveInternal(&scope);
  NoteModelChange();
}
