/*
 * socket_owner.hpp - which process is at the other end of a connection, where the operating system says so.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "libpq/libpq-be.h"
}

namespace privacy_score {

// The process that has opened a unix socket to us; 0 where it is no unix socket, or that is not known.
int PeerProcess(const Port* port);

// The address and port that a TCP connection comes from, as numbers. False for a unix socket.
bool PeerAddress(const Port* port, char* address, Size size, int* number);

// Whether a process of this machine has an open TCP socket with that local address and port. False also where /proc
// does not tell, as on other systems than Linux, or the address is another machine's.
bool HasSocket(int pid, const char* address, int number);

}  // namespace privacy_score
