/*
 * own_stack.hpp - a stack of the front end's own, since a text may be nested deeper than the rest of the server's
 * stack.
 *
 * The server bounds the depth of its own stack by checks, of which there are none here; and how much of it is left to
 * whom calls is not known. What runs here calls nothing of the server, and neither an exception nor a longjmp leaves
 * the stack: OnOwnStack carries exceptions over.
 *
 * The ordinary stack is kept for the process, which has what has been touched of it, and mostly that is some kilobytes;
 * what is beyond that is given back after each use. The deep one is there while it is used. One at a time is used.
 */
#pragma once

#include <cstddef>
#include <exception>
#include <utility>

namespace privacy_score {

enum class StackSize { kOrdinary, kDeep };

// Says that the stack comes to its end.
struct TooDeep {};

// What is always left for what does not ask, and for handlers of signals.
constexpr std::size_t kStackReserve = 256 * 1024;

// Bytes that the caller's own stack still has.
std::size_t StackLeft();

// To be called by what recurses; throws TooDeep.
inline void RequireStack() {
  if (StackLeft() < kStackReserve) throw TooDeep{};
}

// Runs body(arg), which throws nothing. Throws std::bad_alloc when there is no memory for the stack.
void SwitchStack(StackSize size, void (*body)(void*), void* arg);

// Runs `body` on a stack of its own, and throws what it throws.
template <typename Body>
void OnOwnStack(StackSize size, Body&& body) {
  struct Carried {
    Body& body;
    std::exception_ptr thrown;
  } carried = {body, nullptr};
  const auto run = [](void* arg) {
    auto* inner = static_cast<Carried*>(arg);
    try {
      inner->body();
    } catch (...) {
      inner->thrown = std::current_exception();
    }
  };
  SwitchStack(size, run, &carried);
  if (carried.thrown != nullptr) std::rethrow_exception(std::move(carried.thrown));
}

}  // namespace privacy_score
