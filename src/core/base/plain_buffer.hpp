/*
 * plain_buffer.hpp - memory for millions of plain values, in huge pages where the system lends them.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace privacy_score {

// Uninitialised memory for plain values, in huge pages where the system lends them: sorts and counts jump about in it.
template <typename T>
class PlainBuffer {
 public:
  PlainBuffer() = default;
  explicit PlainBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = (size * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    const bool large = bytes >= kHugePage;
    const std::size_t unit = large ? kHugePage : kAlignment;
    data_ = static_cast<T*>(std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit));
    if (data_ == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (large) madvise(data_, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
  }
  PlainBuffer(PlainBuffer&& other) noexcept { *this = std::move(other); }
  PlainBuffer& operator=(PlainBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  PlainBuffer(const PlainBuffer&) = delete;
  PlainBuffer& operator=(const PlainBuffer&) = delete;
  ~PlainBuffer() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// The same for values that come one after the other.
template <typename T>
class GrowingBuffer {
 public:
  std::size_t size() const { return size_; }
  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  T& operator[](std::size_t i) { return buffer_[i]; }
  const T& operator[](std::size_t i) const { return buffer_[i]; }

  // Room for so many, which come soon: what is not used costs nothing.
  void Reserve(std::size_t size) {
    if (size > buffer_.size()) Grow(size);
  }
  // Room for more at its end, which is to be written.
  T* Extend(std::size_t count) {
    if (count > buffer_.size() - size_) Grow(size_ + count);
    size_ += count;
    return buffer_.data() + size_ - count;
  }
  void Append(const T* values, std::size_t count) { std::copy_n(values, count, Extend(count)); }
  void Append(const T& value) { Append(&value, 1); }

 private:
  [[gnu::noinline]] void Grow(std::size_t least) {
    constexpr std::size_t kFirst = 64;
    PlainBuffer<T> larger(std::max({least, 2 * buffer_.size(), kFirst}));
    std::copy_n(buffer_.data(), size_, larger.data());
    buffer_ = std::move(larger);
  }

  PlainBuffer<T> buffer_;
  std::size_t size_ = 0;
};

}  // namespace privacy_score
