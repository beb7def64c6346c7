/*
 * rate_requests.hpp - the list of rates that scoring asks for, in shared memory, and the form in which they stand
 * there.
 *
 * Sessions and the worker put rates in; the worker takes all of them out, or frees them with their slot. While there is
 * room they come into the inbox of the slot, for which a session need not map the area. The lists of all databases have
 * a quarter of the area in which the models are, too, and of that each session has as much as it would have of the pool
 * of blocks (MayHave): whoever asks for a great many rates does not keep others from asking.
 */
#pragma once

#include <algorithm>
#include <string_view>

#include "backend/state/shared_state.hpp"
#include "core/scoring/model.hpp"

namespace privacy_score {

// What somebody has put into the list since it was taken out last.
struct AskedShare {
  uint64 taken;
  int64 bytes;
};

// Puts a rate into the list, whose lock is held, without counting it; false when there is no room, or none for whoever
// asks, if `share` is not null.
bool AskForRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes, AskedShare* share);

// Moves what is in the inbox to the list of a slot whose lock is held; what there is no room for waits.
void ReadAskedInbox(DatabaseSlot* slot);

// Takes all of the list out of a slot whose lock is held, with what is in the inbox; returns the first.
dsa_pointer TakeAskedRates(DatabaseSlot* slot);

// A rate of the list, as long as it stands there.
struct AskedRate {
  const char* relation;
  std::string_view attributes;
};
AskedRate ReadAskedRate(dsa_pointer at);

// The one after it.
dsa_pointer NextAskedRate(dsa_pointer at);

// Frees it; returns the one after it.
dsa_pointer FreeAskedRate(dsa_pointer at);

// Frees all that a slot has, whose lock is held.
void FreeAskedRates(DatabaseSlot* slot);

// Takes the first attribute away from a set of them that is not empty, and returns it.
inline std::string_view TakeAttribute(std::string_view* attributes) {
  const std::size_t end = std::min(attributes->find(privacy_score::kAttributeSeparator), attributes->size());
  const std::string_view first = attributes->substr(0, end);
  attributes->remove_prefix(std::min(end + 1, attributes->size()));
  return first;
}

}  // namespace privacy_score
