/*
 * socket_owner.hpp - which process is at the other end of a connection, where the operating system says so.
 */
#pragma once

#include "backend/server/client_port.hpp"

namespace privacy_score {

// The process that has opened a unix socket to us; 0 where it is no unix socket, or that is not known.
int PeerProcess(const ClientPort* port);

// One end of a TCP connection, as numbers.
struct SocketEnd {
  char address[46];
  int port;
};

// The other end of a connection to us, and ours. False for a unix socket.
bool EndsOf(const ClientPort* port, SocketEnd* peer, SocketEnd* own);

// Whether a process of this machine has an open TCP socket with these ends. False also where /proc does not tell, as on
// other systems than Linux, or the address is another machine's.
bool HasSocket(int pid, const SocketEnd& local, const SocketEnd& remote);

}  // namespace privacy_score
