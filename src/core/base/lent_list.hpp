/*
 * lent_list.hpp - a list of plain values that is one's own, or that lies elsewhere and is read there.
 */
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace privacy_score {

template <typename T>
class LentList {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  LentList() = default;
  // Its own.
  LentList(std::vector<T> own) : own_(std::move(own)) { own_.shrink_to_fit(); }
  // `size` values at a place that must outlive the list and all copies of it.
  LentList(const T* at, std::size_t size) : lent_(at), size_(size) {}

  const T* data() const { return lent_ != nullptr ? lent_ : own_.data(); }
  std::size_t size() const { return lent_ != nullptr ? size_ : own_.size(); }
  bool empty() const { return size() == 0; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t place) const { return data()[place]; }

  // From now on it is a copy of its own.
  void Keep() { *this = LentList(std::vector<T>(begin(), end())); }
  // Adds values to a list of one's own.
  void Append(const T* first, const T* last) { own_.insert(own_.end(), first, last); }

 private:
  std::vector<T> own_;
  const T* lent_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace privacy_score
