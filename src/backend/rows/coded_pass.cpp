/*
 * coded_pass.cpp - see coded_pass.hpp.
 */
#include "backend/rows/coded_pass.hpp"

extern "C" {
#include "executor/spi.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
}

#include "backend/rows/row_reading.hpp"
#include "backend/rows/value_dictionary.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/progress.hpp"
#include "core/entropy/coded_rows.hpp"

namespace privacy_score {

namespace {

constexpr int kRowsAtOnce = 1024;  // that go to core

// Where the executor sends rows.
struct CodingReceiver {
  DestReceiver receiver;
  const PassInput* input;
  privacy_score::CodedRows* rows;  // null: the values of each column are counted by themselves
  Size limit;                      // bytes of dictionaries, counts and tuples
  bool fits;
  DictionaryMemory memory;
  ValueDictionary** dictionaries;
  int64** counts;        // of each column by code
  uint32* room;          // codes for which there is a count
  MemoryContext values;  // what looking up the values of one block leaves behind
  uint32** codes;        // a block of each column
  int64* weights;
  int filled;
  int64 read;   // rows or groups
  int64 total;  // rows
};

// Counts the values of a block; false when there is no room for new ones.
bool CountValues(CodingReceiver* pass) {
  for (int i = 0; i < pass->input->columns; ++i) {
    const uint32 values = pass->dictionaries[i]->codes;
    if (values > pass->room[i]) {
      const uint32 room = Max(1024, pg_nextpower2_32(values));
      auto* counts = static_cast<int64*>(TakeArray(pass->dictionaries[i], sizeof(int64) * room));
      if (counts == nullptr) return false;
      if (pass->room[i] > 0) {
        memcpy(counts, pass->counts[i], sizeof(int64) * pass->room[i]);
        pfree(pass->counts[i]);
      }
      pass->counts[i] = counts;
      pass->room[i] = room;
    }
    int64* counts = pass->counts[i];
    const uint32* codes = pass->codes[i];
    if (pass->input->weighted) {
      for (int row = 0; row < pass->filled; ++row) counts[codes[row]] += pass->weights[row];
    } else {
      for (int row = 0; row < pass->filled; ++row) ++counts[codes[row]];
    }
  }
  return true;
}

// Takes the block in; false when it does not fit.
bool Flush(CodingReceiver* pass) {
  if (pass->memory.full) return pass->fits = false;
  if (pass->rows == nullptr) {
    pass->fits = CountValues(pass);
  } else {
    CallCoreOrRaise([&] {
      pass->fits = pass->rows->Append(pass->codes, static_cast<std::size_t>(pass->filled),
                                      pass->input->weighted ? pass->weights : nullptr);
    });
    const Size tuples = pass->rows->memory();
    pass->memory.limit = pass->limit - Min(tuples, pass->limit);
    if (MemoryContextMemAllocated(pass->memory.context, false) > pass->memory.limit) pass->fits = false;
  }
  if (pass->input->weighted) {
    for (int row = 0; row < pass->filled; ++row) pass->total += pass->weights[row];
  } else {
    pass->total += pass->filled;
  }
  pass->read += pass->filled;
  pass->filled = 0;
  SetProgress(static_cast<uint64>(pass->read), pass->input->expected);
  MemoryContextReset(pass->values);
  return pass->fits;
}

bool ReceiveRow(TupleTableSlot* slot, DestReceiver* self) {
  auto* pass = reinterpret_cast<CodingReceiver*>(self);
  const int columns = pass->input->columns;
  const int row = pass->filled;
  slot_getallattrs(slot);
  if (pass->input->weighted) {
    pass->weights[row] = DatumGetInt64(slot->tts_values[columns]);
    if (pass->weights[row] == 0) return true;
  }
  MemoryContext outer = MemoryContextSwitchTo(pass->values);
  for (int i = 0; i < columns; ++i)
    pass->codes[i][row] = CodeOf(pass->dictionaries[i], slot->tts_values[i], slot->tts_isnull[i]);
  MemoryContextSwitchTo(outer);
  return ++pass->filled < kRowsAtOnce || Flush(pass);
}

void StartRows(DestReceiver* self, int, TupleDesc type) {
  auto* pass = reinterpret_cast<CodingReceiver*>(self);
  for (int i = 0; i < pass->input->columns; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(type, i);
    pass->dictionaries[i] = NewValueDictionary(&pass->memory, column->atttypid, column->attcollation);
  }
}

CodingReceiver* NewReceiver(MemoryContext context, const PassInput* input) {
  MemoryContext outer = MemoryContextSwitchTo(context);
  auto* pass = static_cast<CodingReceiver*>(palloc0(sizeof(CodingReceiver)));
  pass->receiver = RowDestination(ReceiveRow, StartRows);
  pass->input = input;
  pass->fits = true;
  pass->limit = PassMemory();
  pass->memory.context = AllocSetContextCreate(context, "privacy_score dictionaries", ALLOCSET_DEFAULT_SIZES);
  pass->memory.limit = pass->limit;
  pass->values = AllocSetContextCreate(context, "privacy_score values", ALLOCSET_DEFAULT_SIZES);
  const Size width = static_cast<Size>(input->columns) + 1;
  pass->dictionaries = static_cast<ValueDictionary**>(palloc0(sizeof(ValueDictionary*) * width));
  pass->counts = static_cast<int64**>(palloc0(sizeof(int64*) * width));
  pass->room = static_cast<uint32*>(palloc0(sizeof(uint32) * width));
  pass->codes = static_cast<uint32**>(palloc(sizeof(uint32*) * width));
  for (int i = 0; i < input->columns; ++i) pass->codes[i] = static_cast<uint32*>(palloc(sizeof(uint32) * kRowsAtOnce));
  pass->weights = static_cast<int64*>(palloc(sizeof(int64) * kRowsAtOnce));
  MemoryContextSwitchTo(outer);
  return pass;
}

// Runs the statement into the receiver; false when it did not fit.
bool Receive(CodingReceiver* pass, ColumnWeight* weights) {
  if (ReadInto(pass->input->sql, &pass->receiver) != SPI_OK_SELECT)
    elog(ERROR, "could not read the rows of a relation");
  if (pass->fits && pass->filled > 0) Flush(pass);
  for (int i = 0; i < pass->input->columns; ++i) {
    const ValueDictionary* dictionary = pass->dictionaries[i];
    weights[i] = {dictionary->codes, dictionary->bytes > pass->limit / 2};
  }
  MemoryContextDelete(pass->values);
  return pass->fits;
}

}  // namespace

Size PassMemory() { return static_cast<Size>(maintenance_work_mem) * 1024; }

privacy_score::CodedRows* ReadCoded(MemoryContext context, const PassInput& input, ColumnWeight* weights) {
  CodingReceiver* pass = NewReceiver(context, &input);
  auto* rows = NewCoreHolder<privacy_score::CodedRows>(context);
  CallCoreOrRaise(
      [&] { rows->Reset(new privacy_score::CodedRows(static_cast<std::size_t>(input.columns), pass->limit)); });
  pass->rows = rows->object;
  const bool fits = Receive(pass, weights);
  MemoryContextDelete(pass->memory.context);
  return fits ? rows->object : nullptr;
}

bool ReadValueCounts(MemoryContext context, const PassInput& input, ColumnWeight* weights, ValueCounts* columns,
                     int64* rows) {
  CodingReceiver* pass = NewReceiver(context, &input);
  if (!Receive(pass, weights)) return false;
  for (int i = 0; i < input.columns; ++i) columns[i] = {pass->counts[i], pass->dictionaries[i]->codes};
  *rows = pass->total;
  return true;
}

}  // namespace privacy_score
