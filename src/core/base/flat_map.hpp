/*
 * flat_map.hpp - a map from 64-bit keys to small values, and a set of such keys, in one array.
 *
 * For what is looked up with every statement: no node is allocated for a new key, and most look-ups touch one cache
 * line. Keys may be anything; they are spread by a multiplication. Nothing is ever taken out.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace privacy_score {

template <typename Value>
struct FlatSlot {
  std::uint64_t key = 0;  // 0: free
  Value value{};
};

// The value of a key in a set.
struct NoValue {};
template <>
struct FlatSlot<NoValue> {
  std::uint64_t key = 0;
  static inline NoValue value{};
};

template <typename Value>
class FlatMap {
 public:
  using Slot = FlatSlot<Value>;

  std::size_t size() const { return size_; }

  // The slot of a key, or the free one where it belongs; valid until the next Insert.
  Slot& SlotOf(std::uint64_t key) {
    key = Kept(key);
    Slot* slots = slots_.data();
    std::size_t place = PlaceOf(key);
    while (slots[place].key != key && slots[place].key != 0) place = (place + 1) & mask_;
    return slots[place];
  }

  // Brings near where a key belongs: a look-up that follows soon does not wait for memory.
  void Expect(std::uint64_t key) const { __builtin_prefetch(&slots_[PlaceOf(Kept(key))], 1); }

  // The value of a key, valid until the next Insert; null when the key is not there.
  Value* Find(std::uint64_t key) {
    Slot& slot = SlotOf(key);
    return slot.key != 0 ? &slot.value : nullptr;
  }

  // Makes room for so many keys. To be called before the keys of another map are added in its order, which would crowd
  // where they belong in a smaller one.
  void Reserve(std::size_t size) {
    std::size_t slots = slots_.size();
    while (slots / 4 * 3 < size) slots *= 2;
    if (slots != slots_.size()) Grow(slots);
  }

  // Calls `visit` with each key and value, in any order. A key of 0 comes as another one.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Slot& slot : slots_)
      if (slot.key != 0) visit(slot.key, slot.value);
  }

  // Adds a key that is not there to the slot that SlotOf has given; returns its value. Changes nothing when memory runs
  // out.
  Value* Insert(Slot& free, std::uint64_t key, Value value) {
    Slot* slot = &free;
    if (size_ == most_) {
      Grow(2 * slots_.size());
      slot = &SlotOf(key);
    }
    slot->key = Kept(key);
    slot->value = value;
    ++size_;
    return &slot->value;
  }
  Value* Insert(std::uint64_t key, Value value) { return Insert(SlotOf(key), key, value); }

 private:
  std::size_t PlaceOf(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15U) >> 32U) & mask_;
  }
  // 0 is taken for another key. Keys are hashes, or small numbers put together: that one is this one does not happen.
  static std::uint64_t Kept(std::uint64_t key) { return key != 0 ? key : 0x8f2d1c5ba37e9641U; }

  [[gnu::cold]] [[gnu::noinline]] void Grow(std::size_t slots) {
    FlatMap larger;
    larger.slots_.resize(slots);
    larger.mask_ = larger.slots_.size() - 1;
    for (const Slot& slot : slots_)
      if (slot.key != 0) larger.SlotOf(slot.key) = slot;
    slots_.swap(larger.slots_);
    mask_ = larger.mask_;
    most_ = slots_.size() / 4 * 3;
  }

  static constexpr std::size_t kFirstSlots = 16;  // as always a power of two, of which a quarter at least is free
  std::vector<Slot> slots_ = std::vector<Slot>(kFirstSlots);
  std::size_t mask_ = kFirstSlots - 1;
  std::size_t size_ = 0;
  std::size_t most_ = kFirstSlots / 4 * 3;
};

using FlatSet = FlatMap<NoValue>;

}  // namespace privacy_score
