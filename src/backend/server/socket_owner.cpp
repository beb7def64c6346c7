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

// The number by which the system knows the socket; 0 when there is none of an established connection.
unsigned long FindSocket(const char* table, const AnyAddress& address, int number) {
  constexpr unsigned kEstablished = 1;
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
    if (state != kEstablished || local_port != static_cast<unsigned>(number)) continue;
    const AnyAddress here = ParseWords(local);
    if (here.known && memcmp(here.bytes, address.bytes, sizeof here.bytes) == 0) found = inode;
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

int PeerProcess(const Port* port) {
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

bool PeerAddress(const Port* port, char* address, Size size, int* number) {
  char service[NI_MAXSERV];
  if (port->raddr.addr.ss_family == AF_UNIX ||
      pg_getnameinfo_all(&port->raddr.addr, port->raddr.salen, address, static_cast<int>(size), service, sizeof service,
                         NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return false;
  *number = atoi(service);
  return true;
}

bool HasSocket(int pid, const char* address, int number) {
  const AnyAddress wanted = ParseAddress(address);
  if (!wanted.known || pid <= 0) return false;
  for (const char* table : {"net/tcp", "net/tcp6"}) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, table);
    const unsigned long socket = FindSocket(path, wanted, number);
    if (socket != 0 && HasOpen(pid, socket)) return true;
  }
  return false;
}

}  // namespace privacy_score
