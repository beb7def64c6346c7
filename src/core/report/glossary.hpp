/*
 * glossary.hpp - the terms of a page: what each means, on hover and in a list at the page's end.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// A word with its meaning on hover, and a link to it in the glossary. Throws Error XX000 for a term that there is not.
std::string TermLink(std::string_view term, std::string_view word);

// All terms, as a list of definitions.
std::string Glossary();

}  // namespace privacy_score
