/*
 * failing_memory.c - makes one process of a server run out of memory at a chosen moment, for tests.
 *
 * Loaded twice: by LD_PRELOAD, where it stands before the C library's malloc() and realloc(), and as the library of two
 * SQL functions that arm it. Both share the file that FAILING_MEMORY names. In C, so that the server has libstdc++ no
 * earlier than without it.
 */
#define _GNU_SOURCE
#include "postgres.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fmgr.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(fail_memory);
PG_FUNCTION_INFO_V1(memory_failed);

struct Plan {
  int pid;  // 0: not armed
  bool of_new;
  int64 left;     // allocations until the first that fails
  int64 failing;  // how many fail then
  int64 failed;
};

static volatile struct Plan* plan;

// The file is made by the first process and mapped by its children. Only one process at a time is in a plan.
__attribute__((constructor)) static void MapTheFile(void) {
  const char* name = getenv("FAILING_MEMORY");
  const int file = name == NULL ? -1 : open(name, O_RDWR | O_CREAT, 0600);
  void* mapped = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof(struct Plan)) == 0)
    mapped = mmap(NULL, sizeof(struct Plan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (mapped != MAP_FAILED) plan = mapped;
}

// dladdr() is slow, and asked until operator new is found.
static bool IsOperatorNew(const char* caller) {
  static const char* found;
  Dl_info info;
  if (found != NULL) return caller == found;
  if (dladdr(caller, &info) == 0 || info.dli_sname == NULL || strcmp(info.dli_sname, "_Znwm") != 0) return false;
  found = caller;
  return true;
}

static bool Fails(void* caller) {
  if (plan == NULL || plan->pid == 0 || plan->pid != getpid()) return false;
  if (plan->of_new && !IsOperatorNew(caller)) return false;
  const int64 left = --plan->left;
  if (left >= 0 || left < -plan->failing) return false;
  ++plan->failed;
  return true;
}

void* malloc(size_t size) {
  static void* (*next)(size_t);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "malloc");
  return Fails(__builtin_return_address(0)) ? NULL : next(size);
}

void* realloc(void* memory, size_t size) {
  static void* (*next)(void*, size_t);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "realloc");
  return Fails(__builtin_return_address(0)) ? NULL : next(memory, size);
}

// fail_memory(pid int, kind text, nth bigint, count bigint): of the allocations of that process from now on the nth and
// as many as count in all fail: those of C++'s operator new ('new') or all ('any').
Datum fail_memory(PG_FUNCTION_ARGS) {
  const int pid = PG_GETARG_INT32(0);
  plan->pid = 0;
  plan->of_new = strcmp(text_to_cstring(PG_GETARG_TEXT_PP(1)), "new") == 0;
  plan->left = PG_GETARG_INT64(2) - 1;
  plan->failing = PG_GETARG_INT64(3);
  plan->failed = 0;
  plan->pid = pid;
  PG_RETURN_VOID();
}

// memory_failed(): how many have failed. None fails any more.
Datum memory_failed(PG_FUNCTION_ARGS) {
  plan->pid = 0;
  PG_RETURN_INT64(plan->failed);
}
