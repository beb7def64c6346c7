/*
 * suppression_functions.cpp - release_table(): a two-way table of counts in which small cells cannot be had.
 *
 * One statement counts, with the rights of the caller; values and which cells are suppressed are then worked out in
 * memory. Nothing is written.
 */
extern "C" {
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/catalog/value_types.hpp"
#include "backend/rows/row_reading.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/run_with_progress.hpp"
#include "core/inference/cell_suppression.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_release_table);
}

namespace ps = privacy_score;

namespace {

struct CountedCell {
  std::size_t row, column;
  std::int64_t count;
};

// A value as text; NULL is a value, too.
using ShownValue = std::optional<std::string>;

// Memory for one call.
struct TableWork {
  std::vector<CountedCell> cells;
  std::vector<ShownValue> rows, columns;
  std::optional<ps::CellSuppression> table;
};

// One row for each cell that counts: both values as text, how many, and the places of both values in ascending order.
const char* CellsSql(Oid relation, AttrNumber row, AttrNumber column) {
  const char* row_name = QuotedColumn(relation, row);
  const char* column_name = QuotedColumn(relation, column);
  return psprintf(
      "SELECT r.%1$s::pg_catalog.text, r.%2$s::pg_catalog.text, pg_catalog.count(*), pg_catalog.dense_rank() OVER "
      "(ORDER "
      "BY r.%1$s), pg_catalog.dense_rank() OVER (ORDER BY r.%2$s) FROM %3$s r GROUP BY r.%1$s, r.%2$s",
      row_name, column_name, QuotedRelation(relation));
}

// The text of a column of a row; null for NULL.
const char* ColumnText(const TupleTableSlot* row, int column) {
  return row->tts_isnull[column] ? nullptr : TextDatumGetCString(row->tts_values[column]);
}

void RememberValue(std::vector<ShownValue>* values, std::size_t place, const char* text) {
  if (values->size() <= place) values->resize(place + 1);
  if (text != nullptr && !(*values)[place]) (*values)[place] = text;
}

void TakeCell(void* context, TupleTableSlot* row) {
  auto* work = static_cast<TableWork*>(context);
  const char* row_text = ColumnText(row, 0);
  const char* column_text = ColumnText(row, 1);
  const int64 count = DatumGetInt64(row->tts_values[2]);
  const auto row_place = static_cast<std::size_t>(DatumGetInt64(row->tts_values[3]) - 1);
  const auto column_place = static_cast<std::size_t>(DatumGetInt64(row->tts_values[4]) - 1);
  CallCoreOrRaise([&] {
    RememberValue(&work->rows, row_place, row_text);
    RememberValue(&work->columns, column_place, column_text);
    work->cells.push_back({row_place, column_place, count});
  });
}

void Suppress(TableWork* work, int64 min_cell, double protection) {
  CallCoreOrRaise([&] {
    const std::size_t width = work->columns.size();
    std::vector<std::int64_t> counts;
    ps::CellSuppression::CheckSize(work->rows.size(), width);
    counts.resize(work->rows.size() * width);
    for (const CountedCell& cell : work->cells) counts[cell.row * width + cell.column] = cell.count;
    work->table.emplace(work->rows.size(), width, counts, min_cell, protection);
  });
  RunWithProgress(&*work->table);
}

// A value of a row or column; NULL for a margin, too.
void PutValue(const std::vector<ShownValue>& values, std::size_t place, Datum* value, bool* null, bool* margin) {
  *margin = place == values.size();
  *null = *margin || !values[place];
  if (!*null) *value = CStringGetTextDatum(values[place]->c_str());
}

void PutCells(FunctionCallInfo fcinfo, const TableWork* work) {
  const ps::CellSuppression& table = *work->table;
  MemoryContext cell_memory = AllocSetContextCreate(CurrentMemoryContext, "privacy_score cell", ALLOCSET_SMALL_SIZES);
  for (std::size_t row = 0; row <= table.rows(); ++row) {
    CHECK_FOR_INTERRUPTS();
    for (std::size_t column = 0; column <= table.columns(); ++column) {
      Datum values[7] = {};
      bool nulls[7] = {};
      bool row_margin, column_margin;
      MemoryContext before = MemoryContextSwitchTo(cell_memory);
      PutValue(work->rows, row, &values[0], &nulls[0], &row_margin);
      PutValue(work->columns, column, &values[1], &nulls[1], &column_margin);
      const ps::CellState state = table.State(row, column);
      nulls[2] = state != ps::CellState::kShown;
      values[2] = Int64GetDatum(table.Count(row, column));
      values[3] = BoolGetDatum(state != ps::CellState::kShown);
      values[4] = BoolGetDatum(state == ps::CellState::kComplementary);
      values[5] = BoolGetDatum(row_margin);
      values[6] = BoolGetDatum(column_margin);
      PutResultRow(fcinfo, values, nulls);
      MemoryContextSwitchTo(before);
      MemoryContextReset(cell_memory);
    }
  }
}

}  // namespace

// release_table(relation, row_attribute, column_attribute, min_cell, protection)
Datum ps_release_table(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 1, "row_attribute");
  RequireArgument(fcinfo, 2, "column_attribute");
  const AttrNumber row = RequireColumn(relation, NameStr(*PG_GETARG_NAME(1)));
  const AttrNumber column = RequireColumn(relation, NameStr(*PG_GETARG_NAME(2)));
  if (row == column)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("row_attribute and column_attribute are the same column"),
             errhint("A two-way table has the values of one column in its rows and of another in its columns.")));
  for (const AttrNumber each : {row, column}) {
    RequireSelect(relation, each);
    RequireOrder(get_atttype(relation, each), get_attname(relation, each, false));
  }
  RequireArgument(fcinfo, 3, "min_cell");
  const int64 min_cell = PG_GETARG_INT64(3);
  RequireArgument(fcinfo, 4, "protection");
  const double protection = PG_GETARG_FLOAT8(4);
  CallCoreOrRaise([&] { ps::CellSuppression::CheckRule(min_cell, protection); });
  InitMaterializedSRF(fcinfo, 0);
  auto* work = NewCoreObject<TableWork>(CurrentMemoryContext);
  BeginProgress("release_table", relation, "counting");
  ConnectSpi();
  ReadRows(CellsSql(relation, row, column), TakeCell, work);
  SPI_finish();
  if (!work->cells.empty()) {
    SetProgressPhase("suppressing cells");
    Suppress(work, min_cell, protection);
    PutCells(fcinfo, work);
  }
  EndProgress();
  return Datum(0);
}

}  // namespace privacy_score
