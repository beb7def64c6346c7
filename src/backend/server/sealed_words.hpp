/*
 * sealed_words.hpp - words that only this run of the server can read, wherever they are kept.
 *
 * They are encrypted under a key that the server makes when it starts and never writes down: with HMAC-SHA-256 of a
 * nonce and a counter as the stream, and one of the whole as proof that nobody has changed them (encrypt, then
 * authenticate). So a table, the WAL or a base backup that holds them tells nobody anything but their number.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

constexpr int kSealKeyBytes = 32;

// The words as a bytea, palloc'd; null when that cannot be done. Never raises but for lack of memory.
bytea* SealWords(const uint8* key, const uint64* words, Size count);

// The words, palloc'd, and their number; null when they were sealed under another key, or changed since.
uint64* UnsealWords(const uint8* key, const bytea* sealed, Size* count);

}  // namespace privacy_score
