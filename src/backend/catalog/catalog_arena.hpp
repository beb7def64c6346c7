/*
 * catalog_arena.hpp - the arena of Statement trees that the backend builds.
 *
 * Memory of one context, taken in blocks. Trivially destructible, so a longjmp may pass it; the context frees it.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "utils/memutils.h"
}

#include "core/statement/arena.hpp"

namespace privacy_score {

class BackendArena final : public privacy_score::Arena {
 public:
  explicit BackendArena(MemoryContext context) : context_(context) {}

  void* Allocate(std::size_t size) override {
    size = MAXALIGN(size);
    if (size > left_) {
      if (size > kBlock / 4) return MemoryContextAlloc(context_, size);
      next_ = static_cast<char*>(MemoryContextAlloc(context_, kBlock));
      left_ = kBlock;
    }
    void* result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

 private:
  static constexpr std::size_t kBlock = 2048;
  MemoryContext context_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace privacy_score
