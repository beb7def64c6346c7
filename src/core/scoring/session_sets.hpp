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

  // Adds one to one's own sets.
  void Add(std::int64_t count, const std::vector<AbstractionId>& ids);
  std::size_t size() const { return size_; }
  // Calls visit(count, first, last) with each set, its abstractions from `first` to before `last`.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const std::int64_t* set = words_.begin(); set != words_.end(); set += kHead + set[1])
      visit(set[0], set + kHead, set + kHead + set[1]);
  }
  // For each set its count, the number of its abstractions, and these.
  const LentList<std::int64_t>& Words() const { return words_; }

 private:
  static constexpr std::ptrdiff_t kHead = 2;

  LentList<std::int64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace privacy_score
