/*
 * row_reading.cpp - see row_reading.hpp.
 */
#include "backend/rows/row_reading.hpp"

extern "C" {
#include "executor/spi.h"
#include "utils/memutils.h"
}

#include "backend/state/progress.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

namespace {

constexpr uint64 kRowsBetweenReports = 1024;

// Where the executor sends rows.
struct EachRow {
  DestReceiver receiver;
  MemoryContext row;  // what one row leaves behind
  uint64 rows;
  RowReceiver receive;
  void* context;
};

bool TakeRow(TupleTableSlot* slot, DestReceiver* self) {
  auto* destination = reinterpret_cast<EachRow*>(self);
  slot_getallattrs(slot);
  MemoryContext before = MemoryContextSwitchTo(destination->row);
  destination->receive(destination->context, slot);
  MemoryContextSwitchTo(before);
  MemoryContextReset(destination->row);
  if (++destination->rows % kRowsBetweenReports == 0) SetProgress(destination->rows, 0);
  return true;
}

}  // namespace

DestReceiver RowDestination(bool (*take)(TupleTableSlot* row, DestReceiver* self),
                            void (*start)(DestReceiver* self, int operation, TupleDesc columns)) {
  // The kind of destination matters to the server only where it is one of its own.
  return {take, start, [](DestReceiver*) {}, [](DestReceiver*) {}, DestTuplestore};
}

int ReadInto(const char* sql, DestReceiver* destination, bool fresh) {
  SPIExecuteOptions options = {};
  options.read_only = !fresh;
  options.dest = destination;
  const char* named = NameReading(sql);
  const int code = SPI_execute_extended(sql, &options);
  NameReading(named);
  return code;
}

uint64 ReadRows(const char* sql, RowReceiver receive, void* context, bool fresh) {
  EachRow destination = {};
  destination.receiver = RowDestination(TakeRow, [](DestReceiver*, int, TupleDesc) {});
  destination.row = AllocSetContextCreate(CurrentMemoryContext, "privacy_score row", ALLOCSET_DEFAULT_SIZES);
  destination.receive = receive;
  destination.context = context;
  if (ReadInto(sql, &destination.receiver, fresh) != SPI_OK_SELECT) elog(ERROR, "could not read rows");
  MemoryContextDelete(destination.row);
  return destination.rows;
}

}  // namespace privacy_score
