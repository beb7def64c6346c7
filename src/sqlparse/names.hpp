/*
 * names.hpp - identifiers as PostgreSQL writes them, and its own aggregates.
 */
#pragma once

#include <string>
#include <string_view>

namespace privacy_score {

// Quotes as quote_identifier does: when it is not [a-z_][a-z0-9_]* or when it is a keyword that is not unreserved.
std::string QuoteName(std::string_view name);

// The name that a quoted or bare identifier stands for.
std::string UnquoteName(std::string_view identifier);

// The parts of a qualified name: schema (empty when there is none) and the rest, both still quoted.
struct QualifiedName {
  std::string_view schema;
  std::string_view name;
};
QualifiedName SplitName(std::string_view qualified);

// True for an aggregate or window function of pg_catalog in PostgreSQL 15.
bool IsBuiltinAggregate(std::string_view name);

// True for functions of pg_catalog that give another value each time, and of which expressions are made.
bool IsVolatileBuiltin(std::string_view name);

}  // namespace privacy_score
