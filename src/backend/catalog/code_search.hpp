/*
 * code_search.hpp - looks for code that is not trusted in statements, functions, types and relations: by what their
 * definitions say, before any of it runs. Which that is, says code_trust.hpp.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/nodes.h"
#include "utils/hsearch.h"
}

namespace privacy_score {

// A search for the first code that is not trusted where rows are read with the rights of `owner`.
struct CodeSearch {
  Oid owner;
  bool within_relation;  // in what belongs to a relation, of which only constant parts are evaluated
  bool within_function;  // in the body of a function
  bool finds_later;      // types were met of which code is looked up when values are there, such as casts to json
  bool fills_records;    // a function was met that fills a record of no named type
  bool all_convert;      // what is read may so become values of its type
  HTAB* seen;            // what was looked at
  const char* kind;
  const char* name;
  Oid theirs;
};

CodeSearch SearchFor(Oid owner);

// Whether there is such code, which the search then names. A function that calls itself, or a type that holds another
// twice, is looked at once in a search.
bool FindInQuery(Node* query, CodeSearch* search);  // or a list of queries
bool FindInFunction(Oid function, void* search);
bool FindInNode(Node* expression, void* search);
bool FindInKind(Oid relation, char kind, CodeSearch* search);  // that it is a view or foreign table
bool FindInColumns(Oid relation, bool converts, CodeSearch* search);
bool FindInRelation(Oid relation, bool inherits, CodeSearch* search);

[[noreturn]] void RaiseFound(const CodeSearch* search);
bool IsRefusal(const ErrorData* error);

}  // namespace privacy_score
