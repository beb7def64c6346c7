/*
 * word_sort.hpp - sorting packed words by some of their bits, and collapsing equal tuples.
 *
 * Radix sort: what does not fit in the cache is first spread by its leading digit into parts that do, and each part is
 * then sorted by least significant digit first. Digits that all words share cost a look at a counter.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace privacy_score {

namespace word_sort {

constexpr std::size_t kInsertionWords = 24;
constexpr std::size_t kCachedBytes = std::size_t{1} << 19;
constexpr unsigned kSpreadBits = 8;
constexpr unsigned kMaxDigitBits = 11;
constexpr unsigned kMaxPasses = 16;  // 128 bits by digits of 8

template <typename Word>
std::size_t DigitOf(Word word, unsigned shift, unsigned bits) {
  return static_cast<std::size_t>(word >> shift) & ((std::size_t{1} << bits) - 1);
}

template <typename Word>
Word BitsBelow(unsigned high) {
  return high >= 8 * sizeof(Word) ? ~Word{0} : (Word{1} << high) - 1;
}

template <typename Word>
void InsertionSort(Word* words, std::size_t count, unsigned low, unsigned high) {
  const Word mask = BitsBelow<Word>(high) & ~BitsBelow<Word>(low);
  for (std::size_t i = 1; i < count; ++i) {
    const Word word = words[i];
    const Word key = word & mask;
    std::size_t j = i;
    for (; j > 0 && (words[j - 1] & mask) > key; --j) words[j] = words[j - 1];
    words[j] = word;
  }
}

// Turns counts into starts; false when one digit has all the words.
inline bool StartsOf(std::uint32_t* counts, std::size_t digits, std::size_t words) {
  std::size_t start = 0;
  for (std::size_t digit = 0; digit < digits; ++digit) {
    const std::size_t count = counts[digit];
    if (count == words) return false;
    counts[digit] = static_cast<std::uint32_t>(start);
    start += count;
  }
  return true;
}

// Least significant digit first, swapping `from` and `to`; the result is in the array returned. Fewer than 2^32 words.
template <typename Word>
Word* SortByDigits(Word* from, Word* to, std::size_t count, unsigned low, unsigned high) {
  const unsigned widest = count < 4096 ? 8 : kMaxDigitBits;
  const unsigned passes = (high - low + widest - 1) / widest;
  const unsigned bits = (high - low + passes - 1) / passes;
  std::array<std::array<std::uint32_t, std::size_t{1} << kMaxDigitBits>, kMaxPasses> counts;
  for (unsigned pass = 0; pass < passes; ++pass) std::fill_n(counts[pass].begin(), std::size_t{1} << bits, 0);
  for (std::size_t i = 0; i < count; ++i)
    for (unsigned pass = 0; pass < passes; ++pass) {
      const unsigned shift = low + pass * bits;
      ++counts[pass][DigitOf(from[i], shift, std::min(bits, high - shift))];
    }
  for (unsigned pass = 0; pass < passes; ++pass) {
    const unsigned shift = low + pass * bits;
    const unsigned digit_bits = std::min(bits, high - shift);
    if (!StartsOf(counts[pass].data(), std::size_t{1} << digit_bits, count)) continue;
    for (std::size_t i = 0; i < count; ++i) to[counts[pass][DigitOf(from[i], shift, digit_bits)]++] = from[i];
    std::swap(from, to);
  }
  return from;
}

// Sorts `from` by the bits [low, high); the result goes to `to` when `into` says so, else it stays. Both are written.
template <typename Word>
void Sort(Word* from, Word* to, std::size_t count, unsigned low, unsigned high, bool into) {
  Word* const result = into ? to : from;
  Word* sorted = from;
  if (count <= kInsertionWords || high <= low) {
    InsertionSort(from, count, low, high);
  } else if (count * sizeof(Word) <= kCachedBytes || (high - low <= kMaxDigitBits && count >> 32 == 0)) {
    sorted = SortByDigits(from, to, count, low, high);
  } else {
    const unsigned bits = std::min(kSpreadBits, high - low);
    const unsigned shift = high - bits;
    std::array<std::size_t, (std::size_t{1} << kSpreadBits) + 1> ends = {};
    for (std::size_t i = 0; i < count; ++i) ++ends[DigitOf(from[i], shift, bits) + 1];
    const bool spread = std::find(ends.begin(), ends.end(), count) == ends.end();
    if (spread) {
      for (std::size_t digit = 1; digit < ends.size(); ++digit) ends[digit] += ends[digit - 1];
      for (std::size_t i = 0; i < count; ++i) to[ends[DigitOf(from[i], shift, bits)]++] = from[i];
      std::swap(from, to);
    }
    for (std::size_t start = 0, digit = 0; start < count; ++digit) {
      const std::size_t end = spread ? ends[digit] : count;
      Sort(from + start, to + start, end - start, low, shift, from != result);
      start = end;
    }
    return;
  }
  if (sorted != result) std::memcpy(result, sorted, count * sizeof(Word));
}

}  // namespace word_sort

// Sorts ascending by the bits [low, high). `scratch` has room for as many words.
template <typename Word>
void SortWords(Word* words, Word* scratch, std::size_t count, unsigned low, unsigned high) {
  if (count > 1) word_sort::Sort(words, scratch, count, low, high, false);
}

// Adds up the weights (the low `weight_bits`) of neighbours that are equal otherwise; returns how many words are left.
template <typename Word>
std::size_t CollapseWords(Word* words, std::size_t count, unsigned weight_bits) {
  if (count == 0) return 0;
  const Word weight_mask = word_sort::BitsBelow<Word>(weight_bits);
  std::size_t last = 0;
  for (std::size_t i = 1; i < count; ++i) {
    const Word word = words[i];
    if (((word ^ words[last]) & ~weight_mask) != 0) {
      words[++last] = word;
      continue;
    }
    const Word room = weight_mask - (words[last] & weight_mask);
    const Word weight = word & weight_mask;
    if (weight <= room) {
      words[last] += weight;
    } else {
      words[last] += room;
      words[++last] = word - room;
    }
  }
  return last + 1;
}

}  // namespace privacy_score
