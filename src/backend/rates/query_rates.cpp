/*
 * query_rates.cpp - see query_rates.hpp.
 */
#include "backend/rates/query_rates.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
}

#include <cmath>
#include <string>
#include <vector>

#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/subjects.hpp"
#include "backend/rates/relation_rates.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/role_access.hpp"
#include "backend/text/text_statements.hpp"
#include "core/scoring/aggregates.hpp"
#include "sqlparse/analyse.hpp"

namespace privacy_score {

namespace {

RevealedRelation* FindOrAddRevealed(List** revealed, Oid relation) {
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

// Raises 42501 where the current user may not use the schema.
Oid RelationForCaller(const char* name) {
  return RangeVarGetRelid(makeRangeVarFromNameList(QualifiedNameParts(name)), NoLock, true);
}

// Adds one qualified column; false when it does not exist.
bool AddRevealedColumn(List** revealed, const char* column, RelationFinder find) {
  Oid relation;
  AttrNumber number;
  if (!FindCanonicalColumn(column, find, &relation, &number)) return false;
  RevealedRelation* entry = FindOrAddRevealed(revealed, relation);
  entry->attributes = bms_add_member(entry->attributes, number);
  return true;
}

// Adds what tokens reveal; false when a column does not exist.
bool AddRevealed(List** revealed, const privacy_score::Tokens& tokens, RelationFinder find) {
  CoreHolder<std::vector<std::string>>* columns = NewCoreHolder<std::vector<std::string>>(CurrentMemoryContext);
  const bool where_counts = ps_settings.where_counts;
  CallCoreOrRaise(
      [&] { columns->Reset(new std::vector<std::string>(privacy_score::RevealedColumns(tokens, where_counts))); });
  bool all = true;
  const std::size_t count = columns->object->size();
  for (std::size_t i = 0; i < count; ++i) all &= AddRevealedColumn(revealed, (*columns->object)[i].c_str(), find);
  return all;
}

List* UnionOfRevealed(List* a, List* b) {
  List* both = NIL;
  for (List* list : {a, b}) {
    ListCell* cell;
    foreach (cell, list) {
      const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
      RevealedRelation* sum = FindOrAddRevealed(&both, entry->relation);
      sum->attributes = bms_add_members(sum->attributes, entry->attributes);
    }
  }
  return both;
}

// The attributes of a relation in such a list; null (the empty set) when it is not there.
const Bitmapset* RevealedOf(List* revealed, Oid relation) {
  ListCell* cell;
  foreach (cell, revealed) {
    const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
    if (entry->relation == relation) return entry->attributes;
  }
  return nullptr;
}

CoreHolder<privacy_score::Tokens>* ParsedText(const text* sql) {
  CoreHolder<privacy_score::Tokens>* tokens = TokensOfText(sql, GetUserId());
  if (privacy_score::IsUnparsed(*tokens->object))
    ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("the statement does not parse"),
                    errhint("It is parsed as PostgreSQL %d would.", privacy_score::kGrammarVersion / 10000)));
  return tokens;
}

CoreHolder<privacy_score::AggregateTokens>* ReadTokens(const privacy_score::Tokens& tokens) {
  auto* read = NewCoreHolder<privacy_score::AggregateTokens>(CurrentMemoryContext);
  CallCoreOrRaise([&] { read->Reset(new privacy_score::AggregateTokens(privacy_score::ReadAggregates(tokens))); });
  return read;
}

bool AddColumns(List** revealed, const std::vector<std::string>& columns, RelationFinder find) {
  bool all = true;
  const std::size_t count = columns.size();
  for (std::size_t i = 0; i < count; ++i) all &= AddRevealedColumn(revealed, columns[i].c_str(), find);
  return all;
}

// All columns of which rates are computed: what is revealed, what is under aggregates, what names their cells.
bool AddRated(List** rated, const privacy_score::Tokens& tokens, RelationFinder find) {
  bool all = AddRevealed(rated, tokens, find);
  const privacy_score::AggregateTokens& read = *ReadTokens(tokens)->object;
  const std::size_t count = read.aggregates.size();
  for (std::size_t i = 0; i < count; ++i) {
    all &= AddColumns(rated, read.aggregates[i].columns, find);
    all &= AddColumns(rated, read.cells, find);
    all &= AddColumns(rated, read.months, find);
  }
  return all;
}

// Whether the cells named by columns of relations about the subjects of `relation` have few of these
// (core/scoring/aggregates.hpp).
bool HasFewSubjects(Oid relation, List* cells, List* months) {
  const char* home = SubjectHome(SubjectPathOf(relation));
  double entropy = -1;  // the least; of no relation yet
  double told[2] = {};  // by the columns, and without those of months
  int cuts = 0;
  ListCell* cell;
  foreach (cell, UnionOfRevealed(cells, months)) {
    const auto* both = static_cast<RevealedRelation*>(lfirst(cell));
    if (both->relation != relation && strcmp(SubjectHome(SubjectPathOf(both->relation)), home) != 0) continue;
    const Bitmapset* sets[] = {both->attributes, RevealedOf(cells, both->relation)};
    double rates[2];
    SubjectFacts facts;
    ConnectSpi();
    RelationRates(both->relation, sets, lengthof(sets), SubjectOf(both->relation), rates, &facts);
    SPI_finish();
    if (entropy < 0 || facts.entropy < entropy) entropy = facts.entropy;
    for (int i = 0; i < 2; ++i) told[i] = Min(1.0, told[i] + rates[i]);
    cuts += bms_num_members(RevealedOf(months, both->relation));
  }
  if (entropy < 0) return false;
  double subjects = entropy * (1 - told[0]);
  if (cuts > 0) subjects = Max(subjects, entropy * (1 - told[1]) - cuts * privacy_score::MonthsLog());
  return subjects < log2(ps_settings.aggregate_least) - privacy_score::kRateTolerance ||
         subjects <= privacy_score::kRateTolerance;
}

// Adds the columns under aggregates that hide nothing, being over few subjects, or put into one number with their key.
void AddAggregated(List** revealed, const privacy_score::AggregateTokens& read) {
  if (ps_settings.aggregate_least == 0) return;
  List* cells = NIL;
  List* months = NIL;
  const std::size_t count = read.aggregates.size();
  if (count > 0) {
    AddColumns(&cells, read.cells, RelationForCaller);
    AddColumns(&months, read.months, RelationForCaller);
  }
  for (std::size_t i = 0; i < count; ++i) {
    List* under = NIL;
    AddColumns(&under, read.aggregates[i].columns, RelationForCaller);
    ListCell* cell;
    foreach (cell, under) {
      const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
      const Bitmapset* subject = SubjectOf(entry->relation);
      const bool packed =
          read.aggregates[i].packs && !bms_is_empty(subject) && bms_is_subset(subject, entry->attributes);
      if (packed || HasFewSubjects(entry->relation, cells, months))
        *revealed = UnionOfRevealed(*revealed, list_make1(lfirst(cell)));
    }
  }
}

}  // namespace

