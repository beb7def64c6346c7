/*
 * packed_words.hpp - tuples of codes packed into words: high bits the codes, low bits the weight.
 *
 * A word is one tuple with the number of its rows. A weight that outgrows its bits is spread over several words of the
 * same tuple, so whoever reads words adds up the weights of equal tuples and needs no side table. Weights are never 0.
 */
#pragma once

#include <cstdint>

#include "core/base/plain_buffer.hpp"

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

}  // namespace privacy_score
