/*
 * connection_context.hpp - from where, with which program and how a connection has come in.
 *
 * It is kept with sessions and alerts as evidence, and told where the baseline of a role has never had the like
 * (new_context() in SQL); no score looks at it. A pooler's connections are the pooler's.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

struct ConnectionContext {
  bool known;  // false: of no client
  bool tls;
  uint8 authentication;  // UserAuth; kUnknownAuthentication where it was not seen
  char address[46];      // empty: a unix socket
  char program[NAMEDATALEN];
};
constexpr uint8 kUnknownAuthentication = 255;

// That of this process, with application_name as it is now.
ConnectionContext OwnContext();

// The name of the method as pg_hba.conf has it; empty where it is not known.
const char* AuthenticationName(const ConnectionContext& context);

// Notes the method when a client has logged in: afterwards the server forgets it.
void InstallContextHook();

}  // namespace privacy_score
