/*
 * abstract_functions.cpp - SQL functions that show A(Q) of a text.
 *
 * abstract_query and abstract_query_poster go through sqlparse and never raise on any text; names are resolved with the
 * caller's search_path. abstract_query_analyzed goes the way of the live path, by the server's own analysis, and raises
 * what that raises: it is there to compare both front ends.
 */
#include "core_call.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(ps_abstract_query);
PG_FUNCTION_INFO_V1(ps_abstract_query_poster);
PG_FUNCTION_INFO_V1(ps_abstract_query_analyzed);
}

#include <string>
#include <vector>

#include "compat.hpp"
#include "core/abstraction.hpp"
#include "query_statement.hpp"
#include "text_statements.hpp"

namespace ps = privacy_score;

namespace {

using Parts = std::vector<ps::Tokens>;

// Tokens as text[].
ArrayType* TokenArray(const ps::Tokens& tokens) {
  const auto count = static_cast<int>(tokens.size());
  if (count == 0) return construct_empty_array(TEXTOID);
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * tokens.size()));
  for (int i = 0; i < count; ++i) elements[i] = CStringGetTextDatum(tokens[static_cast<std::size_t>(i)].c_str());
  return construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT);
}

void AddPart(CoreHolder<Parts>* parts, const ps::Statement& statement) {
  CallCoreOrRaise([&] { parts->object->push_back(ps::Abstract(statement)); });
}

void AddAnalyzed(CoreHolder<Parts>* parts, Query* query, const char* sql);

void AddRaw(CoreHolder<Parts>* parts, Node* statement, const char* sql) {
  RawStmt* raw = makeNode(RawStmt);
  raw->stmt = statement;
  AddAnalyzed(parts, AnalyzeStatement(raw, sql), sql);
}

// The query within a utility statement, if any.
void AddUtility(CoreHolder<Parts>* parts, Node* statement, const char* sql) {
  check_stack_depth();
  switch (nodeTag(statement)) {
    case T_ExplainStmt:
      AddAnalyzed(parts, castNode(Query, castNode(ExplainStmt, statement)->query), sql);
      break;
    case T_DeclareCursorStmt:
      AddAnalyzed(parts, castNode(Query, castNode(DeclareCursorStmt, statement)->query), sql);
      break;
    case T_CreateTableAsStmt:
      AddAnalyzed(parts, castNode(Query, castNode(CreateTableAsStmt, statement)->query), sql);
      break;
    case T_PrepareStmt:
      AddRaw(parts, castNode(PrepareStmt, statement)->query, sql);
      break;
    case T_CopyStmt: {
      auto* copy = castNode(CopyStmt, statement);
      if (copy->is_from) break;
      if (copy->query != nullptr)
        AddRaw(parts, copy->query, sql);
      else
        AddPart(parts, CopyStatement(RangeVarGetRelid(copy->relation, NoLock, false), copy->attlist));
      break;
    }
    default:
      break;
  }
}

void AddAnalyzed(CoreHolder<Parts>* parts, Query* query, const char* sql) {
  if (query->commandType == CMD_UTILITY) {
    AddUtility(parts, query->utilityStmt, sql);
    return;
  }
  ListCell* cell;
  foreach (cell, QueryRewrite(query)) {
    auto* rewritten = lfirst_node(Query, cell);
    if (rewritten->commandType != CMD_UTILITY) AddPart(parts, QueryStatement(rewritten));
  }
}

// Errors of the analysis point into the analysed text, not into the query that called the function.
void MovePosition(void* sql) {
  const int position = geterrposition();
  if (position <= 0) return;
  errposition(0);
  internalerrposition(position);
  internalerrquery(static_cast<const char*>(sql));
}

}  // namespace

// abstract_query(sql)
Datum ps_abstract_query(PG_FUNCTION_ARGS) {
  PG_RETURN_ARRAYTYPE_P(TokenArray(*TokensOfText(PG_GETARG_TEXT_PP(0), GetUserId())->object));
}

// abstract_query_poster(sql)
Datum ps_abstract_query_poster(PG_FUNCTION_ARGS) {
  PG_RETURN_TEXT_P(cstring_to_text(PosterOfText(PG_GETARG_TEXT_PP(0), GetUserId())));
}

// abstract_query_analyzed(sql)
Datum ps_abstract_query_analyzed(PG_FUNCTION_ARGS) {
  const char* sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
  CoreHolder<Parts>* parts = NewCoreHolder<Parts>(CurrentMemoryContext);
  CoreHolder<ps::Tokens>* tokens = NewCoreHolder<ps::Tokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] { parts->object = new Parts(); });
  ErrorContextCallback context;
  context.callback = MovePosition;
  context.arg = const_cast<char*>(sql);
  context.previous = error_context_stack;
  error_context_stack = &context;
  ListCell* cell;
  foreach (cell, pg_parse_query(sql)) AddAnalyzed(parts, AnalyzeStatement(lfirst_node(RawStmt, cell), sql), sql);
  error_context_stack = context.previous;
  CallCoreOrRaise([&] { tokens->object = new ps::Tokens(ps::UnionTokens(*parts->object)); });
  PG_RETURN_ARRAYTYPE_P(TokenArray(*tokens->object));
}
