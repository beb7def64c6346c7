/*
 * explain_problems.cpp - see explain_problems.hpp.
 */
extern "C" {
#include "postgres.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/history/explain_problems.hpp"

namespace privacy_score {

namespace {

void AddProblem(ProblemList* problems, const char* text) {
  for (int i = 0; i < problems->count; ++i)
    if (strcmp(problems->texts[i], text) == 0) return;
  problems->texts[problems->count++] = text;
}

// Whether what follows the kind of a token is a column.
bool NamesColumn(const char* token) { return strchr("pwjgolse", token[0]) != nullptr && token[1] == ':'; }

}  // namespace

ProblemList ProblemsOf(const privacy_score::Tokens& tokens) {
  ProblemList problems = {static_cast<const char**>(palloc(sizeof(char*) * (tokens.size() + 1))), 0};
  if (privacy_score::IsUnparsed(tokens))
    AddProblem(&problems, "the text does not parse, so that nothing is known of what it reads");
  else if (tokens.empty())
    AddProblem(&problems, "the text has no statement that reads or writes a table");
  for (const std::string& token : tokens) {
    const char* name = token.c_str() + 2;
    Oid relation;
    AttrNumber number;
    // What stands for a temporary relation was found, or it would be written as it is called.
    if (strncmp(name, "pg_temp.*", strlen("pg_temp.*")) == 0) continue;
    if (token.compare(0, 2, "t:") == 0) {
      if (!OidIsValid(RelationOfCanonicalName(name)))
        AddProblem(&problems, psprintf("relation %s does not exist", name));
    } else if (NamesColumn(token.c_str()) && !FindCanonicalColumn(name, RelationOfCanonicalName, &relation, &number)) {
      AddProblem(&problems, psprintf("column %s does not exist", name));
    }
  }
  return problems;
}

}  // namespace privacy_score
