/*
 * relation_entry.hpp - what the cache of relations (catalog_relations.hpp) knows of one, with the origins of its
 * columns.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
}

#include "backend/catalog/catalog_protection.hpp"
#include "core/statement/statement.hpp"

namespace privacy_score {

// One base column that the values of a column are copies of.
struct CopiedOrigin {
  int column;                                   // index into the columns of the copy
  bool published;                               // the copy's column is labelled public
  Oid relid;                                    // InvalidOid when the origin was gone before it could be followed
  AttrNumber number;                            // in that relation
  std::string_view relation_name, column_name;  // when it was copied
};

// What the cache knows of one relation. `self` describes it under its own name; see ResolvedRelation for partitions.
struct RelationEntry {
  Oid relid;
  bool valid;     // false once a message has arrived: not handed out again
  uint64 serial;  // differs between any two entries ever made in this backend
  Oid parent;     // of a partition: the table it is a partition of; of a shard: the table whose rows it holds
  Oid* parents;   // the tables that it inherits from, also as a partition, and the one whose rows it holds
  int parent_count;
  Oid owner;
  char kind;                     // pg_class.relkind
  bool row_security;             // row security is enabled on it
  bool has_children;             // partitions or inheritance children, or it had some
  bool ours;                     // in the extension's schema
  Declaration declaration;       // by protect()
  privacy_score::Relation self;  // `own` and `catalog` depend on role and settings: see RelationFor
  int natts;
  int* live;  // attribute number - 1 -> index into self.columns, -1 when dropped
  int origin_count;
  CopiedOrigin* origins;
  int view_count;  // the views behind a materialized view and their serials
  Oid* views;
  uint64* view_serials;
  bool named_as_shard;  // it is none, and may become one
  uint64 read_at;       // the CatalogGeneration then
  uint64 root_serial;
  int* root_columns;  // of a partition: attribute number - 1 -> index into the root's columns, matched by name
  MemoryContext context;
  RelationEntry* next_retired;
};

}  // namespace privacy_score
