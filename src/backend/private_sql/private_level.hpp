/*
 * private_level.hpp - a query level that is answered privately, as it lies in a plan.
 *
 * A level is split. The private part, a Query of its own, gives a row for each row of persons: whose it is, its keys,
 * the values that aggregates are over. It runs as the owner of the persons' home. What is left of the level reads noisy
 * rows, with a column for each key and two for each aggregate, and is an ordinary query.
 *
 * In a plan a level is a list of nodes, which the server copies with it.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

#include "backend/private_sql/private_trees.hpp"

namespace privacy_score {

// What is asked of a level, one column of its rows each.
enum class PrivateAggregate : int {
  kCountRows,     // count(*), with a value: rows in which it is not NULL
  kCountPersons,  // count(DISTINCT person), likewise
  kSum,
  kAverage
};

struct PrivateMeasure {
  PrivateAggregate aggregate;
  int value;  // place among the values of the private part's rows, from 1; 0: none
  Oid type;   // of the result
};

// Plain data; the nodes belong to the plan.
struct PrivateLevel {
  Oid home;
  ::Query* part;  // targets: the person's columns, the keys, the values, in this order
  int person_count;
  int key_count;
  int value_count;
  bool one_row_a_person;
  int measure_count;
  PrivateMeasure* measures;
  List* relations;  // OIDs of the protected relations
  List* names;      // of the columns of its rows, as String nodes
  // Numbers of items of the part that public rows may lack: the groups are those of the public rows, and all are shown.
  List* null_side;
  int most_rows;  // of a person that are counted, as who asks says; 0: not said. Not in a plan: known when it is asked
};

// To a list of nodes, which shares the part, and back.
List* LevelAsNodes(const PrivateLevel* level);
PrivateLevel* LevelOfNodes(List* nodes);

// A target of the part, from 0.
TargetEntry* TargetOf(const PrivateLevel* level, int index);

// The columns of a level's rows: the keys, then of each measure the number and how far it may be off.
int CountColumns(const PrivateLevel* level);
int ColumnOfMeasure(const PrivateLevel* level, int measure);
int ColumnOfError(const PrivateLevel* level, int measure);
Oid TypeOfColumn(const PrivateLevel* level, int column);
const char* NameOfMeasure(const PrivateLevel* level, int measure);

}  // namespace privacy_score
