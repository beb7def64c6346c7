/*
 * analyse.cpp - the entry of this layer: text in, Statements, tokens and the published form out.
 */
#include "sqlparse/analyse.hpp"

#include <utility>

#include "core/base/error.hpp"
#include "sqlparse/constants.hpp"
#include "sqlparse/own_stack.hpp"
#include "sqlparse/parse.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

Statement Unparsed() {
  Statement statement;
  statement.unparsed = true;
  return statement;
}

// Removes the nameless relation of columns that stay as written: "p:.col" is "p:col", and in the published form its own
// empty place. Quoted parts are left alone.
std::string WithoutNamelessRelation(const std::string& text) {
  std::string result;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    const char before = result.empty() ? ' ' : result.back();
    if (c == '.' && !quoted && (before == ':' || before == '(' || before == ',' || before == ' ')) continue;
    if ((c == ',' || c == '}') && !quoted && before == ' ') result.resize(result.size() - 2);
    result += c;
  }
  return result;
}

Tokens WithoutNamelessRelation(const Tokens& tokens) {
  Tokens result;
  for (const std::string& token : tokens)
    if (token != "t:") result.push_back(WithoutNamelessRelation(token));
  return result;
}

void ForgetConstants(const TextReading& reading) {
  if (reading.constants == nullptr) return;
  reading.constants->found = {};
  reading.constants->known = false;
}

// Throws TooDeep, and Error when the statement is too large.
std::vector<Statement> Analyse(std::string_view sql, const Catalog& catalog, Arena& arena,
                               std::vector<MissingName>* missing, const TextReading& reading) {
  const Parse parse(sql, {reading.memory, reading.gives_up, LevelsLeft()});
  if (parse.IsTooDeep()) throw TooDeep{};
  if (parse.tree() == nullptr) return {Unparsed()};
  std::vector<Statement> statements;
  TextConstants* constants = reading.constants;
  const HashKey* key = constants == nullptr ? nullptr : &constants->key;
  Resolver resolver(catalog, arena, missing, {reading.memory, reading.gives_up, key}, reading.session);
  for (std::size_t i = 0; i < parse.tree()->n_stmts; ++i) {
    const Node* raw = parse.tree()->stmts[i]->stmt;
    statements.push_back(resolver.Resolve(raw));
    statements.back().explained = reading.use == TextUse::kHistory && raw != nullptr && OnlyExplains(*raw);
    statements.back().limited_to_nothing = raw != nullptr && IsLimitedToNothing(*raw);
    if (constants != nullptr) AddConstants(*key, raw, statements.back(), &constants->found);
  }
  if (constants != nullptr) constants->known = true;
  return statements;
}

}  // namespace

std::vector<Statement> AnalyseText(std::string_view sql, const Catalog& catalog, Arena& arena,
                                   std::vector<MissingName>* missing, const TextReading& reading) {
  SessionTables* const session = reading.session;
  for (const StackSize size : {StackSize::kOrdinary, StackSize::kDeep}) {
    std::vector<Statement> statements;
    // As long as names are missing the text is read again.
    SessionTables tables = session == nullptr ? SessionTables() : *session;
    TextReading attempt = reading;
    if (session != nullptr) attempt.session = &tables;
    ForgetConstants(reading);
    try {
      OnOwnStack(size, [&] { statements = Analyse(sql, catalog, arena, missing, attempt); });
      if (session != nullptr && (missing == nullptr || missing->empty())) *session = std::move(tables);
      return statements;
    } catch (const TooDeep&) {
    } catch (const Error&) {
      break;
    }
  }
  ForgetConstants(reading);
  return {Unparsed()};
}

Tokens AbstractText(std::string_view sql, const Catalog& catalog, std::vector<MissingName>* missing,
                    const TextReading& reading) {
  HeapArena arena;
  std::vector<Tokens> parts;
  for (const Statement& statement : AnalyseText(sql, catalog, arena, missing, reading))
    parts.push_back(WithoutNamelessRelation(Abstract(statement)));
  return UnionTokens(parts);
}

std::string PosterText(std::string_view sql, const Catalog& catalog, std::vector<MissingName>* missing,
                       const TextReading& reading) {
  HeapArena arena;
  std::string text;
  for (const Statement& statement : AnalyseText(sql, catalog, arena, missing, reading)) {
    if (!text.empty()) text += ' ';
    text += WithoutNamelessRelation(PosterForm(statement));
  }
  return text;
}

}  // namespace privacy_score
