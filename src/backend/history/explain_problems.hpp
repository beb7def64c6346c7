/*
 * explain_problems.hpp - why an explanation of SQL text may not be of what its writer had in mind.
 */
#pragma once

#include <string>
#include <vector>

#include "core/statement/abstraction.hpp"

namespace privacy_score {

// What of the text's tokens the database does not have: that it does not parse, relations and columns that do not
// exist. A palloc'd list of C strings, without repetitions.
struct ProblemList {
  const char** texts;
  int count;
};
ProblemList ProblemsOf(const privacy_score::Tokens& tokens);

}  // namespace privacy_score
