/*
 * random_source.cpp - refilling and wiping (see random_source.hpp).
 */
#include "core/base/random_source.hpp"

namespace privacy_score {

// A source that fails leaves no half-filled buffer behind.
void RandomSource::Refill() {
  try {
    Fill(words_.data(), kWords);
  } catch (...) {
    Wipe();
    throw;
  }
  next_ = 0;
}

// Through volatile, so that the compiler keeps the stores to memory that nobody reads again.
void RandomSource::Wipe() {
  volatile std::uint64_t* word = words_.data();
  for (std::size_t i = 0; i < kWords; ++i) word[i] = 0;
  *const_cast<volatile std::uint64_t*>(&word_in_pieces_) = 0;
  pieces_ = 0;
  next_ = kWords;
}

}  // namespace privacy_score
