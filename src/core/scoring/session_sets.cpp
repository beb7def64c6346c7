/*
 * session_sets.cpp - see session_sets.hpp.
 */
#include "core/scoring/session_sets.hpp"

#include "core/base/error.hpp"

namespace privacy_score {

SessionSets SessionSets::At(std::string_view bytes) {
  SessionSets sets;
  sets.lent_ = reinterpret_cast<const std::int64_t*>(bytes.data());
  sets.lent_size_ = bytes.size() / sizeof(std::int64_t);
  std::size_t at = 0;
  while (at < sets.lent_size_) {
    const std::size_t left = sets.lent_size_ - at;
    const auto length = left < kHead ? left : static_cast<std::size_t>(sets.lent_[at + 1]);
    if (left < kHead || length > left - kHead || sets.lent_[at] < 0 || sets.lent_[at] > kMostCounted)
      throw DamagedData("the sessions of a baseline");
    at += kHead + length;
    ++sets.size_;
  }
  if (bytes.size() % sizeof(std::int64_t) != 0) throw DamagedData("the sessions of a baseline are cut short");
  return sets;
}

void SessionSets::Add(std::int64_t count, const std::vector<AbstractionId>& ids) {
  own_.push_back(count);
  own_.push_back(static_cast<std::int64_t>(ids.size()));
  own_.insert(own_.end(), ids.begin(), ids.end());
  ++size_;
}

}  // namespace privacy_score
