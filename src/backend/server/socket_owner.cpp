/*
 * socket_owner.cpp - see socket_owner.hpp.
 */
#include "backend/server/socket_owner.hpp"

extern "C" {
#include "common/ip.h"
#include "storage/fd.h"
}

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

namespace privacy_score {

namespace {

// An address of either kind in sixteen bytes, those of version 4 as version 6 writes them.
struct AnyAddress {
  uint8 bytes[16];
  bool known;
};

AnyAddress WithinSix(const void* four) {
  AnyAddress result = {{}, true};
  result.bytes[10] = result.bytes[11] = 0xff;
  memcpy(result.bytes + 12, four, 4);
  return result;
}

AnyAddress ParseAddress(const char* text) {
  in_addr four;
  AnyAddress result = {{}, false};
  if (inet_pton(AF_INET, text, &four) == 1) return WithinSix(&four);
  result.known = inet_pton(AF_INET6, text, result.bytes) == 1;
  return result;
}

// The same of what /proc/net writes: words of four bytes, each as the machine has a number.
AnyAddress ParseWords(const char* hex) {
  const Size length = strlen(hex);
  uint32 words[4];
  AnyAddress result = {{}, false};
  if (length != 8 && length != 32) return result;
  for (Size word = 0; word < length / 8; ++word) {
    char digits[9] = {};
    memcpy(digits, hex + 8 * word, 8);
    words[word] = static_cast<uint32>(strtoul(digits, nullptr, 16));
  }
  if (length == 8) return WithinSix(words);
  memcpy(result.bytes, words, sizeof result.bytes);
  result.known = true;
  return result;
}

bool IsEnd(const char* hex, unsigned port, const AnyAddress& address, int number) {
  if (port != static_cast<unsigned>(number)) return false;
  const AnyAddress end = ParseWords(hex);
  return end.known && memcmp(end.bytes, address.bytes, sizeof end.bytes) == 0;
}

// The number by which the system knows the socket with these ends; 0 when no connection of them is established.
unsigned long FindSocket(const char* table, const SocketEnd& local_end, const SocketEnd& remote_end) {
  constexpr unsigned kEstablished = 1;
  const AnyAddress here = ParseAddress(local_end.address);
  const AnyAddress there = ParseAddress(remote_end.address);
  if (!here.known || !there.known) return 0;
  FILE* file = AllocateFile(table, "r");
  if (file == nullptr) return 0;
  char line[512];
  unsigned long found = 0;
  while (found == 0 && fgets(line, sizeof line, file) != nullptr) {
    char local[33], remote[33];
    unsigned local_port, remote_port, state;
    unsigned long inode;
    if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*s %*s %*s %*u %*u %lu", local, &local_port, remote,
               &remote_port, &state, &inode) != 6)
      continue;
    if (state == kEstablished && IsEnd(local, local_port, here, local_end.port) &&
        IsEnd(remote, remote_port, there, remote_end.port))
      found = inode;
  }
  FreeFile(file);
  return found;
}

bool HasOpen(int pid, unsigned long socket) {
  char folder[64], wanted[64], path[MAXPGPATH], target[64];
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  snprintf(wanted, sizeof wanted, "socket:[%lu]", socket);
  DIR* directory = AllocateDir(folder);
  if (directory == nullptr) return false;
  bool found = false;
  for (const dirent* entry = ReadDirExtended(directory, folder, DEBUG1); entry != nullptr && !found;
       entry = ReadDirExtended(directory, folder, DEBUG1)) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = '\0';
    found = strcmp(target, wanted) == 0;
  }
  FreeDir(directory);
  return found;
}

}  // namespace

int PeerProcess(const ClientPort* port) {
#ifdef SO_PEERCRED
  ucred peer = {};
  socklen_t size = sizeof peer;
  if (port->raddr.addr.ss_family == AF_UNIX && getsockopt(port->sock, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
    return peer.pid;
#else
  (void)port;
#endif
  return 0;
}

static bool ReadEnd(const SockAddr& socket, SocketEnd* end) {
  char service[NI_MAXSERV];
  if (socket.addr.ss_family == AF_UNIX ||
      pg_getnameinfo_all(&socket.addr, socket.salen, end->address, sizeof end->address, service, sizeof service,
                         NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return false;
  end->port = atoi(service);
  return true;
}

bool EndsOf(const ClientPort* port, SocketEnd* peer, SocketEnd* own) {
  return ReadEnd(port->raddr, peer) && ReadEnd(port->laddr, own);
}

bool HasSocket(int pid, const SocketEnd& local, const SocketEnd& remote) {
  if (pid <= 0) return false;
  for (const char* table : {"net/tcp", "net/tcp6"}) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, table);
    const unsigned long socket = FindSocket(path, local, remote);
    if (socket != 0 && HasOpen(pid, socket)) return true;
  }
  return false;
}

}  // namespace privacy_score
