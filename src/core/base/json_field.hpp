/*
 * json_field.hpp - a field of a JSON object, as ->> gives it.
 *
 * The reader of property trees does not tell null from "null" and an empty object from "", and calls itself by the
 * depth of its input. This one keeps open brackets in a list and builds nothing but the field.
 */
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace privacy_score {

// The text of a key at the top level of a JSON object: strings as they are, numbers and booleans as written. Nothing
// for no such key, null, an object or an array as the value, and text that is not a JSON object. Of a key that stands
// twice the last value counts, as with json ->> key of the server, so that the end user is the one for whom policies
// act. Half of a surrogate pair, which is no character, becomes bytes that are no UTF-8; \u0000 becomes a zero byte.
std::optional<std::string> JsonField(std::string_view json, std::string_view key);

// The value of a key as it is written, of whatever kind; a part of `json`.
std::optional<std::string_view> JsonFieldAsWritten(std::string_view json, std::string_view key);

}  // namespace privacy_score