List* RevealedByText(const text* sql) {
  CoreHolder<privacy_score::Tokens>* tokens = ParsedText(sql);
  List* revealed = NIL;
  AddRevealed(&revealed, *tokens->object, RelationForCaller);
  AddAggregated(&revealed, *ReadTokens(*tokens->object)->object);
  return revealed;
}

List* RatedByText(const text* sql) {
  CoreHolder<privacy_score::Tokens>* tokens = ParsedText(sql);
  List* rated = NIL;
  AddRated(&rated, *tokens->object, RelationForCaller);
  return rated;
}

bool RatedByTokens(const privacy_score::Tokens& tokens, List** rated) {
  return AddRated(rated, tokens, RelationOfCanonicalName);
}

Oid HiddenRelation(List* revealed) {
  if (MayReadRole(InvalidOid)) return InvalidOid;
  ListCell* cell;
  foreach (cell, revealed) {
    const auto* entry = static_cast<RevealedRelation*>(lfirst(cell));
    if (check_enable_rls(entry->relation, InvalidOid, true) == RLS_ENABLED) return entry->relation;
    for (int column = -1; (column = bms_next_member(entry->attributes, column)) >= 0;)
      if (!MaySelect(entry->relation, static_cast<AttrNumber>(column))) return entry->relation;
  }
  return InvalidOid;
}

