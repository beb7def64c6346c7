/*
 * abstract_functions.cpp - SQL functions that show A(Q) of a text, and how it writes a name.
 *
 * abstract_query and abstract_query_poster go through sqlparse and never raise on any text; names are resolved with the
 * caller's search_path. abstract_query_analyzed and reads_protected go the way of the live path, by the server's own
 * analysis, and raise what that raises.
 */
#include "backend/server/core_call.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
}

#include <string>
#include <vector>

#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/empty_results.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/query_statement.hpp"
#include "backend/server/array_elements.hpp"
#include "backend/server/compat.hpp"
#include "backend/text/text_statements.hpp"
#include "core/base/names.hpp"
#include "core/base/sort_unique.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_abstract_query);
PG_FUNCTION_INFO_V1(ps_abstract_query_poster);
PG_FUNCTION_INFO_V1(ps_abstract_query_analyzed);
PG_FUNCTION_INFO_V1(ps_reads_protected);
PG_FUNCTION_INFO_V1(ps_canonical_name);
PG_FUNCTION_INFO_V1(ps_requoted);
PG_FUNCTION_INFO_V1(ps_abstraction_id);
}

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

// The tokens of a text[]; palloc'd.
struct TokenList {
  std::string_view* tokens;
  int count;
};

TokenList TokensArgument(ArrayType* array) {
  const ElementList list = ElementsOf(array);
  TokenList all = {static_cast<std::string_view*>(palloc(sizeof(std::string_view) * static_cast<Size>(list.count + 1))),
                   0};
  for (int i = 0; i < list.count; ++i) {
    if (list.nulls[i]) continue;
    const text* token = DatumGetTextPP(list.values[i]);
    all.tokens[all.count++] = {VARDATA_ANY(token), static_cast<Size>(VARSIZE_ANY_EXHDR(token))};
  }
  return all;
}

// What the text of a statement does, as a list of rewritten Query and of CopyStmt for COPY of a table.
List* AddAnalyzed(List* parts, ::Query* query, const char* sql);

List* AddRaw(List* parts, Node* statement, const char* sql) {
  RawStmt* raw = makeNode(RawStmt);
  raw->stmt = statement;
  return AddAnalyzed(parts, AnalyzeStatement(raw, sql), sql);
}

// The query within a utility statement, if any.
List* AddUtility(List* parts, Node* statement, const char* sql) {
  check_stack_depth();
  switch (nodeTag(statement)) {
    case T_ExplainStmt:
      return AddAnalyzed(parts, AsQuery(castNode(ExplainStmt, statement)->query), sql);
    case T_DeclareCursorStmt:
      return AddAnalyzed(parts, AsQuery(castNode(DeclareCursorStmt, statement)->query), sql);
    case T_CreateTableAsStmt:
      return AddAnalyzed(parts, AsQuery(castNode(CreateTableAsStmt, statement)->query), sql);
    case T_PrepareStmt:
      return AddRaw(parts, castNode(PrepareStmt, statement)->query, sql);
    case T_CopyStmt: {
      auto* copy = castNode(CopyStmt, statement);
      if (copy->is_from) return parts;
      return copy->query != nullptr ? AddRaw(parts, copy->query, sql) : lappend(parts, copy);
    }
    default:
      return parts;
  }
}

List* AddAnalyzed(List* parts, ::Query* query, const char* sql) {
  if (query->commandType == CMD_UTILITY) return AddUtility(parts, query->utilityStmt, sql);
  ListCell* cell;
  foreach (cell, QueryRewrite(query))
    if (AsQuery(lfirst(cell))->commandType != CMD_UTILITY) parts = lappend(parts, lfirst(cell));
  return parts;
}

// Errors of the analysis point into the analysed text, not into the query that called the function.
void MovePosition(void* sql) {
  const int position = geterrposition();
  if (position <= 0) return;
  errposition(0);
  internalerrposition(position);
  internalerrquery(static_cast<const char*>(sql));
}

