/*
 * rate_requests.hpp - the list of rates that scoring asks for, in shared memory, and the form in which they stand
 * there.
 *
 * Sessions and the worker put rates in; the worker takes all of them out, or frees them with their slot. While there is
 * room they stand in the inbox of the slot, for which a session need not map the area, else in a list there. What is in
 * the inbox is read where it stands: when the area is full it waits for nothing. The lists of all databases have a
 * quarter of the area in which the models are, too, and of that each session has as much as it would have of the pool
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

// A rate that is asked for, as long as it stands there.
struct AskedRate {
  const char* relation;
  std::string_view attributes;
};

// The steps of what follows: the rate at a place of an inbox, which goes to the next one; a rate of a list; the one
// after it; that, when the rate is freed.
AskedRate NextInInbox(const char* inbox, int32* at);
AskedRate ReadAskedRate(dsa_pointer at);
dsa_pointer NextAskedRate(dsa_pointer at);
dsa_pointer FreeAskedRate(dsa_pointer at);

// Calls `visit` with each rate that is asked for in a slot whose lock is held.
template <typename Visit>
void ForEachAskedRate(const DatabaseSlot* slot, Visit visit) {
  for (int32 at = 0; at < slot->asked_inbox_used;) visit(NextInInbox(slot->asked_inbox, &at));
  for (dsa_pointer at = slot->missing_rates; DsaPointerIsValid(at); at = NextAskedRate(at)) visit(ReadAskedRate(at));
}

// Rates that were taken out of a slot.
struct TakenRates {
  dsa_pointer list;
  int32 inbox_used;
  char inbox[kAskedInbox];
};

// Takes all rates out of a slot whose lock is held.
void TakeAskedRates(DatabaseSlot* slot, TakenRates* taken);

// Calls `use` with each of them, and frees them.
template <typename Use>
void UseTaken(const TakenRates& taken, Use use) {
  for (int32 at = 0; at < taken.inbox_used;) use(NextInInbox(taken.inbox, &at));
  for (dsa_pointer at = taken.list; DsaPointerIsValid(at); at = FreeAskedRate(at)) use(ReadAskedRate(at));
}

// Takes the first attribute away from a set of them that is not empty, and returns it.
inline std::string_view TakeAttribute(std::string_view* attributes) {
  const std::size_t end = std::min(attributes->find(privacy_score::kAttributeSeparator), attributes->size());
  const std::string_view first = attributes->substr(0, end);
  attributes->remove_prefix(std::min(end + 1, attributes->size()));
  return first;
}

}  // namespace privacy_score
