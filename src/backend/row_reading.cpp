/*
 * row_reading.cpp - see row_reading.hpp.
 */
#include "row_reading.hpp"

extern "C" {
#include "executor/spi.h"
#include "tcop/dest.h"
#include "utils/memutils.h"
}

#include "progress.hpp"
#include "watching.hpp"

namespace {

constexpr uint64 kRowsBetweenReports = 1024;

// Where the executor sends rows.
struct RowDestination {
  DestReceiver receiver;
  MemoryContext row;  // what one row leaves behind
  uint64 rows;
  RowReceiver receive;
  void* context;
};

bool TakeRow(TupleTableSlot* slot, DestReceiver* self) {
  auto* destination = reinterpret_cast<RowDestination*>(self);
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(destination->row);
  destination->receive(destination->context, slot);
  MemoryContextSwitchTo(before);
  MemoryContextReset(destination->row);
  if (++destination->rows % kRowsBetweenReports == 0) SetProgress(destination->rows, 0);
  return true;
}

}  // namespace

uint64 ReadRows(const char* sql, RowReceiver receive, void* context, bool fresh) {
  RowDestination destination = {};
  // The kind of destination matters to the server only where it is one of its own.
  destination.receiver = {TakeRow, [](DestReceiver*, int, TupleDesc) {}, [](DestReceiver*) {}, [](DestReceiver*) {},
                          DestTuplestore};
  destination.row = AllocSetContextCreate(CurrentMemoryContext, "privacy_score row", ALLOCSET_DEFAULT_SIZES);
  destination.receive = receive;
  destination.context = context;
  SPIExecuteOptions options = {};
  options.read_only = !fresh;
  options.dest = &destination.receiver;
  const char* named = NameReading(sql);
  if (SPI_execute_extended(sql, &options) != SPI_OK_SELECT) elog(ERROR, "could not read rows");
  NameReading(named);
  MemoryContextDelete(destination.row);
  return destination.rows;
}
