/*
 * markup.hpp - text and numbers in HTML and SVG.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// Text as the content of an element or of an attribute in double quotes, in ASCII: what has a meaning in markup and all
// that is not ASCII is written as a reference, so that a page is the same in every encoding. Bytes that are not UTF-8
// and characters that no document may hold become U+FFFD.
std::string Escaped(std::string_view text);

// A number with at most `digits` decimals, without zeros at the end; "-" when it is not finite.
std::string Shown(double value, int digits);

// A number with about three significant digits, as one reads it off a chart.
std::string ShownShort(double value);

}  // namespace privacy_score
