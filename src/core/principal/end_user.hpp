/*
 * end_user.hpp - what counts as the name of an end user.
 *
 * A name comes from a client. It stands in views, alerts and logs later, where it must not break a line, turn the
 * direction of the text or pass for a word of our own. A name that could is not dropped: what stands for it is seen.
 */
#pragma once

#include <cstddef>
#include <string_view>

namespace privacy_score {

// Longest name of an end user, bytes.
inline constexpr std::size_t kMostEndUserBytes = 256;

// What stands for a name that is longer, is not valid UTF-8, or has control characters (also U+0080..U+009F, and the
// bidi controls U+202A..U+202E and U+2066..U+2069); and for one that cannot be told.
inline constexpr std::string_view kInvalidEndUser = "(invalid)";

// The name itself without white space around it, or kInvalidEndUser; empty stays empty (no end user). A name that reads
// "(invalid)" or "(overflow)" is invalid. The result is a part of `name` or lives forever.
std::string_view CheckedEndUser(std::string_view name);

}  // namespace privacy_score
