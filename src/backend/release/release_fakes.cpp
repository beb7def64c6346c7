/*
 * release_fakes.cpp - see release_fakes.hpp.
 */
#include "backend/release/release_fakes.hpp"

extern "C" {
#include "utils/memutils.h"
}

#include "backend/rows/coded_pass.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/strong_random.hpp"

namespace privacy_score {

namespace {

// The codes of a record's quasi-identifiers, in maker->codes.
void CodeFakeRecord(FakeMaker* maker, TupleTableSlot* record) {
  slot_getallattrs(record);
  MemoryContext before = MemoryContextSwitchTo(maker->row);
  for (int i = 0; i < maker->attributes; ++i) {
    const int column = maker->columns[i];
    maker->codes[i] = CodeOf(maker->dictionaries[i], record->tts_values[column], record->tts_isnull[column]);
  }
  MemoryContextSwitchTo(before);
  MemoryContextReset(maker->row);
  if (maker->memory.full) RaiseValuesFull("the quasi-identifiers");
}

}  // namespace

void StartFakes(FakeMaker* maker, FakeWork* work, int per_bucket, TupleDesc columns,
                const std::vector<std::int64_t>* counts) {
  *maker = {};
  maker->work = work;
  maker->per_bucket = per_bucket;
  maker->memory.context = AllocSetContextCreate(CurrentMemoryContext, "privacy_score fakes", ALLOCSET_DEFAULT_SIZES);
  maker->memory.limit = PassMemory();
  maker->row = AllocSetContextCreate(CurrentMemoryContext, "privacy_score row", ALLOCSET_DEFAULT_SIZES);
  const Size quasi = static_cast<Size>(columns->natts) - 1;
  maker->columns = static_cast<int*>(palloc(sizeof(int) * quasi));
  maker->codes = static_cast<uint32*>(palloc(sizeof(uint32) * (quasi + 1)));
  maker->dictionaries = static_cast<ValueDictionary**>(palloc(sizeof(ValueDictionary*) * quasi));
  for (int i = 0; i < static_cast<int>(quasi); ++i) {
    const FormData_pg_attribute* column = TupleDescAttr(columns, i);
    if (!CanTellApart(column->atttypid)) continue;
    maker->columns[maker->attributes] = i;
    maker->dictionaries[maker->attributes++] =
        NewValueDictionary(&maker->memory, column->atttypid, column->attcollation);
  }
  CallCoreOrRaise([&] {
    work->associations.emplace(static_cast<std::size_t>(maker->attributes), *counts, PassMemory());
    work->drawer.emplace(*work->associations);
  });
}

void LearnRecord(FakeMaker* maker, TupleTableSlot* record, std::size_t value) {
  CodeFakeRecord(maker, record);
  CallCoreOrRaise([&] { maker->work->associations->Learn(maker->codes, value); });
}

void TakeRecord(FakeMaker* maker, TupleTableSlot* record) {
  CodeFakeRecord(maker, record);
  CallCoreOrRaise([&] {
    maker->work->bucket_codes.insert(maker->work->bucket_codes.end(), maker->codes, maker->codes + maker->attributes);
  });
}

const std::vector<std::uint32_t>& DrawFakes(FakeMaker* maker, const std::vector<std::uint32_t>& values) {
  FakeWork* work = maker->work;
  const std::vector<std::uint32_t>& drawn = work->drawer->Draw(
      work->bucket_codes, values.data(), values.size(), static_cast<std::size_t>(maker->per_bucket), StrongRandom());
  work->bucket_codes.clear();
  return drawn;
}

}  // namespace privacy_score
