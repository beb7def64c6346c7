/*
 * release_fakes.hpp - fake values for the buckets of a release (core/buckets/fake_values.hpp).
 *
 * What goes with what is learned while records are put into buckets, and fakes are drawn when the records of a bucket
 * have come together. Quasi-identifiers whose values cannot be told apart take no part in it.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/tupdesc.h"
#include "executor/tuptable.h"
}

#include <optional>
#include <vector>

#include "backend/rows/value_dictionary.hpp"
#include "core/buckets/fake_values.hpp"

namespace privacy_score {

// The core's part; lives in the CoreHolder of the release.
struct FakeWork {
  std::optional<privacy_score::Associations> associations;
  std::optional<privacy_score::FakeValues> drawer;
  std::vector<std::uint32_t> bucket_codes;  // of the records of the bucket at hand
};

struct FakeMaker {
  FakeWork* work;
  int per_bucket;
  int attributes;
  int* columns;  // of the table of quasi-identifiers, from 0
  DictionaryMemory memory;
  ValueDictionary** dictionaries;
  MemoryContext row;
  uint32* codes;
};

// `columns` are those of the table of quasi-identifiers, `counts` those of the values.
void StartFakes(FakeMaker* maker, FakeWork* work, int per_bucket, TupleDesc columns,
                const std::vector<std::int64_t>* counts);

void LearnRecord(FakeMaker* maker, TupleTableSlot* record, std::size_t value);

// Takes a record of the bucket at hand.
void TakeRecord(FakeMaker* maker, TupleTableSlot* record);

// Draws fakes for the bucket at hand, whose records have these values, and goes on to the next one. For use within
// CallCore; valid until the next call.
const std::vector<std::uint32_t>& DrawFakes(FakeMaker* maker, const std::vector<std::uint32_t>& values);

}  // namespace privacy_score
