/*
 * query_rates.cpp - see query_rates.hpp.
 */
#include "query_rates.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/varlena.h"
}

#include <string>
#include <vector>

#include "internal.hpp"
#include "relation_rates.hpp"
#include "settings.hpp"
#include "text_statements.hpp"

namespace {

RevealedRelation* FindOrAdd(List** revealed, Oid relation) {
  ListCell* cell;
  foreach (cell, *revealed) {
    auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
    if (entry->relation == relation) return entry;
  }
  auto* entry = static_cast<RevealedRelation*>(palloc0(sizeof(RevealedRelation)));
  entry->relation = relation;
  *revealed = lappend(*revealed, entry);
  return entry;
}

// Adds one qualified column, when it exists.
void AddColumn(List** revealed, const char* column, Size relation_length) {
  if (relation_length == 0) return;
  const char* relation_name = pnstrdup(column, relation_length);
  const Oid relation =
      RangeVarGetRelid(makeRangeVarFromNameList(stringToQualifiedNameList(relation_name)), NoLock, true);
  List* parts = NIL;
  if (!OidIsValid(relation) || !SplitIdentifierString(pstrdup(column + relation_length + 1), '.', &parts) ||
      list_length(parts) != 1)
    return;
  const AttrNumber number = get_attnum(relation, static_cast<char*>(linitial(parts)));
  if (number <= 0) return;
  RevealedRelation* entry = FindOrAdd(revealed, relation);
  entry->attributes = bms_add_member(entry->attributes, number);
}

// Relations with equal text share a subject.
char* SubjectHome(Oid relation) {
  const char* args[] = {TextOfOid(relation)};
  InternalScope scope;
  EnterInternal(&scope);
  char* home = InternalValue("SELECT privacy_score.subject_home($1::pg_catalog.oid)", 1, args);
  LeaveInternal(&scope);
  return home == nullptr ? pstrdup("") : home;
}

}  // namespace

List* RevealedByText(const text* sql) {
  CoreHolder<privacy_score::Tokens>* tokens = TokensOfText(sql, GetUserId());
  CoreHolder<std::vector<std::string>>* columns = NewCoreHolder<std::vector<std::string>>(CurrentMemoryContext);
  const bool where_counts = ps_settings.where_counts;
  bool unparsed = false;
  CallCoreOrRaise([&] {
    unparsed = tokens->object->size() == 1 && tokens->object->front() == "unparsed";
    columns->Reset(new std::vector<std::string>(privacy_score::RevealedColumns(*tokens->object, where_counts)));
  });
  if (unparsed)
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("the statement does not parse"),
                    errhint("It is parsed as PostgreSQL %s would.", PG_MAJORVERSION)));
  List* revealed = NIL;
  const std::size_t count = columns->object->size();
  for (std::size_t i = 0; i < count; ++i) {
    const char* column = (*columns->object)[i].c_str();
    AddColumn(&revealed, column, privacy_score::RelationOfColumn(column).size());
  }
  return revealed;
}

List* UnionOfRevealed(List* a, List* b) {
  List* both = NIL;
  for (List* list : {a, b}) {
    ListCell* cell;
    foreach (cell, list) {
      const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
      RevealedRelation* sum = FindOrAdd(&both, entry->relation);
      sum->attributes = bms_add_members(sum->attributes, entry->attributes);
    }
  }
  return both;
}

const Bitmapset* RevealedOf(List* revealed, Oid relation) {
  ListCell* cell;
  foreach (cell, revealed) {
    const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
    if (entry->relation == relation) return entry->attributes;
  }
  return nullptr;
}

double QueryRate(List* revealed) {
  const int count = list_length(revealed);
  auto** homes = static_cast<char**>(palloc0(sizeof(char*) * (count + 1)));
  auto* sums = static_cast<double*>(palloc0(sizeof(double) * (count + 1)));
  double greatest = 0;
  for (int i = 0; i < count; ++i) {
    const auto* entry = static_cast<RevealedRelation*>(list_nth(revealed, i));
    homes[i] = SubjectHome(entry->relation);
    Bitmapset* subject = SubjectOf(entry->relation);
    if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "could not connect to SPI");
    const double rate = RelationRate(entry->relation, entry->attributes, subject);
    SPI_finish();
    int group = 0;
    while (strcmp(homes[group], homes[i]) != 0) ++group;
    sums[group] = Min(1.0, sums[group] + rate);
    greatest = Max(greatest, sums[group]);
  }
  return greatest;
}
