/*
 * release_fakes.hpp - fake values for the buckets of a release (core/fake_values.hpp).
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

#include "core/fake_values.hpp"
#include "value_dictionary.hpp"

namespace privacy_score {
class BucketContents;
}

// The core's part; lives in the CoreHolder of the release.
struct FakeWork {
  std::optional<privacy_score::Associations> associations;
  std::optional<privacy_score::FakeValues> drawer;
  std::vector<std::uint32_t> bucket_codes;  // of the records of the bucket at hand
  std::vector<std::uint32_t> drawn;         // of all buckets, one after the other
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
  int64 bucket;  // at hand, 0 before the first
};

// `columns` are those of the table of quasi-identifiers, `counts` those of the values.
void StartFakes(FakeMaker* maker, FakeWork* work, int per_bucket, TupleDesc columns,
                const std::vector<std::int64_t>* counts);
// The codes of a record's quasi-identifiers, in maker->codes.
void CodeRecord(FakeMaker* maker, TupleTableSlot* record);

void LearnRecord(FakeMaker* maker, TupleTableSlot* record, std::size_t value);

// Takes a record in the order of the buckets, and draws for a bucket when the next one begins; null: all have come.
void TakeRecord(FakeMaker* maker, TupleTableSlot* record, int64 bucket, const privacy_score::BucketContents* contents);

// The fakes of a bucket, for use within CallCore.
std::vector<std::uint32_t> FakesOf(const FakeMaker* maker, int64 bucket);
