/*
 * work_control.hpp - how a long computation is told to pause, and how it shows how far it is.
 *
 * Core cannot run the server's interrupts: it asks a function that only reads a flag, gives control back when the flag
 * is up, and goes on where it was when it is called again. Progress is a plain store into two counters of the caller.
 */
#pragma once

#include <cstdint>

namespace privacy_score {

struct WorkControl {
  bool (*interrupted)() = nullptr;        // null: never
  volatile std::int64_t* done = nullptr;  // steps of `total` that are done; null: not wanted
  volatile std::int64_t* total = nullptr;

  bool Interrupted() const { return interrupted != nullptr && interrupted(); }
};

}  // namespace privacy_score
