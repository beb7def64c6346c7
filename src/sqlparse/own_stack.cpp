/*
 * own_stack.cpp - see own_stack.hpp.
 */
#include "sqlparse/own_stack.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PS_TELLS_OF_STACKS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PS_TELLS_OF_STACKS
#endif
#ifdef PS_TELLS_OF_STACKS
#include <sanitizer/common_interface_defs.h>
#endif

namespace privacy_score {

namespace {

constexpr std::size_t kGuard = 64 * 1024;
constexpr std::size_t kOrdinaryBytes = 4 * 1024 * 1024;
constexpr std::size_t kDeepBytes = 64 * 1024 * 1024;
// What an ordinary stack keeps between its uses.
constexpr std::size_t kKept = 128 * 1024;

// A mapped stack; below it is a guard.
struct Stack {
  char* low;
  std::size_t size;
};

Stack ordinary = {nullptr, 0};
// The lowest byte of the stack that is used; null for that of the process.
const char* lowest = nullptr;

// What runs, and who waits for it.
struct Run {
  void (*body)(void*);
  void* arg;
  ucontext_t outside;
  const void* outside_low;
  std::size_t outside_size;
};
Run* started = nullptr;

// AddressSanitizer must know which stack is in use. `leaves` is null for one that is never used again.
void TellBefore(void** leaves, const void* low, std::size_t size) {
#ifdef PS_TELLS_OF_STACKS
  __sanitizer_start_switch_fiber(leaves, low, size);
#else
  (void)leaves;
  (void)low;
  (void)size;
#endif
}

void TellAfter(void* returns, const void** from_low, std::size_t* from_size) {
#ifdef PS_TELLS_OF_STACKS
  __sanitizer_finish_switch_fiber(returns, from_low, from_size);
#else
  (void)returns;
  (void)from_low;
  (void)from_size;
#endif
}

Stack Map(std::size_t size) {
  void* mapped = mmap(nullptr, kGuard + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* low = static_cast<char*>(mapped) + kGuard;
  if (mprotect(low, size, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped, kGuard + size);
    throw std::bad_alloc();
  }
  return {low, size};
}

// Where a stack begins.
void Enter() {
  Run* run = started;
  TellAfter(nullptr, &run->outside_low, &run->outside_size);
  run->body(run->arg);
  TellBefore(nullptr, run->outside_low, run->outside_size);
}

void RunOn(const Stack& stack, void (*body)(void*), void* arg) {
  Run run = {body, arg, {}, nullptr, 0};
  ucontext_t inside;
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack.low;
  inside.uc_stack.ss_size = stack.size;
  inside.uc_link = &run.outside;
  makecontext(&inside, Enter, 0);
  started = &run;
  lowest = stack.low;
  void* left = nullptr;
  TellBefore(&left, stack.low, stack.size);
  swapcontext(&run.outside, &inside);
  TellAfter(left, nullptr, nullptr);
  lowest = nullptr;
}

}  // namespace

std::size_t StackLeft() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - reinterpret_cast<std::uintptr_t>(lowest);
}

void SwitchStack(StackSize size, void (*body)(void*), void* arg) {
  if (size == StackSize::kOrdinary) {
    if (ordinary.low == nullptr) ordinary = Map(kOrdinaryBytes);
    RunOn(ordinary, body, arg);
    madvise(ordinary.low, ordinary.size - kKept, MADV_DONTNEED);
  } else {
    const Stack deep = Map(kDeepBytes);
    RunOn(deep, body, arg);
    munmap(deep.low - kGuard, kGuard + deep.size);
  }
}

}  // namespace privacy_score
