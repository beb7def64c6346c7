/*
 * asked_rates.hpp - the list of rates that scoring asks for, in shared memory, and the form in which they stand there.
 *
 * Sessions and the worker put rates in; the worker takes all of them out, or frees them with their slot.
 */
#pragma once

#include <algorithm>
#include <string_view>

#include "core/model.hpp"
#include "shared_state.hpp"

// Puts a rate into the list, whose lock is held, without counting it; false when there is no room.
bool AskForRate(DatabaseSlot* slot, std::string_view relation, std::string_view attributes);

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

// Takes the first attribute away from a set of them that is not empty, and returns it.
inline std::string_view TakeAttribute(std::string_view* attributes) {
  const std::size_t end = std::min(attributes->find(privacy_score::kAttributeSeparator), attributes->size());
  const std::string_view first = attributes->substr(0, end);
  attributes->remove_prefix(std::min(end + 1, attributes->size()));
  return first;
}
