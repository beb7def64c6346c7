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
  // Sets that lie as Words() writes them, 8 bytes a word, and outlive this. Throws Error XX001 on damaged ones; OfOwn
  // does not look at each set.
  static SessionSets At(std::string_view bytes);
  static SessionSets OfOwn(std::string_view bytes);

  // Adds one to one's own sets.
  void Add(std::int64_t count, const std::vector<AbstractionId>& ids);
  // Calls visit(count, first, last) with each set, its abstractions from `first` to before `last`.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const std::int64_t* set = words_.begin(); set != words_.end(); set += kHead + set[1])
      visit(set[0], set + kHead, set + kHead + set[1]);
  }
  // How many sets there are, by a walk over them.
  std::size_t size() const {
    std::size_t count = 0;
    ForEach([&](auto...) { ++count; });
    return count;
  }
  // For each set its count, the number of its abstractions, and these.
  const LentList<std::int64_t>& Words() const { return words_; }

 private:
  static constexpr std::ptrdiff_t kHead = 2;

  LentList<std::int64_t> words_;
};

}  // namespace privacy_score
