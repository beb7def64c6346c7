/*
 * reasons.hpp - the dearest n-grams as one reads them: whose, of which day, and behind each the nearest usual one.
 */
#pragma once

#include <string_view>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/html_page.hpp"

namespace privacy_score {

// A part of a page. `ngrams`: rows of WorstNGramSection; those of a day and role follow each other.
void WriteReasons(HtmlPage& page, std::string_view heading, const std::vector<Row>& ngrams);

}  // namespace privacy_score
