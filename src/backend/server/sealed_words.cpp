/*
 * sealed_words.cpp - see sealed_words.hpp.
 *
 * Layout: a nonce of 16 bytes, the words, a digest of all before it.
 */
#include "backend/server/sealed_words.hpp"

#include "backend/server/compat.hpp"

extern "C" {
#include "common/hmac.h"
#include "common/sha2.h"
}

namespace privacy_score {

namespace {

constexpr Size kNonceBytes = 16;
constexpr Size kSealBytes = PG_SHA256_DIGEST_LENGTH;
// What tells the uses of the key apart.
constexpr uint8 kStreamUse = 1;
constexpr uint8 kProofUse = 2;

// The digest of a use and two pieces of bytes, of which the second may be empty.
bool SealDigest(pg_hmac_ctx* context, const uint8* key, uint8 use, const uint8* bytes, Size size, const uint8* more,
                Size more_size, uint8* digest) {
  return pg_hmac_init(context, key, kSealKeyBytes) >= 0 && pg_hmac_update(context, &use, 1) >= 0 &&
         pg_hmac_update(context, bytes, size) >= 0 &&
         (more_size == 0 || pg_hmac_update(context, more, more_size) >= 0) &&
         pg_hmac_final(context, digest, kSealBytes) >= 0;
}

// Encrypts bytes, or decrypts them.
bool ApplySealStream(pg_hmac_ctx* context, const uint8* key, const uint8* nonce, uint8* bytes, Size size) {
  uint8 block[kSealBytes];
  bool done = true;
  for (uint64 number = 0; done && number * kSealBytes < size; ++number) {
    done = SealDigest(context, key, kStreamUse, nonce, kNonceBytes, reinterpret_cast<const uint8*>(&number),
                      sizeof number, block);
    const Size from = number * kSealBytes;
    for (Size i = 0; i < Min(kSealBytes, size - from); ++i) bytes[from + i] ^= block[i];
  }
  explicit_bzero(block, sizeof block);
  return done;
}

}  // namespace

bytea* SealWords(const uint8* key, const uint64* words, Size count) {
  const Size size = count * sizeof *words;
  auto* sealed = static_cast<bytea*>(palloc(VARHDRSZ + kNonceBytes + size + kSealBytes));
  SET_VARSIZE(sealed, VARHDRSZ + kNonceBytes + size + kSealBytes);
  auto* nonce = reinterpret_cast<uint8*>(VARDATA(sealed));
  if (size > 0) memcpy(nonce + kNonceBytes, words, size);
  pg_hmac_ctx* context = pg_hmac_create(PG_SHA256);
  const bool done =
      context != nullptr && pg_strong_random(nonce, kNonceBytes) &&
      ApplySealStream(context, key, nonce, nonce + kNonceBytes, size) &&
      SealDigest(context, key, kProofUse, nonce, kNonceBytes + size, nullptr, 0, nonce + kNonceBytes + size);
  if (context != nullptr) pg_hmac_free(context);
  return done ? sealed : nullptr;
}

uint64* UnsealWords(const uint8* key, const bytea* sealed, Size* count) {
  const Size all = VARSIZE_ANY_EXHDR(sealed);
  const auto* nonce = reinterpret_cast<const uint8*>(VARDATA_ANY(sealed));
  if (all < kNonceBytes + kSealBytes || (all - kNonceBytes - kSealBytes) % sizeof(uint64) != 0) return nullptr;
  const Size size = all - kNonceBytes - kSealBytes;
  auto* words = static_cast<uint64*>(palloc(size + sizeof(uint64)));
  if (size > 0) memcpy(words, nonce + kNonceBytes, size);
  pg_hmac_ctx* context = pg_hmac_create(PG_SHA256);
  uint8 digest[kSealBytes];
  uint8 difference = 1;
  if (context != nullptr && SealDigest(context, key, kProofUse, nonce, kNonceBytes + size, nullptr, 0, digest)) {
    difference = 0;
    // Takes as long wherever they differ.
    for (Size i = 0; i < kSealBytes; ++i) difference |= digest[i] ^ nonce[kNonceBytes + size + i];
  }
  const bool done = difference == 0 && ApplySealStream(context, key, nonce, reinterpret_cast<uint8*>(words), size);
  if (context != nullptr) pg_hmac_free(context);
  if (!done) return nullptr;
  *count = size / sizeof *words;
  return words;
}

}  // namespace privacy_score
