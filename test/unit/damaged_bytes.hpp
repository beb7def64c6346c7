/*
 * damaged_bytes.hpp - bytes with a few of them changed, for who must refuse them or make do.
 */
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/base/error.hpp"

namespace privacy_score::testing_support {

// Calls use(bytes) so many times with one to three bytes changed at random; it may throw Error XX001. How often it
// does.
template <typename Use>
unsigned CountRefused(const std::string& sound, unsigned tries, Use use) {
  std::mt19937 random(1);
  unsigned refused = 0;
  for (unsigned i = 0; i < tries; ++i) {
    std::string bytes = sound;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      use(bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.sqlstate(), "XX001");
      ++refused;
    }
  }
  return refused;
}

}  // namespace privacy_score::testing_support
