/*
 * private_level.cpp - see private_level.hpp.
 */
#include "backend/private_sql/private_level.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pg_list.h"
#include "nodes/value.h"
}

namespace privacy_score {

namespace {

// Numbers of a level, in the order in which they are kept.
enum LevelNumber { kPersons, kKeys, kValues, kOneRow, kMeasures, kLevelNumbers };
// The parts of the list.
enum LevelNode { kPart, kNumbers, kHome, kMeasureNumbers, kMeasureTypes, kRelations, kNames, kNullSide };

}  // namespace

List* LevelAsNodes(const PrivateLevel* level) {
  const int numbers[kLevelNumbers] = {level->person_count, level->key_count, level->value_count,
                                      level->one_row_a_person, level->measure_count};
  List* kept = NIL;
  for (const int number : numbers) kept = lappend_int(kept, number);
  List* measures = NIL;
  List* types = NIL;
  for (int i = 0; i < level->measure_count; ++i) {
    measures = lappend_int(measures, static_cast<int>(level->measures[i].aggregate));
    measures = lappend_int(measures, level->measures[i].value);
    types = lappend_oid(types, level->measures[i].type);
  }
  List* nodes = list_make5(level->part, kept, list_make1_oid(level->home), measures, types);
  return lappend(lappend(lappend(nodes, level->relations), level->names), level->null_side);
}

PrivateLevel* LevelOfNodes(List* nodes) {
  auto* level = static_cast<PrivateLevel*>(palloc0(sizeof(PrivateLevel)));
  const List* numbers = list_nth_node(List, nodes, kNumbers);
  const List* measures = static_cast<const List*>(list_nth(nodes, kMeasureNumbers));
  const List* types = static_cast<const List*>(list_nth(nodes, kMeasureTypes));
  level->part = static_cast<::Query*>(list_nth(nodes, kPart));
  level->home = linitial_oid(static_cast<const List*>(list_nth(nodes, kHome)));
  level->person_count = list_nth_int(numbers, kPersons);
  level->key_count = list_nth_int(numbers, kKeys);
  level->value_count = list_nth_int(numbers, kValues);
  level->one_row_a_person = list_nth_int(numbers, kOneRow) != 0;
  level->measure_count = list_nth_int(numbers, kMeasures);
  level->measures =
      static_cast<PrivateMeasure*>(palloc0(sizeof(PrivateMeasure) * static_cast<Size>(level->measure_count + 1)));
  for (int i = 0; i < level->measure_count; ++i)
    level->measures[i] = {static_cast<PrivateAggregate>(list_nth_int(measures, 2 * i)),
                          list_nth_int(measures, 2 * i + 1), list_nth_oid(types, i)};
  level->relations = static_cast<List*>(list_nth(nodes, kRelations));
  level->names = static_cast<List*>(list_nth(nodes, kNames));
  level->null_side = static_cast<List*>(list_nth(nodes, kNullSide));
  return level;
}

TargetEntry* TargetOf(const PrivateLevel* level, int index) {
  return list_nth_node(TargetEntry, level->part->targetList, index);
}

int CountColumns(const PrivateLevel* level) { return ColumnOfMeasure(level, level->measure_count); }

int ColumnOfMeasure(const PrivateLevel* level, int measure) { return level->key_count + 2 * measure; }

int ColumnOfError(const PrivateLevel* level, int measure) { return ColumnOfMeasure(level, measure) + 1; }

Oid TypeOfColumn(const PrivateLevel* level, int column) {
  if (column < level->key_count)
    return exprType(reinterpret_cast<Node*>(TargetOf(level, level->person_count + column)->expr));
  const int measure = (column - level->key_count) / 2;
  return column == ColumnOfMeasure(level, measure) ? level->measures[measure].type : FLOAT8OID;
}

const char* NameOfMeasure(const PrivateLevel* level, int measure) {
  return strVal(list_nth(level->names, ColumnOfMeasure(level, measure)));
}

}  // namespace privacy_score
