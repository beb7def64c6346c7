/*
 * shuffled_records.cpp - see shuffled_records.hpp.
 *
 * Each record is taken with the probability (still wanted)/(still to come), which makes all sets of that size equally
 * likely [Knuth, selection sampling]. Those that are taken are arranged by numbers drawn for each by itself, and at
 * random where these are equal, which makes all orders so.
 */
#include "backend/release/shuffled_records.hpp"

extern "C" {
#include "miscadmin.h"
}

#include "backend/release/release_arranging.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/strong_random.hpp"
#include "backend/state/progress.hpp"

namespace privacy_score {

namespace {

constexpr uint64 kRecordsOfNumber = 16;  // that share one, on average
constexpr uint64 kAtATime = 1024;

struct Shuffling {
  const ShuffledReceiver* receiver;
  uint64 count;  // of all records
  uint64 left;   // to look at
  uint64 wanted;
  int64 numbers;
};

void Choose(void* context, MinimalTuple record) {
  auto* shuffling = static_cast<Shuffling*>(context);
  int64 key = kLeftOut;
  CallCoreOrRaise([&] {
    if (StrongRandom().Below(shuffling->left) >= shuffling->wanted) return;
    key = PlaceKey(1 + static_cast<int64>(StrongRandom().Below(static_cast<uint64>(shuffling->numbers))), 0);
  });
  --shuffling->left;
  if (key != kLeftOut) --shuffling->wanted;
  SetLastColumn(record, key);
  if (shuffling->left % kAtATime == 0) SetProgress(shuffling->count - shuffling->left, shuffling->count);
}

}  // namespace

void ShuffleRecords(RecordStore* store, uint64 wanted, const ShuffledReceiver* receiver) {
  const auto numbers = static_cast<int64>(Min(wanted / kRecordsOfNumber + 1, static_cast<uint64>(kMaxArrangedBuckets)));
  Shuffling shuffling = {receiver, store->count, store->count, wanted, numbers};
  Arrangement arrangement = {};
  arrangement.buckets = numbers;
  arrangement.memory = ArrangingMemory();
  arrangement.context = &shuffling;
  arrangement.deal = Choose;
  arrangement.dealt = [](void* context) {
    const ShuffledReceiver* to = static_cast<Shuffling*>(context)->receiver;
    to->chosen(to->context);
  };
  arrangement.receive = [](void* context, int64, MinimalTuple* records, Size count) {
    const ShuffledReceiver* to = static_cast<Shuffling*>(context)->receiver;
    for (Size i = 0; i < count; ++i) to->receive(to->context, records[i]);
  };
  arrangement.forget = [](void* context) {
    const ShuffledReceiver* to = static_cast<Shuffling*>(context)->receiver;
    to->forget(to->context);
  };
  ArrangeRecords(&arrangement, store);
}

}  // namespace privacy_score
