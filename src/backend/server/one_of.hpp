/*
 * one_of.hpp - whether a text is one of a few.
 */
#pragma once

#include <cstring>
#include <initializer_list>

namespace privacy_score {

inline bool IsOneOf(const char* text, std::initializer_list<const char*> texts) {
  for (const char* other : texts)
    if (strcmp(text, other) == 0) return true;
  return false;
}

}  // namespace privacy_score
