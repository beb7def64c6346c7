/*
 * private_refusals.cpp - see private_refusals.hpp.
 */
#include "backend/private_sql/private_refusals.hpp"

extern "C" {
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
}

#include "backend/dp/dp_predicate.hpp"

namespace privacy_score {

namespace {

const char* looked_at = nullptr;

// Of a byte of the text, as the protocol counts; 0: nowhere.
int CursorPosition(const Node* node) {
  const int location = node == nullptr ? -1 : exprLocation(node);
  if (location < 0 || looked_at == nullptr || static_cast<Size>(location) > strlen(looked_at)) return 0;
  return pg_mbstrlen_with_len(looked_at, location) + 1;
}

}  // namespace

const char* LookAtText(const char* text) {
  const char* before = looked_at;
  looked_at = text;
  return before;
}

void RefusePrivately(const Node* node, const char* message, const char* hint) {
  const int position = CursorPosition(node);
  ereport(ERROR, (errcode(kQuestionRefused), errmsg("%s", message), errdetail("Nothing is charged."),
                  errhint("%s", hint), position > 0 ? errposition(position) : 0));
}

}  // namespace privacy_score