namespace {

// Two statements, and both together.
constexpr int kMostStatements = 3;

// Relations about the same subjects.
struct SubjectGroup {
  const char* home;  // SubjectHome
  Oid joint_home;    // where the current user may join some of them
  List* joined;      // these, of RevealedRelation
  List* others;      // likewise
};

// The groups of what is revealed.
List* GroupsOf(List* revealed) {
  List* groups = NIL;
  const ListCell* cell;
  foreach (cell, revealed) {
    auto* part = static_cast<RevealedRelation*>(lfirst(cell));
    const char* home = SubjectHome(SubjectPathOf(part->relation));
    SubjectGroup* group = nullptr;
    const ListCell* other;
    foreach (other, groups)
      if (strcmp(static_cast<SubjectGroup*>(lfirst(other))->home, home) == 0)
        group = static_cast<SubjectGroup*>(lfirst(other));
    if (group == nullptr) {
      group = static_cast<SubjectGroup*>(palloc0(sizeof(SubjectGroup)));
      group->home = home;
      groups = lappend(groups, group);
    }
    const Oid joint_home = list_length(revealed) > 1 ? ReadableJointHome(part->relation) : InvalidOid;
    if (OidIsValid(joint_home) && (group->joined == NIL || group->joint_home == joint_home)) {
      group->joint_home = joint_home;
      group->joined = lappend(group->joined, part);
    } else {
      group->others = lappend(group->others, part);
    }
  }
  return groups;
}

// What of a list is of the relations of another.
List* RevealedOfRelations(List* revealed, const List* relations) {
  List* parts = NIL;
  const ListCell* cell;
  foreach (cell, relations) {
    const Oid relation = static_cast<RevealedRelation*>(lfirst(cell))->relation;
    const ListCell* other;
    foreach (other, revealed)
      if (static_cast<RevealedRelation*>(lfirst(other))->relation == relation) parts = lappend(parts, lfirst(other));
  }
  return parts;
}

// How statements compare: what the first has beyond the second, and the other way round.
struct Excess {
  bool first;
  bool second;
};

// By their rates, and that of both together.
Excess ExcessOf(const double* rates) {
  using privacy_score::RevealOrder;
  auto order = RevealOrder::kEquivalent;
  CallCoreOrRaise([&] { order = privacy_score::CompareRates(rates[0], rates[1], rates[2]); });
  const bool incomparable = order == RevealOrder::kIncomparable;
  return {order == RevealOrder::kMore || incomparable, order == RevealOrder::kLess || incomparable};
}

// The rates of each statement in one relation, from one reading.
void RatesInRelation(Oid relation, List* const* statements, int count, double* rates) {
  const Bitmapset* sets[kMostStatements];
  for (int i = 0; i < count; ++i) sets[i] = RevealedOf(statements[i], relation);
  Bitmapset* subject = SubjectOf(relation);
  ConnectSpi();
  RelationRates(relation, sets, count, subject, rates, nullptr);
  SPI_finish();
}

// Adds the rate of each statement in relations that are joined to `rates`; what the statements have beyond each other
// (wanted when not null) there.
void AddJoined(const SubjectGroup* group, List* const* statements, int count, double* rates, Excess* excess) {
  double greatest[kMostStatements] = {};
  const ListCell* cell;
  foreach (cell, group->joined) {
    double in_relation[kMostStatements];
    RatesInRelation(static_cast<RevealedRelation*>(lfirst(cell))->relation, statements, count, in_relation);
    for (int i = 0; i < count; ++i) greatest[i] = Max(greatest[i], in_relation[i]);
    if (excess == nullptr) continue;
    const Excess here = ExcessOf(in_relation);
    *excess = {excess->first || here.first, excess->second || here.second};
  }
  // What one statement says of every subject may determine what the other says, though in no relation by itself.
  const bool joint_order = excess != nullptr && list_length(group->joined) > 1 && (excess->first || excess->second);
  List* sets[kMostStatements];
  int places[kMostStatements];
  int wanted = 0;
  for (int i = 0; i < count; ++i) {
    List* parts = RevealedOfRelations(statements[i], group->joined);
    if (parts == NIL || !(joint_order || (list_length(parts) > 1 && greatest[i] < 1))) continue;
    sets[wanted] = parts;
    places[wanted++] = i;
  }
  double joint[kMostStatements] = {};
  if (wanted > 0) {
    double computed[kMostStatements];
    ConnectSpi();
    JointRates(group->joint_home, sets, wanted, computed, nullptr);
    SPI_finish();
    for (int i = 0; i < wanted; ++i) {
      joint[places[i]] = computed[i];
      if (list_length(sets[i]) > 1) greatest[places[i]] = Max(greatest[places[i]], computed[i]);
    }
  }
  for (int i = 0; i < count; ++i) rates[i] = Min(1.0, rates[i] + greatest[i]);
  if (!joint_order) return;
  const Excess together = ExcessOf(joint);
  *excess = {excess->first && together.first, excess->second && together.second};
}

// DRSQL of each statement, `revealed` being what all of them reveal; what the statements have beyond each other.
void RateStatements(List* revealed, List* const* statements, int count, double* rates, Excess* excess) {
  const ListCell* cell;
  foreach (cell, GroupsOf(revealed)) {
    const auto* group = static_cast<SubjectGroup*>(lfirst(cell));
    double sums[kMostStatements] = {};
    Excess in_group = {false, false};
    const ListCell* other;
    foreach (other, group->others) {
      double in_relation[kMostStatements];
      RatesInRelation(static_cast<RevealedRelation*>(lfirst(other))->relation, statements, count, in_relation);
      for (int i = 0; i < count; ++i) sums[i] = Min(1.0, sums[i] + in_relation[i]);
      if (excess == nullptr) continue;
      const Excess here = ExcessOf(in_relation);
      *excess = {excess->first || here.first, excess->second || here.second};
    }
    AddJoined(group, statements, count, sums, excess == nullptr ? nullptr : &in_group);
    for (int i = 0; i < count; ++i) rates[i] = Max(rates[i], sums[i]);
    if (excess != nullptr) *excess = {excess->first || in_group.first, excess->second || in_group.second};
  }
}

}  // namespace

double QueryRate(List* revealed) {
  double rate = 0;
  RateStatements(revealed, &revealed, 1, &rate, nullptr);
  return rate;
}

QueryComparison CompareRevealed(List* first, List* second) {
  using privacy_score::RevealOrder;
  List* statements[] = {first, second, UnionOfRevealed(first, second)};
  double rates[kMostStatements] = {};
  Excess excess = {false, false};
  RateStatements(statements[2], statements, kMostStatements, rates, &excess);
  auto order = excess.second ? RevealOrder::kLess : RevealOrder::kEquivalent;
  if (excess.first) order = excess.second ? RevealOrder::kIncomparable : RevealOrder::kMore;
  return {order, rates[0], rates[1], rates[2]};
}

}  // namespace privacy_score
