/*
 * sqlparse_support.hpp - an in-memory database for the tests of src/sqlparse: the hospital of the abstraction cases.
 */
#pragma once

#include <string>
#include <vector>

#include "core/statement/abstraction.hpp"
#include "sqlparse/analyse.hpp"

namespace privacy_score {

// Answers one round of missing names into the catalog, through the wire format, as the backend does.
void AnswerNames(const std::vector<MissingName>& missing, Catalog* catalog);

// The statements of `sql` after as many rounds as it takes; `rounds` may be null.
std::vector<Statement> AnalyseHospital(const std::string& sql, Catalog* catalog, Arena* arena, int* rounds = nullptr);

// The tokens over the hospital, one string with spaces between.
std::string HospitalTokens(const std::string& sql);
std::vector<std::string> HospitalTokenList(const std::string& sql);

// The tokens when no table exists.
std::string BareTokens(const std::string& sql);

std::string Joined(const std::vector<std::string>& parts);

}  // namespace privacy_score
