/*
 * builtin_functions.hpp - functions of pg_catalog that the text front end knows by name.
 */
#pragma once

#include <string_view>

namespace privacy_score {

// True for an aggregate or window function of pg_catalog in PostgreSQL 15 to 18.
bool IsBuiltinAggregate(std::string_view name);

// True for functions of pg_catalog that give another value each time, and of which expressions are made.
bool IsVolatileBuiltin(std::string_view name);

}  // namespace privacy_score
