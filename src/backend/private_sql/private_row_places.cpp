/*
 * private_row_places.cpp - see private_row_places.hpp.
 */
#include "backend/private_sql/private_row_places.hpp"

extern "C" {
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "utils/rel.h"
}

namespace privacy_score {

namespace {

// The places of columns of the only relation; null when there is anything else among them.
int* PlacesInRow(const List* targets) {
  int* places = static_cast<int*>(palloc(sizeof(int) * static_cast<Size>(list_length(targets))));
  const ListCell* cell;
  foreach (cell, targets) {
    const auto* target = lfirst_node(TargetEntry, cell);
    if (!IsA(target->expr, Var)) return nullptr;
    const auto* column = castNode(Var, target->expr);
    if (column->varlevelsup != 0 || column->varattno <= 0) return nullptr;
    places[foreach_current_index(cell)] = column->varattno - 1;
  }
  return places;
}

// All columns of a relation; none where its rows may be stored otherwise.
List* ColumnsAsStored(const RangeTblEntry* relation) {
  List* columns = NIL;
  ::Relation table = table_open(relation->relid, NoLock);
  TupleDesc row = RelationGetDescr(table);
  for (int i = 0; i < row->natts; ++i) {
    FormData_pg_attribute* column = TupleDescAttr(row, i);
    if (column->attisdropped || column->atthasmissing || column->attgenerated != '\0') {
      columns = NIL;
      break;
    }
    Var* var = makeVar(1, column->attnum, column->atttypid, column->atttypmod, column->attcollation, 0);
    columns = lappend(columns, makeTargetEntry(reinterpret_cast<::Expr*>(var), column->attnum,
                                               pstrdup(NameStr(column->attname)), false));
  }
  table_close(table, NoLock);
  return columns;
}

}  // namespace

int* AskForWholeRows(::Query* part) {
  if (list_length(part->rtable) != 1 || part->groupClause != NIL || part->distinctClause != NIL ||
      part->sortClause != NIL)
    return nullptr;
  const auto* relation = linitial_node(RangeTblEntry, part->rtable);
  if (relation->rtekind != RTE_RELATION || relation->relkind != RELKIND_RELATION) return nullptr;
  int* places = PlacesInRow(part->targetList);
  List* columns = places == nullptr ? NIL : ColumnsAsStored(relation);
  if (columns == NIL) return nullptr;
  part->targetList = columns;
  return places;
}

}  // namespace privacy_score
