/*
 * literals.hpp - SQL text with other literals in the places of its own.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score::fuzz {

// `sql` with `text` as the content of each string in quotes (also E'', B'', X'', N'', U&'' and dollar quotes) and,
// unless it is empty, `number` in the place of each number. Follows the server's lexical rules on its own, so that a
// fault in what is tested does not hide here.
std::string WithLiterals(std::string_view sql, std::string_view text, std::string_view number);

}  // namespace privacy_score::fuzz
