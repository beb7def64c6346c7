/*
 * session_sets.hpp - the distinct sets of abstractions of a baseline's sessions, with how many sessions have each.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/lent_list.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

class SessionSets {
 public:
  SessionSets() = default;
  // Sets that lie as Words() writes them, 8 bytes a word, and outlive this. Throws Error XX001 on damaged ones.
  static SessionSets At(std::string_view bytes);

  // Of one's own sets: adds one.
  void Add(std::int64_t count, const std::vector<AbstractionId>& ids);
  std::size_t size() const { return size_; }
  // Calls visit(count, first, last) with each set, its abstractions from `first` to before `last`.
  template <typename Visit>
  void ForEach(Visit visit) const {
    const std::int64_t* const words = lent_ != nullptr ? lent_ : own_.data();
    const std::size_t end = lent_ != nullptr ? lent_size_ : own_.size();
    for (std::size_t at = 0; at < end;) {
      const std::int64_t* ids = words + at + kHead;
      const auto length = static_cast<std::size_t>(words[at + 1]);
      visit(words[at], ids, ids + length);
      at += kHead + length;
    }
  }
  // For each set its count, the number of its abstractions, and these. Of one's own sets.
  const std::vector<std::int64_t>& Words() const { return own_; }

 private:
  static constexpr std::size_t kHead = 2;

  std::vector<std::int64_t> own_;
  const std::int64_t* lent_ = nullptr;
  std::size_t lent_size_ = 0;
  std::size_t size_ = 0;
};

}  // namespace privacy_score
