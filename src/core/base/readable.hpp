/*
 * readable.hpp - abstractions as people read them: select zip / from patients / where patient_id.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace privacy_score {

// The parts of a qualified name, quotes kept: s."a.b".c has three.
std::vector<std::string_view> NameParts(std::string_view name);

// The lines of a text, empty ones left out; a line end within double quotes does not end a line.
std::vector<std::string_view> LinesOf(std::string_view text);

// The last `parts` parts of a qualified name.
std::string_view ShortName(std::string_view name, std::size_t parts);

// A statement, given as its tokens parted by blanks, as clauses on lines of their own in the order of SQL. Columns
// carry their relation where there is more than one; schemas are left out. Text without tokens stays as it is.
std::string ReadableStatement(std::string_view tokens);

}  // namespace privacy_score
