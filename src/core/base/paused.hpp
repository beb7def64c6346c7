/*
 * paused.hpp - how the inner loops of a long computation leave it when an interrupt is pending.
 *
 * They throw Paused; the object whose method was called catches it, keeps what is finished and returns false, and the
 * caller takes its interrupts and calls again. What keeps nothing is called within Finishes(). Paused never leaves
 * core.
 */
#pragma once

#include "core/base/work_control.hpp"

namespace privacy_score {

struct Paused {};

// Whether to give up, because nobody waits for the answer any more; null: never. Asked by what cannot go on where it
// was, and so would have to start anew if it left for anything less.
using GivesUp = bool (*)();
inline void GiveUpIfAsked(GivesUp gives_up) {
  if (gives_up != nullptr && gives_up()) throw Paused{};
}

// Runs what throws Paused, and returns whether it came to its end.
template <typename Compute>
bool Finishes(Compute compute) {
  try {
    compute();
    return true;
  } catch (const Paused&) {
    return false;
  }
}

inline void PauseIfInterrupted(const WorkControl& control) {
  if (control.Interrupted()) throw Paused{};
}

// Counts cheap steps and asks only now and then.
class PauseCounter {
 public:
  explicit PauseCounter(const WorkControl& control) : control_(control) {}
  void Add(std::size_t work) {
    work_ += work;
    if (work_ < control_.work_between_questions) return;
    work_ = 0;
    PauseIfInterrupted(control_);
  }

 private:
  const WorkControl& control_;
  std::size_t work_ = 0;
};

}  // namespace privacy_score
