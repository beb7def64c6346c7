/*
 * strong_random.hpp - the random source of the server's process.
 */
#pragma once

#include "core/base/random_source.hpp"

namespace privacy_score {

// The source of this process, which draws on pg_strong_random. For use within CallCore: it throws Error when the server
// has no strong randomness; there is no weaker source to fall back on, and no seed.
privacy_score::RandomSource& StrongRandom();

}  // namespace privacy_score
