/*
 * key_memo.hpp - which group the keys of a row make, remembered by how they lie in memory.
 *
 * Finding the group of a row takes its keys in one way for all that are equal, which is slow; but the same few keys
 * come again and again. A memo knows some of them by their plain words: what it says is right, and what it does not
 * know is looked up. Equal keys that lie in memory otherwise, such as 1.0 and 1.00, are entries of their own.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace privacy_score {

class KeyMemo {
 public:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  static constexpr std::size_t kMostWords = 64;  // longer keys are not remembered

  // The group of keys, or kUnknown.
  std::uint32_t Find(const std::uint64_t* words, std::size_t count) const {
    if (slots_.empty()) return kUnknown;
    const std::uint64_t hash = HashOf(words, count);
    for (std::size_t i = 0; i < kNeighbours; ++i) {
      const Slot& slot = slots_[(hash + i) % kSlots];
      if (slot.hash == hash && slot.count == count &&
          std::memcmp(&words_[slot.first], words, count * sizeof *words) == 0)
        return slot.group;
    }
    return kUnknown;
  }

  // Remembers the group of keys that it does not know; what was there before may be forgotten.
  void Remember(const std::uint64_t* words, std::size_t count, std::uint32_t group);

  void Clear();

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t first = 0;  // of its words
    std::uint32_t count = 0;  // 0: free
    std::uint32_t group = kUnknown;
  };
  static constexpr std::size_t kSlots = std::size_t{1} << 14;
  static constexpr std::size_t kNeighbours = 4;
  static constexpr std::size_t kKeptWords = std::size_t{1} << 18;

  static std::uint64_t HashOf(const std::uint64_t* words, std::size_t count) {
    std::uint64_t hash = count;
    for (std::size_t i = 0; i < count; ++i) {
      hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    }
    return hash;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint64_t> words_;
};

}  // namespace privacy_score
