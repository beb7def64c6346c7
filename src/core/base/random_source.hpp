/*
 * random_source.hpp - where random words come from.
 *
 * Samplers in core take a RandomSource& and have no other randomness. The base class batches: an implementation fills
 * a whole buffer at a time, and a word is wiped from it when it is handed out, so that memory never holds the
 * randomness of a noise that has been released. Not for several threads at once.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace privacy_score {

class RandomSource {
 public:
  RandomSource() = default;
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;
  virtual ~RandomSource() { Wipe(); }

  // 64 uniform bits. Throws what Fill throws.
  std::uint64_t Word() {
    if (next_ == kWords) Refill();
    const std::uint64_t word = words_[next_];
    words_[next_++] = 0;
    return word;
  }

  // 16 or 32 uniform bits, cut from words.
  std::uint16_t Quarter() {
    if (pieces_ == 0) {
      word_in_pieces_ = Word();
      pieces_ = 4;
    }
    const auto piece = static_cast<std::uint16_t>(word_in_pieces_);
    word_in_pieces_ >>= 16U;
    --pieces_;
    return piece;
  }
  std::uint32_t Half() {
    const std::uint32_t low = Quarter();
    return low | static_cast<std::uint32_t>(Quarter()) << 16U;
  }

  // A uniform integer below `bound`, which is greater than zero; without bias, by rejection [Lemire 2019].
  std::uint64_t Below(std::uint64_t bound);

  // Forgets the bits that are left.
  void Wipe();

 protected:
  static constexpr std::size_t kWords = 64;
  // Overwrites `count` words with uniform, independent bits. Throws Error when it cannot; there are no weaker bits.
  virtual void Fill(std::uint64_t* words, std::size_t count) = 0;

 private:
  void Refill();

  std::array<std::uint64_t, kWords> words_{};
  std::size_t next_ = kWords;
  std::uint64_t word_in_pieces_ = 0;
  unsigned pieces_ = 0;
};

// Lemire's multiplication with the narrowest draw that leaves rejections rare: bound/2^16, bound/2^32 or bound/2^64.
inline std::uint64_t RandomSource::Below(std::uint64_t bound) {
  if (bound <= 1U << 12U) {
    std::uint32_t product = Quarter() * static_cast<std::uint32_t>(bound);
    if ((product & 0xffffU) < bound) {
      const std::uint32_t excess = 0x10000U % static_cast<std::uint32_t>(bound);
      while ((product & 0xffffU) < excess) product = Quarter() * static_cast<std::uint32_t>(bound);
    }
    return product >> 16U;
  }
  if (bound <= 1U << 28U) {
    std::uint64_t product = Half() * bound;
    if ((product & 0xffffffffU) < bound) {
      const std::uint64_t excess = 0x100000000U % bound;
      while ((product & 0xffffffffU) < excess) product = Half() * bound;
    }
    return product >> 32U;
  }
  using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(Word()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t excess = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < excess) product = static_cast<Wide>(Word()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace privacy_score
