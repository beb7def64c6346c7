/*
 * strong_random.cpp - pg_strong_random as a random source of core (see strong_random.hpp).
 *
 * Batched, because a call costs far more than its bytes. The source is made by the process that uses it: a buffer that
 * was filled before a fork would give two processes the same noise. It lives as long as the process.
 */
#include "backend/server/strong_random.hpp"

extern "C" {
#include "postgres.h"

#include "port.h"
}

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

class ServerRandom : public privacy_score::RandomSource {
 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    if (!pg_strong_random(words, count * sizeof *words))
      throw privacy_score::Error("58000", "could not generate random values",
                                 "Noise is drawn from the server's strong random source only.");
  }
};

}  // namespace

privacy_score::RandomSource& StrongRandom() {
  static ServerRandom* source = nullptr;
  if (source == nullptr) source = new ServerRandom();
  return *source;
}

}  // namespace privacy_score
