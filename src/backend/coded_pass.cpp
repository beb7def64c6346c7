/*
 * coded_pass.cpp - see coded_pass.hpp.
 */
#include "coded_pass.hpp"

extern "C" {
#include "executor/spi.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "utils/memutils.h"
}

#include "core/coded_rows.hpp"
#include "core_call.hpp"
#include "progress.hpp"
#include "value_dictionary.hpp"

namespace {

constexpr int kBlock = 1024;  // rows that go to core at once

// Where the executor sends rows.
struct CodingReceiver {
  DestReceiver receiver;
  privacy_score::CodedRows* rows;
  Size limit;  // bytes of dictionaries and tuples
  int columns;
  bool weighted;
  bool fits;
  DictionaryMemory memory;
  ValueDictionary** dictionaries;
  MemoryContext values;  // what looking up the values of one block leaves behind
  uint32** codes;        // a block of each column
  int64* weights;
  int filled;
  uint64 read;      // rows or groups
  uint64 expected;  // 0: not known
};

// Hands the block to core; false when it does not fit.
bool Flush(CodingReceiver* pass) {
  if (pass->memory.full) return pass->fits = false;
  CallCoreOrRaise([&] {
    pass->fits = pass->rows->Append(pass->codes, static_cast<std::size_t>(pass->filled),
                                    pass->weighted ? pass->weights : nullptr);
  });
  pass->read += static_cast<uint64>(pass->filled);
  pass->filled = 0;
  SetProgress(pass->read, pass->expected);
  MemoryContextReset(pass->values);
  const Size tuples = pass->rows->memory();
  pass->memory.limit = pass->limit - Min(tuples, pass->limit);
  if (MemoryContextMemAllocated(pass->memory.context, false) > pass->memory.limit) pass->fits = false;
  return pass->fits;
}

bool ReceiveRow(TupleTableSlot* slot, DestReceiver* self) {
  auto* pass = reinterpret_cast<CodingReceiver*>(self);
  const int columns = pass->columns;
  const int row = pass->filled;
  slot_getallattrs(slot);
  if (pass->weighted) {
    pass->weights[row] = DatumGetInt64(slot->tts_values[columns]);
    if (pass->weights[row] == 0) return true;
  }
  MemoryContext outer = MemoryContextSwitchTo(pass->values);
  for (int i = 0; i < columns; ++i)
    pass->codes[i][row] = CodeOf(pass->dictionaries[i], slot->tts_values[i], slot->tts_isnull[i]);
  MemoryContextSwitchTo(outer);
  return ++pass->filled < kBlock || Flush(pass);
}

void StartRows(DestReceiver* self, int, TupleDesc type) {
  auto* pass = reinterpret_cast<CodingReceiver*>(self);
  for (int i = 0; i < pass->columns; ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(type, i);
    pass->dictionaries[i] = NewValueDictionary(&pass->memory, column->atttypid, column->attcollation);
  }
}

}  // namespace

Size PassMemory() { return static_cast<Size>(maintenance_work_mem) * 1024; }

privacy_score::CodedRows* ReadCoded(MemoryContext context, const char* sql, int columns, bool weighted, uint64 expected,
                                    ColumnWeight* weights) {
  MemoryContext outer = MemoryContextSwitchTo(context);
  auto* pass = static_cast<CodingReceiver*>(palloc0(sizeof(CodingReceiver)));
  pass->receiver = {ReceiveRow, StartRows, [](DestReceiver*) {}, [](DestReceiver*) {}, DestTuplestore};
  pass->columns = columns;
  pass->weighted = weighted;
  pass->fits = true;
  pass->expected = expected;
  pass->limit = PassMemory();
  pass->memory.context = AllocSetContextCreate(context, "privacy_score dictionaries", ALLOCSET_DEFAULT_SIZES);
  pass->memory.limit = pass->limit;
  pass->values = AllocSetContextCreate(context, "privacy_score values", ALLOCSET_DEFAULT_SIZES);
  const Size width = static_cast<Size>(columns);
  pass->dictionaries = static_cast<ValueDictionary**>(palloc0(sizeof(ValueDictionary*) * (width + 1)));
  pass->codes = static_cast<uint32**>(palloc(sizeof(uint32*) * (width + 1)));
  for (int i = 0; i < columns; ++i) pass->codes[i] = static_cast<uint32*>(palloc(sizeof(uint32) * kBlock));
  pass->weights = static_cast<int64*>(palloc(sizeof(int64) * kBlock));
  auto* rows = NewCoreHolder<privacy_score::CodedRows>(context);
  CallCoreOrRaise([&] { rows->Reset(new privacy_score::CodedRows(width, pass->limit)); });
  pass->rows = rows->object;
  MemoryContextSwitchTo(outer);

  SPIExecuteOptions options = {};
  options.read_only = true;
  options.dest = &pass->receiver;
  if (SPI_execute_extended(sql, &options) != SPI_OK_SELECT) elog(ERROR, "could not read the rows of a relation");
  if (pass->fits && pass->filled > 0) Flush(pass);
  for (int i = 0; i < columns; ++i) {
    const ValueDictionary* dictionary = pass->dictionaries[i];
    weights[i] = {dictionary->codes, dictionary->bytes > pass->limit / 2};
  }
  MemoryContextDelete(pass->values);
  MemoryContextDelete(pass->memory.context);
  return pass->fits ? pass->rows : nullptr;
}
