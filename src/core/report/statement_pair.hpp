/*
 * statement_pair.hpp - an n-gram beside the nearest usual one, with what is new in it marked.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// The new columns as one reads them, table.column, parted by ", "; of more than `most` the others are counted.
std::string NewColumns(std::string_view attributes, std::size_t most);

// `ngram` and `nearest`: statements as tokens, parted by line ends; an empty `nearest` is said to be none.
// `attributes`: qualified names of the new columns, parted by line ends.
std::string StatementPair(std::string_view ngram, std::string_view nearest, std::string_view attributes);

}  // namespace privacy_score
