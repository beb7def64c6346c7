/*
 * keyed_digest.cpp - see keyed_digest.hpp.
 */
#include "backend/server/keyed_digest.hpp"

extern "C" {
#include "common/hmac.h"
#include "utils/builtins.h"
}

namespace privacy_score {

char* KeyedDigest(char* hex_key, const char* text) {
  uint8 key[PG_SHA256_DIGEST_LENGTH];
  uint8 digest[PG_SHA256_DIGEST_LENGTH];
  char hex[kDigestLetters + 1];
  const Size length = strlen(hex_key);
  if (length != 2 * sizeof key) elog(ERROR, "a stored key is damaged");
  hex_decode(hex_key, length, reinterpret_cast<char*>(key));
  explicit_bzero(hex_key, length);
  pg_hmac_ctx* context = pg_hmac_create(PG_SHA256);
  const bool failed = context == nullptr || pg_hmac_init(context, key, sizeof key) < 0 ||
                      pg_hmac_update(context, reinterpret_cast<const uint8*>(text), strlen(text)) < 0 ||
                      pg_hmac_final(context, digest, sizeof digest) < 0;
  if (context != nullptr) pg_hmac_free(context);
  explicit_bzero(key, sizeof key);
  if (failed) elog(ERROR, "could not compute a keyed hash");
  hex_encode(reinterpret_cast<const char*>(digest), sizeof digest, hex);
  hex[sizeof hex - 1] = '\0';
  return pstrdup(hex);
}

}  // namespace privacy_score
