/*
 * constants.hpp - the constants of a text, as keyed hashes only.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/statement/comparisons.hpp"
#include "core/statement/statement.hpp"
#include "sqlparse/tree.hpp"

namespace privacy_score {

// The hash of a literal; of NULL what is given.
std::uint64_t HashOfLiteral(const HashKey& key, const PgQuery__AConst& literal, std::uint64_t of_null);

// Adds the constants and parameters of a statement, whose parse tree is `raw` (may be null), to those of the statements
// before it in its text. `statement` was resolved with the key.
void AddConstants(const HashKey& key, const Node* raw, const Statement& statement, StatementConstants* constants);

// The values that EXECUTE gives to the parameters of what was prepared, nothing for NULL. None when one of them is no
// constant, or the text is no EXECUTE.
std::vector<std::optional<std::string>> ParametersOfExecute(std::string_view sql);

}  // namespace privacy_score
