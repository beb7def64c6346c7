/*
 * fixed_random.c - the same random numbers in every process of a server, for tests of what noise must not hide.
 *
 * Loaded by LD_PRELOAD, where it stands before OpenSSL's source of random bytes, which is the server's.
 */
#include <stdint.h>
#include <unistd.h>

int RAND_status(void) { return 1; }

int RAND_poll(void) { return 1; }

// xorshift64*, from the same seed in every process, whatever the one that it is forked from has drawn.
int RAND_bytes(unsigned char* bytes, int count) {
  static uint64_t state;
  static pid_t drawer;
  if (drawer != getpid()) state = 88172645463325252u;
  drawer = getpid();
  for (int i = 0; i < count; ++i) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    bytes[i] = (unsigned char)((state * 2685821657736338717u) >> 56);
  }
  return 1;
}
