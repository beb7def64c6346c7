/*
 * page_style.hpp - the style sheet of a page, for light and dark, a telephone, a wide screen, and paper.
 */
#pragma once

namespace privacy_score {

// Follows kChartStyle of svg.hpp. Nothing is wider than the page: tables become lists where there is no room for them.
extern const char* const kPageStyle;

}  // namespace privacy_score
