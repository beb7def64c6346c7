/*
 * client_port.hpp - the server's Port, which holds what is known of the client's connection.
 *
 * The server keeps its fields at the same places whether it was built with OpenSSL and GSSAPI or not, so that
 * extensions need not have their headers.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#undef ENABLE_GSS
#undef USE_OPENSSL
#undef USE_SSL

extern "C" {
#include "libpq/libpq-be.h"
}

namespace privacy_score {

using ClientPort = ::Port;

}  // namespace privacy_score
