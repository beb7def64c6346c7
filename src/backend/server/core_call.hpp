/*
 * core_call.hpp - the wall between C++ exceptions and the server's longjmp.
 *
 * Calls downward (into core and sqlparse) go through CallCore: it catches everything and fills a plain CoreError;
 * nothing inside may call the server. The caller raises after it has returned. A core object that is still needed
 * afterwards is owned by a memory context (CoreHolder), whose reset deletes it even when an error jumps over the
 * caller's frame. Backend functions therefore hold only trivially destructible locals. What core has freed is given
 * back to the system here, too.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"
}

#include <cstring>
#include <exception>
#include <new>

#include "core/base/error.hpp"
#include "core/base/work_control.hpp"

namespace privacy_score {

// What went wrong in core, as plain data. The message is cut to its buffer.
struct CoreError {
  char sqlstate[6];
  char message[512];
  char hint[256];
};

void FillCoreError(CoreError* error, const char* sqlstate, const char* message, const char* hint) noexcept;

// Raises the error with its SQLSTATE and hint.
[[noreturn]] void RaiseCoreError(const CoreError& error);

// Runs `body` and returns true, or catches what it throws, fills `error` and returns false.
template <typename Body>
bool CallCore(CoreError* error, Body&& body) noexcept {
  try {
    body();
    return true;
  } catch (const privacy_score::Error& caught) {
    FillCoreError(error, caught.sqlstate().c_str(), caught.what(), caught.hint().c_str());
  } catch (const std::bad_alloc&) {
    FillCoreError(error, "53200", "out of memory", "");
  } catch (const std::exception& caught) {
    FillCoreError(error, "XX000", caught.what(), "");
  } catch (...) {
    FillCoreError(error, "XX000", "unknown exception", "");
  }
  return false;
}

// Runs `body` and raises what it throws.
template <typename Body>
void CallCoreOrRaise(Body&& body) {
  CoreError error;
  if (!CallCore(&error, body)) RaiseCoreError(error);
}

// What core has freed the C library keeps for later, between what is in use: a process that takes in model after model
// would grow by that for hours. Gives it back to the system, once it may be so many kilobytes: what is called for role
// after role in one statement would touch anew each time what it has just given back.
constexpr long kGivenBack = 512;
constexpr long kGivenBackOfHistory = 8192;
void GiveBackMemory(long kilobytes = kGivenBack);

// Calls a step of core that pauses for interrupts (returns false) until it is done.
template <typename Step>
void RunPausing(Step step) {
  bool done = false;
  do {
    CallCoreOrRaise([&] { done = step([] { return InterruptPending != 0; }); });
    CHECK_FOR_INTERRUPTS();
  } while (!done);
}

// Work that asks whether an interrupt is pending, for RunPausing.
inline privacy_score::WorkControl ControlOf(bool (*interrupted)()) {
  privacy_score::WorkControl control;
  control.interrupted = interrupted;
  return control;
}

// Owns one core object on behalf of a memory context. Trivially destructible itself; lives in that context.
template <typename T>
struct CoreHolder {
  T* object;
  MemoryContextCallback callback;

  void Reset(T* replacement) noexcept {
    delete object;
    object = replacement;
  }
};

// Makes an empty holder whose object is deleted when `context` is reset or deleted.
template <typename T>
CoreHolder<T>* NewCoreHolder(MemoryContext context) {
  auto* holder = static_cast<CoreHolder<T>*>(MemoryContextAllocZero(context, sizeof(CoreHolder<T>)));
  holder->callback.func = [](void* arg) { static_cast<CoreHolder<T>*>(arg)->Reset(nullptr); };
  holder->callback.arg = holder;
  MemoryContextRegisterResetCallback(context, &holder->callback);
  return holder;
}

// Makes an object without arguments that is deleted when `context` is reset or deleted.
template <typename T>
T* NewCoreObject(MemoryContext context = CurrentMemoryContext) {
  CoreHolder<T>* holder = NewCoreHolder<T>(context);
  CallCoreOrRaise([&] { holder->Reset(new T()); });
  return holder->object;
}

}  // namespace privacy_score