// Adds the parts of statements that are explained to `explained` (may be null), too.
List* AnalyzedParts(text* text, List** explained) {
  const char* sql = text_to_cstring(text);
  ErrorContextCallback context;
  context.callback = MovePosition;
  context.arg = const_cast<char*>(sql);
  context.previous = error_context_stack;
  error_context_stack = &context;
  List* parts = NIL;
  ListCell* cell;
  foreach (cell, pg_parse_query(sql)) {
    auto* raw = lfirst_node(RawStmt, cell);
    const bool explains = IsA(raw->stmt, ExplainStmt);
    List* of_statement = AddAnalyzed(NIL, AnalyzeStatement(raw, sql), sql);
    parts = list_concat(parts, of_statement);
    if (explains && explained != nullptr) *explained = list_concat(*explained, of_statement);
  }
  error_context_stack = context.previous;
  return parts;
}

Oid RelationOf(Node* copy) { return RangeVarGetRelid(castNode(CopyStmt, copy)->relation, NoLock, false); }

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
  CoreHolder<Parts>* parts = NewCoreHolder<Parts>(CurrentMemoryContext);
  CoreHolder<ps::Tokens>* tokens = NewCoreHolder<ps::Tokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] { parts->object = new Parts(); });
  List* explained = NIL;
  ListCell* cell;
  foreach (cell, AnalyzedParts(PG_GETARG_TEXT_PP(0), &explained)) {
    auto* part = static_cast<Node*>(lfirst(cell));
    ps::Statement statement =
        IsA(part, Query) ? QueryStatement(AsQuery(part))
                         : RowsStatement(ps::Command::kCopy, RelationOf(part), castNode(CopyStmt, part)->attlist);
    statement.limited_to_nothing =
        IsA(part, Query) && IsLimitedToNothing(AsQuery(part)) && !list_member_ptr(explained, part);
    CallCoreOrRaise([&] { parts->object->push_back(ps::Abstract(statement)); });
  }
  CallCoreOrRaise([&] { tokens->object = new ps::Tokens(ps::UnionTokens(*parts->object)); });
  PG_RETURN_ARRAYTYPE_P(TokenArray(*tokens->object));
}

// reads_protected(sql)
Datum ps_reads_protected(PG_FUNCTION_ARGS) {
  bool reads = false;
  ListCell* cell;
  foreach (cell, AnalyzedParts(PG_GETARG_TEXT_PP(0), nullptr)) {
    auto* part = static_cast<Node*>(lfirst(cell));
    reads = reads ||
            (IsA(part, Query) ? PlanReadsProtected(pg_plan_query(AsQuery(part), "", CURSOR_OPT_PARALLEL_OK, nullptr))
                              : RelationIsProtected(RelationOf(part)));
  }
  PG_RETURN_BOOL(reads);
}

// requoted(tokens): with the fewest quotes (core/base/names.hpp), sorted as Abstract() sorts them.
Datum ps_requoted(PG_FUNCTION_ARGS) {
  const TokenList list = TokensArgument(PG_GETARG_ARRAYTYPE_P(0));
  CoreHolder<ps::Tokens>* tokens = NewCoreHolder<ps::Tokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    tokens->object = new ps::Tokens();
    for (int i = 0; i < list.count; ++i) tokens->object->push_back(ps::WithFewestQuotes(list.tokens[i]));
    ps::SortUnique(*tokens->object);
  });
  PG_RETURN_ARRAYTYPE_P(TokenArray(*tokens->object));
}

// abstraction_id(tokens)
Datum ps_abstraction_id(PG_FUNCTION_ARGS) {
  const TokenList list = TokensArgument(PG_GETARG_ARRAYTYPE_P(0));
  int64 id = 0;
  CallCoreOrRaise([&] { id = ps::Fingerprint(ps::Tokens(list.tokens, list.tokens + list.count)); });
  PG_RETURN_INT64(id);
}

// canonical_name(identifier)
Datum ps_canonical_name(PG_FUNCTION_ARGS) { PG_RETURN_TEXT_P(cstring_to_text(QuoteName(NameStr(*PG_GETARG_NAME(0))))); }

}  // namespace privacy_score
