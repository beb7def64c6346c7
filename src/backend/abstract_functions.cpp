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
#include "mb/pg_wchar.h"
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

#include "catalog_source.hpp"
#include "compat.hpp"
#include "core/abstraction.hpp"
#include "query_statement.hpp"
#include "sqlparse/analyse.hpp"
#include "wire.hpp"

namespace ps = privacy_score;

namespace {

using Parts = std::vector<ps::Tokens>;

// Tokens as text[]. `is_utf8`: of sqlparse, else in the database's encoding. Null when that cannot hold one.
ArrayType* TokenArray(const ps::Tokens& tokens, bool is_utf8) {
  const auto count = static_cast<int>(tokens.size());
  if (count == 0) return construct_empty_array(TEXTOID);
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * tokens.size()));
  for (int i = 0; i < count; ++i) {
    const std::string& token = tokens[static_cast<std::size_t>(i)];
    const char* converted = is_utf8 ? FromUtf8(token.data(), static_cast<int>(token.size())) : token.c_str();
    if (converted == nullptr) return nullptr;
    elements[i] = CStringGetTextDatum(converted);
  }
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

// What the rounds between sqlparse and the catalogs keep.
struct TextRounds {
  ps::Catalog catalog;
  std::vector<ps::MissingName> missing;
  ps::Tokens tokens;
  std::string poster;
};

// Runs `step`, a core call that fills `missing`, until nothing is missing. What core refuses (a statement that is too
// large for it) is told by false.
template <typename Step>
bool RunRounds(CoreHolder<TextRounds>* rounds, Step step) {
  for (int round = 0; round < ps::kMaxCatalogRounds; ++round) {
    CoreError error;
    CallCoreOrRaise([&] { rounds->object->missing.clear(); });
    if (!CallCore(&error, [&] { step(rounds->object); })) return false;
    if (rounds->object->missing.empty()) return true;
    StringInfoData wire;
    initStringInfo(&wire);
    AppendCatalog(&wire, rounds->object->missing);
    CallCoreOrRaise([&] {
      ps::WireReader reader(WireBytes(&wire));
      rounds->object->catalog.Feed(reader);
    });
  }
  return true;
}

CoreHolder<TextRounds>* NewRounds() {
  CoreHolder<TextRounds>* rounds = NewCoreHolder<TextRounds>(CurrentMemoryContext);
  CallCoreOrRaise([&] { rounds->object = new TextRounds(); });
  return rounds;
}

}  // namespace

Datum ps_abstract_query(PG_FUNCTION_ARGS) {
  text* sql = PG_GETARG_TEXT_PP(0);
  int length;
  const char* utf8 = ToUtf8(VARDATA_ANY(sql), static_cast<int>(VARSIZE_ANY_EXHDR(sql)), &length);
  const std::string_view view(utf8, static_cast<std::size_t>(length));
  CoreHolder<TextRounds>* rounds = NewRounds();
  const bool done =
      RunRounds(rounds, [&](TextRounds* all) { all->tokens = ps::AbstractText(view, all->catalog, &all->missing); });
  ArrayType* result = done ? TokenArray(rounds->object->tokens, true) : nullptr;
  if (result == nullptr) {
    Datum unparsed = CStringGetTextDatum("unparsed");
    result = construct_array(&unparsed, 1, TEXTOID, -1, false, TYPALIGN_INT);
  }
  PG_RETURN_ARRAYTYPE_P(result);
}

Datum ps_abstract_query_poster(PG_FUNCTION_ARGS) {
  text* sql = PG_GETARG_TEXT_PP(0);
  int length;
  const char* utf8 = ToUtf8(VARDATA_ANY(sql), static_cast<int>(VARSIZE_ANY_EXHDR(sql)), &length);
  const std::string_view view(utf8, static_cast<std::size_t>(length));
  CoreHolder<TextRounds>* rounds = NewRounds();
  const bool done =
      RunRounds(rounds, [&](TextRounds* all) { all->poster = ps::PosterText(view, all->catalog, &all->missing); });
  const std::string& poster = rounds->object->poster;
  const char* result = done ? FromUtf8(poster.data(), static_cast<int>(poster.size())) : nullptr;
  PG_RETURN_TEXT_P(cstring_to_text(result == nullptr ? "{UNPARSED}" : result));
}

Datum ps_abstract_query_analyzed(PG_FUNCTION_ARGS) {
  const char* sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
  CoreHolder<Parts>* parts = NewCoreHolder<Parts>(CurrentMemoryContext);
  CoreHolder<ps::Tokens>* tokens = NewCoreHolder<ps::Tokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] { parts->object = new Parts(); });
  ListCell* cell;
  foreach (cell, pg_parse_query(sql)) AddAnalyzed(parts, AnalyzeStatement(lfirst_node(RawStmt, cell), sql), sql);
  CallCoreOrRaise([&] { tokens->object = new ps::Tokens(ps::UnionTokens(*parts->object)); });
  PG_RETURN_ARRAYTYPE_P(TokenArray(*tokens->object, false));
}
