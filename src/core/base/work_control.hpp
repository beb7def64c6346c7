/*
 * work_control.hpp - how a long computation is told to pause, and how it shows how far it is.
 *
 * Core cannot run the server's interrupts: it asks a function that only reads a flag, gives control back when the flag
 * is up, and goes on where it was when it is called again. Progress is a plain store into two counters of the caller.
 */
#pragma once

#include <cstddef>
#include <cstdint>

namespace privacy_score {

struct WorkControl {
  bool (*interrupted)() = nullptr;        // null: never
  volatile std::int64_t* done = nullptr;  // how many of `total` are done; both or none
  volatile std::int64_t* total = nullptr;
  // Rows or cells that may be looked at between two questions: a million take some milliseconds.
  std::size_t work_between_questions = std::size_t{1} << 20;

  bool Interrupted() const { return interrupted != nullptr && interrupted(); }
  // Shows a share, in [0,1], of what the total was set to.
  void Show(double share) const {
    if (done != nullptr) *done = static_cast<std::int64_t>(share * static_cast<double>(*total));
  }
};

}  // namespace privacy_score
