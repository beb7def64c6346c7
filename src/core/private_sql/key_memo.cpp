/*
 * key_memo.cpp - see key_memo.hpp.
 */
#include "core/private_sql/key_memo.hpp"

namespace privacy_score {

void KeyMemo::Remember(const std::uint64_t* words, std::size_t count, std::uint32_t group) {
  if (count == 0 || count > kMostWords) return;
  if (words_.size() + count > kKeptWords) Clear();
  if (slots_.empty()) slots_.resize(kSlots);
  const std::uint64_t hash = HashOf(words, count);
  Slot* slot = &slots_[hash % kSlots];
  for (std::size_t i = 0; i < kNeighbours && slot->count != 0; ++i) slot = &slots_[(hash + i) % kSlots];
  *slot = {hash, static_cast<std::uint32_t>(words_.size()), static_cast<std::uint32_t>(count), group};
  words_.insert(words_.end(), words, words + count);
}

void KeyMemo::Clear() {
  slots_.clear();
  words_.clear();
}

}  // namespace privacy_score
