/*
 * names.hpp - identifiers as abstractions write them: bare when they are [a-z_][a-z0-9_$]*, else in double quotes.
 *
 * This is not how SQL writes them: a keyword stays bare here. Which words are keywords differs between versions of the
 * server, and an abstraction has the same tokens on each.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// Whether a name is written without quotes.
bool IsBareName(std::string_view name) noexcept;

std::string QuoteName(std::string_view name);

// The name that a quoted or bare identifier stands for.
std::string UnquoteName(std::string_view identifier);

// The parts of a qualified name: schema (empty when there is none) and the rest, both still quoted.
struct QualifiedName {
  std::string_view schema;
  std::string_view name;
};
QualifiedName SplitName(std::string_view qualified);

// A token, or any text with identifiers in it, where identifiers need not be quoted that are: as versions before 0.2
// wrote keywords and names with $.
std::string WithFewestQuotes(std::string_view text);

}  // namespace privacy_score
