/*
 * touched_relations.hpp - the relations that the tokens of an abstraction name.
 */
#pragma once

#include <string_view>
#include <vector>

namespace privacy_score {

// The qualified relations named by tokens that `separator` parts: those of t: tokens, and those of the columns of all
// others, also of those within f:. One that is named several times in a row is there once. A function with a schema
// counts as a relation of its name. Points into the argument.
std::vector<std::string_view> RelationsNamedBy(std::string_view tokens, char separator);

// The schema part of a qualified relation: "a.b" of "a.b".c.
std::string_view SchemaOfRelation(std::string_view relation);

}  // namespace privacy_score
