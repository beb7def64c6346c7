/*
 * alert_signature.hpp - signing the payload of an alert's notification, so that who listens can tell it from what
 * anybody may send on the channel.
 *
 * A signed payload is {...unsigned..., "hmac": "64 hexadecimal digits"}: the HMAC-SHA-256 of the database's OID and the
 * text without that last member. What is signed is text, not JSON, so nothing has to be brought into a canonical form.
 * The key is in privacy_score.alert_key, which nobody but the extension's owner may read; dumps do not have it.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// The payload with its signature. `payload` is a JSON object that is not empty. Makes the key when there is none.
// Inside an internal scope of a transaction that may write.
char* SignAlert(const char* payload);

}  // namespace privacy_score
