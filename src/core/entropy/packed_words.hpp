/*
 * packed_words.hpp - tuples of codes packed into words: high bits the codes, low bits the weight.
 *
 * A word is one tuple with the number of its rows. A weight that outgrows its bits is spread over several words of the
 * same tuple, so whoever reads words adds up the weights of equal tuples and needs no side table. Weights are never 0.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace privacy_score {

using NarrowWord = std::uint64_t;
using WideWord = unsigned __int128;

// Bits of a code below `domain`.
inline unsigned BitsOf(std::uint64_t domain) {
  unsigned bits = 0;
  while (bits < 64 && domain > std::uint64_t{1} << bits) ++bits;
  return bits;
}

// Where a column's code sits in a word.
struct PackedColumn {
  std::uint64_t domain = 1;  // codes are below it
  unsigned bits = 0;
  unsigned shift = 0;

  std::uint64_t mask() const { return (std::uint64_t{1} << bits) - 1; }
  template <typename Word>
  std::uint64_t CodeOf(Word word) const {
    return static_cast<std::uint64_t>(word >> shift) & mask();
  }
  // The bits of a word that hold it.
  template <typename Word>
  Word Bits() const {
    return static_cast<Word>(mask()) << shift;
  }
};

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

}  // namespace privacy_score
