/*
 * keyed_digest.hpp - HMAC-SHA-256 under a key that one of our tables holds.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "common/sha2.h"
}

namespace privacy_score {

// Letters of a digest in hexadecimal.
constexpr int kDigestLetters = 2 * PG_SHA256_DIGEST_LENGTH;

// The HMAC-SHA-256 of a text in hexadecimal, palloc'd. The key, 32 bytes in hexadecimal, is wiped. Raises XX000 when
// the key has another length.
char* KeyedDigest(char* hex_key, const char* text);

}  // namespace privacy_score
