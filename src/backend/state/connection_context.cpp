/*
 * connection_context.cpp - see connection_context.hpp.
 */
#include "backend/state/connection_context.hpp"

#include "backend/server/client_port.hpp"

extern "C" {
#include "common/ip.h"
#include "libpq/auth.h"
#include "libpq/hba.h"
#include "miscadmin.h"
#include "utils/guc.h"
}

namespace privacy_score {

namespace {

ClientAuthentication_hook_type prev_authentication = nullptr;
uint8 authentication = kUnknownAuthentication;

void ps_authentication(Port* port, int status) {
  if (prev_authentication != nullptr) prev_authentication(port, status);
  if (port->hba != nullptr) authentication = static_cast<uint8>(port->hba->auth_method);
}

// The numeric address of the client without a scope; empty when it has none.
void ReadAddress(char* address, int size) {
  address[0] = '\0';
  const SockAddr& client = MyProcPort->raddr;
  if (client.addr.ss_family != AF_INET && client.addr.ss_family != AF_INET6) return;
  if (pg_getnameinfo_all(&client.addr, static_cast<int>(client.salen), address, size, nullptr, 0, NI_NUMERICHOST) != 0)
    address[0] = '\0';
  if (char* scope = strchr(address, '%')) *scope = '\0';
}

}  // namespace

ConnectionContext OwnContext() {
  ConnectionContext context = {};
  context.authentication = kUnknownAuthentication;
  if (MyProcPort == nullptr) return context;
  static char address[sizeof context.address];
  static bool address_read = false;
  if (!address_read) ReadAddress(address, sizeof address);
  address_read = true;
  context.known = true;
  context.tls = MyProcPort->ssl_in_use;
  context.authentication = authentication;
  strlcpy(context.address, address, sizeof context.address);
  if (application_name != nullptr) strlcpy(context.program, application_name, sizeof context.program);
  return context;
}

const char* AuthenticationName(const ConnectionContext& context) {
  return context.authentication == kUnknownAuthentication ? ""
                                                          : hba_authname(static_cast<UserAuth>(context.authentication));
}

void InstallContextHook() {
  prev_authentication = ClientAuthentication_hook;
  ClientAuthentication_hook = ps_authentication;
}

}  // namespace privacy_score
