/*
 * alert_signature.cpp - see alert_signature.hpp.
 */
#include "backend/state/alert_signature.hpp"

extern "C" {
#include "access/detoast.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

#include "backend/server/keyed_digest.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_verify_alert);
}

namespace {

constexpr Size kMostPayload = 8000;  // of a notification
constexpr const char* kBeforeDigest = ", \"hmac\": \"";
constexpr const char* kAfterDigest = "\"}";

const char* const kMakeKey =
    "INSERT INTO privacy_score.alert_key (key) SELECT pg_catalog.sha256("
    "pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || "
    "pg_catalog.uuid_send(pg_catalog.gen_random_uuid())) ON CONFLICT DO NOTHING";

// The key in hexadecimal; null when there is none yet. Inside an internal scope.
char* FindKey() { return InternalValue("SELECT pg_catalog.encode(k.key, 'hex') FROM privacy_score.alert_key k"); }

// The signature of an unsigned payload. A copy of the database has the key, but not the OID.
char* DigestOf(char* key, const char* payload) {
  return KeyedDigest(key, psprintf("1\n%u\n%s", MyDatabaseId, payload));
}

// Parts a signed payload into what was signed and `digest`, which points into it; null when it is no signed payload.
const char* Unsigned(char* payload, const char** digest) {
  const Size length = strlen(payload);
  const Size before = strlen(kBeforeDigest);
  const Size tail = before + kDigestLetters + strlen(kAfterDigest);
  if (length <= tail) return nullptr;
  char* at = payload + length - tail;
  if (strncmp(at, kBeforeDigest, before) != 0 || strcmp(at + before + kDigestLetters, kAfterDigest) != 0)
    return nullptr;
  *digest = pnstrdup(at + before, kDigestLetters);
  at[0] = '}';
  at[1] = '\0';
  return payload;
}

// Takes as long wherever they differ.
bool EqualDigests(const char* one, const char* other) {
  unsigned char difference = 0;
  for (int i = 0; i < kDigestLetters; ++i) difference |= static_cast<unsigned char>(one[i] ^ other[i]);
  return difference == 0;
}

}  // namespace

char* SignAlert(const char* payload) {
  char* key = FindKey();
  if (key == nullptr) {
    RunInternal(kMakeKey);
    key = FindKey();
  }
  if (key == nullptr) elog(ERROR, "the key of alerts cannot be made");
  const int inside = static_cast<int>(strlen(payload)) - 1;
  return psprintf("%.*s%s%s%s", inside, payload, kBeforeDigest, DigestOf(key, payload), kAfterDigest);
}

// verify_alert(payload)
Datum ps_verify_alert(PG_FUNCTION_ARGS) {
  if (toast_raw_datum_size(PG_GETARG_DATUM(0)) - VARHDRSZ > kMostPayload) PG_RETURN_BOOL(false);
  const char* digest = nullptr;
  const char* payload = Unsigned(text_to_cstring(PG_GETARG_TEXT_PP(0)), &digest);
  if (payload == nullptr) PG_RETURN_BOOL(false);
  InternalScope scope;
  EnterInternal(&scope);
  char* key = FindKey();
  LeaveInternal(&scope);
  PG_RETURN_BOOL(key != nullptr && EqualDigests(DigestOf(key, payload), digest));
}

}  // namespace privacy_score
