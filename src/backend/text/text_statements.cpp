/*
 * text_statements.cpp - see text_statements.hpp.
 *
 * sqlparse answers with the names that it misses; they are looked up and the text is analysed again, until nothing is
 * missing (sqlparse/catalog.hpp). sqlparse works in UTF-8, the backend in the database's encoding.
 */
#include "backend/text/text_statements.hpp"

extern "C" {
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

#include <algorithm>
#include <string_view>
#include <vector>

#include "backend/catalog/catalog_source.hpp"
#include "backend/query/described_relations.hpp"
#include "backend/server/cancellable_call.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "sqlparse/described.hpp"

namespace privacy_score {

namespace {

using privacy_score::Catalog;
using privacy_score::Tokens;

// What the rounds between sqlparse and the catalogs keep.
struct TextRounds {
  Catalog catalog;
  std::vector<privacy_score::MissingName> missing;
  Tokens tokens;
  std::string poster;
};

// Whether a text reads the statistics, whose rows show values of tables.
bool NamesStatistics(const std::vector<privacy_score::MissingName>* missing) {
  for (const privacy_score::MissingName& name : *missing)
    if (name.kind == privacy_score::MissingName::Kind::kRelation && privacy_score::StatisticsOf(name.name) != nullptr)
      return true;
  return false;
}

// Runs `step`, a core call that fills `missing` and gives up by StatementEnds(), until nothing is missing. What core
// refuses (a statement that is too large for it) is told by false; that memory runs out is raised.
template <typename Step>
bool RunRounds(CoreHolder<TextRounds>* rounds, Oid role, Step step) {
  CallCoreOrRaise([&] { rounds->Reset(new TextRounds()); });
  for (int round = 0; round < privacy_score::kMaxCatalogRounds; ++round) {
    for (bool is_finished = false; !is_finished;) {
      CoreError error;
      const bool is_good = CallCore(&error, [&] {
        rounds->object->missing.clear();
        is_finished = privacy_score::Finishes([&] { step(rounds->object); });
      });
      CHECK_FOR_INTERRUPTS();
      if (!is_good && strcmp(error.sqlstate, "53200") == 0) RaiseCoreError(error);
      if (!is_good) return false;
    }
    if (rounds->object->missing.empty()) return true;
    StringInfoData wire;
    initStringInfo(&wire);
    AppendCatalog(&wire, rounds->object->missing, role, round == 0);
    if (NamesStatistics(&rounds->object->missing)) AppendDescribed(&wire, role);
    CallCoreOrRaise([&] {
      privacy_score::WireReader reader(WireBytes(&wire));
      rounds->object->catalog.Feed(reader);
    });
    pfree(wire.data);
  }
  return true;
}

// A text is read with at most so many times work_mem a step.
constexpr std::size_t kWorkMems = 16;

std::size_t MemoryOfText() { return static_cast<std::size_t>(work_mem) * 1024 * kWorkMems; }

// Whether a text is within text_limit; a longer one is not looked at.
bool IsWithinLimit(const text* sql) {
  return VARSIZE_ANY_EXHDR(sql) <= static_cast<std::size_t>(ps_settings.text_limit) * 1024;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Appends a token to `tokens` in the database's encoding; false when that cannot hold it.
bool AddConverted(Tokens* tokens, const std::string* token) {
  const char* converted = FromUtf8(token->data(), static_cast<int>(token->size()));
  if (converted == nullptr) return false;
  CallCoreOrRaise([&] { tokens->emplace_back(converted); });
  return true;
}

}  // namespace

CoreHolder<Tokens>* TokensOfText(const text* sql, Oid role, privacy_score::TextUse use,
                                 privacy_score::SessionTables* session, privacy_score::TextConstants* constants) {
  int length = 0;
  const bool fits = IsWithinLimit(sql);
  const char* utf8 = fits ? ToUtf8(VARDATA_ANY(sql), static_cast<int>(VARSIZE_ANY_EXHDR(sql)), &length) : "";
  const std::string_view view(utf8, static_cast<std::size_t>(length));
  const std::size_t memory = MemoryOfText();
  CoreHolder<TextRounds>* rounds = NewCoreHolder<TextRounds>(CurrentMemoryContext);
  privacy_score::TextReading reading;
  reading.gives_up = StatementEnds;
  reading.use = use;
  reading.memory = memory;
  reading.session = session;
  reading.constants = constants;
  bool done = fits && RunRounds(rounds, role, [&](TextRounds* all) {
                all->tokens = privacy_score::AbstractText(view, all->catalog, &all->missing, reading);
              });
  CoreHolder<Tokens>* tokens = NewCoreHolder<Tokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] { tokens->Reset(new Tokens()); });
  const std::size_t count = done ? rounds->object->tokens.size() : 0;
  for (std::size_t i = 0; i < count && done; ++i) done = AddConverted(tokens->object, &rounds->object->tokens[i]);
  CallCoreOrRaise([&] {
    if (!done) *tokens->object = {"unparsed"};
    // Columns are known by hashes of their names, which are in the database's encoding elsewhere.
    if (constants != nullptr)
      constants->known = constants->known && done && (GetDatabaseEncoding() == PG_UTF8 || IsAscii(view));
  });
  rounds->Reset(nullptr);
  return tokens;
}

const char* PosterOfText(const text* sql, Oid role) {
  int length = 0;
  const bool fits = IsWithinLimit(sql);
  const char* utf8 = fits ? ToUtf8(VARDATA_ANY(sql), static_cast<int>(VARSIZE_ANY_EXHDR(sql)), &length) : "";
  const std::string_view view(utf8, static_cast<std::size_t>(length));
  const std::size_t memory = MemoryOfText();
  CoreHolder<TextRounds>* rounds = NewCoreHolder<TextRounds>(CurrentMemoryContext);
  const bool done = fits && RunRounds(rounds, role, [&](TextRounds* all) {
                      privacy_score::TextReading reading;
                      reading.gives_up = StatementEnds;
                      reading.memory = memory;
                      all->poster = privacy_score::PosterText(view, all->catalog, &all->missing, reading);
                    });
  const std::string* poster = done ? &rounds->object->poster : nullptr;
  const char* converted = done ? FromUtf8(poster->data(), static_cast<int>(poster->size())) : nullptr;
  return pstrdup(converted == nullptr ? "{UNPARSED}" : converted);
}

}  // namespace privacy_score
