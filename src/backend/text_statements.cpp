/*
 * text_statements.cpp - see text_statements.hpp.
 *
 * sqlparse answers with the names that it misses; they are looked up and the text is analysed again, until nothing is
 * missing (sqlparse/catalog.hpp).
 */
#include "text_statements.hpp"

extern "C" {
#include "utils/builtins.h"
}

#include <string>
#include <vector>

#include "catalog_source.hpp"
#include "sqlparse/analyse.hpp"

namespace {

using privacy_score::Catalog;
using privacy_score::MissingName;

struct Analysis {
  Catalog catalog;
  std::vector<MissingName> missing;
};

// Calls `analyse(catalog, missing)` in rounds until no name is missing.
template <typename Analyse>
void AnalyseInRounds(Analyse analyse) {
  CoreHolder<Analysis>* state = NewCoreHolder<Analysis>(CurrentMemoryContext);
  CallCoreOrRaise([&] { state->Reset(new Analysis()); });
  for (int round = 0; round < privacy_score::kMaxCatalogRounds; ++round) {
    CallCoreOrRaise([&] {
      state->object->missing.clear();
      analyse(state->object->catalog, &state->object->missing);
    });
    if (state->object->missing.empty()) break;
    StringInfoData wire;
    initStringInfo(&wire);
    AppendCatalog(&wire, state->object->missing);
    CallCoreOrRaise([&] {
      privacy_score::WireReader reader(WireBytes(&wire));
      state->object->catalog.Feed(reader);
    });
    pfree(wire.data);
  }
  state->Reset(nullptr);
}

}  // namespace

CoreHolder<privacy_score::Tokens>* TokensOfText(const text* sql) {
  int length;
  const char* utf8 = ToUtf8(VARDATA_ANY(sql), static_cast<int>(VARSIZE_ANY_EXHDR(sql)), &length);
  CoreHolder<privacy_score::Tokens>* tokens = NewCoreHolder<privacy_score::Tokens>(CurrentMemoryContext);
  AnalyseInRounds([&](const Catalog& catalog, std::vector<MissingName>* missing) {
    tokens->Reset(new privacy_score::Tokens(
        privacy_score::AbstractText({utf8, static_cast<std::size_t>(length)}, catalog, missing)));
  });
  return tokens;
}

CoreHolder<std::string>* PosterOfText(const text* sql) {
  int length;
  const char* utf8 = ToUtf8(VARDATA_ANY(sql), static_cast<int>(VARSIZE_ANY_EXHDR(sql)), &length);
  CoreHolder<std::string>* poster = NewCoreHolder<std::string>(CurrentMemoryContext);
  AnalyseInRounds([&](const Catalog& catalog, std::vector<MissingName>* missing) {
    poster->Reset(new std::string(privacy_score::PosterText({utf8, static_cast<std::size_t>(length)}, catalog, missing)));
  });
  return poster;
}
