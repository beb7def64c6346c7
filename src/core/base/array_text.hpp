/*
 * array_text.hpp - the elements of an array in the text form of the server: {1, 2}, {"a b", NULL}, [0:1]={a,b}.
 */
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

struct ArrayElements {
  std::vector<std::optional<std::string>> values;  // those of arrays within one after the other; NULL is none
  bool nested = false;                             // there are arrays within
  bool quoted = false;                             // some are written in quotes or with a backslash
};

// Nothing when the text is no array. Elements are separated by commas, as they are for all types but box.
std::optional<ArrayElements> ReadArrayText(std::string_view text);

}  // namespace privacy_score
