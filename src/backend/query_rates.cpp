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

namespace {

// Relations about the same subjects.
struct SubjectGroup {
  const char* home;  // SubjectHome
  List* parts;       // RevealedRelation
  Oid joint_home;    // where the current user may join them; InvalidOid: nowhere
};

// The groups of what is revealed.
List* GroupsOf(List* revealed) {
  List* groups = NIL;
  const ListCell* cell;
  foreach (cell, revealed) {
    auto* part = static_cast<RevealedRelation*>(lfirst(cell));
    const char* home = SubjectHome(part->relation);
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
    group->parts = lappend(group->parts, part);
  }
  foreach (cell, groups) {
    auto* group = static_cast<SubjectGroup*>(lfirst(cell));
    if (list_length(group->parts) < 2) continue;
    const ListCell* part;
    foreach (part, group->parts) {
      const Oid home = ReadableJointHome(static_cast<RevealedRelation*>(lfirst(part))->relation);
      if (part != list_head(group->parts) && home != group->joint_home) {
        group->joint_home = InvalidOid;
        break;
      }
      group->joint_home = home;
    }
  }
  return groups;
}

void Connect() {
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "could not connect to SPI");
}

// What of a list is of the relations of a group.
List* PartsOf(List* revealed, const SubjectGroup* group) {
  List* parts = NIL;
  const ListCell* cell;
  foreach (cell, group->parts) {
    const Oid relation = static_cast<RevealedRelation*>(lfirst(cell))->relation;
    const ListCell* other;
    foreach (other, revealed)
      if (static_cast<RevealedRelation*>(lfirst(other))->relation == relation) parts = lappend(parts, lfirst(other));
  }
  return parts;
}

// How the statements compare in one relation.
privacy_score::RevealOrder OrderInRelation(const RevealedRelation* both, List* first, List* second) {
  const Bitmapset* sets[] = {RevealedOf(first, both->relation), RevealedOf(second, both->relation), both->attributes};
  double rates[3];
  Bitmapset* subject = SubjectOf(both->relation);
  Connect();
  RelationRates(both->relation, sets, 3, subject, rates, nullptr);
  SPI_finish();
  auto order = privacy_score::RevealOrder::kEquivalent;
  CallCoreOrRaise([&] { order = privacy_score::CompareRates(rates[0], rates[1], rates[2]); });
  return order;
}

// How they compare by what all relations of a group say of a subject.
privacy_score::RevealOrder OrderInGroup(const SubjectGroup* group, List* first, List* second) {
  List* sets[] = {PartsOf(first, group), PartsOf(second, group), group->parts};
  double rates[3];
  Connect();
  JointRates(group->joint_home, sets, 3, rates, nullptr);
  SPI_finish();
  auto order = privacy_score::RevealOrder::kEquivalent;
  CallCoreOrRaise([&] { order = privacy_score::CompareRates(rates[0], rates[1], rates[2]); });
  return order;
}

bool HasMore(privacy_score::RevealOrder order) {
  return order == privacy_score::RevealOrder::kMore || order == privacy_score::RevealOrder::kIncomparable;
}

bool HasLess(privacy_score::RevealOrder order) {
  return order == privacy_score::RevealOrder::kLess || order == privacy_score::RevealOrder::kIncomparable;
}

}  // namespace

double QueryRate(List* revealed) {
  double greatest = 0;
  const ListCell* cell;
  foreach (cell, GroupsOf(revealed)) {
    const auto* group = static_cast<SubjectGroup*>(lfirst(cell));
    double sum = 0;
    double greatest_part = 0;
    const ListCell* other;
    foreach (other, group->parts) {
      const auto* part = static_cast<RevealedRelation*>(lfirst(other));
      Bitmapset* subject = SubjectOf(part->relation);
      Connect();
      const double rate = RelationRate(part->relation, part->attributes, subject);
      SPI_finish();
      sum = Min(1.0, sum + rate);
      greatest_part = Max(greatest_part, rate);
    }
    if (OidIsValid(group->joint_home) && greatest_part < 1) {
      Connect();
      JointRates(group->joint_home, &group->parts, 1, &sum, nullptr);
      SPI_finish();
      sum = Max(sum, greatest_part);
    }
    greatest = Max(greatest, sum);
  }
  return greatest;
}

privacy_score::RevealOrder OrderOf(List* first, List* second) {
  using privacy_score::RevealOrder;
  bool first_has_more = false;
  bool second_has_more = false;
  const ListCell* cell;
  foreach (cell, GroupsOf(UnionOfRevealed(first, second))) {
    const auto* group = static_cast<SubjectGroup*>(lfirst(cell));
    bool more = false;
    bool less = false;
    const ListCell* part;
    foreach (part, group->parts) {
      const RevealOrder order = OrderInRelation(static_cast<RevealedRelation*>(lfirst(part)), first, second);
      more |= HasMore(order);
      less |= HasLess(order);
    }
    if ((more || less) && OidIsValid(group->joint_home)) {
      const RevealOrder order = OrderInGroup(group, first, second);
      more = more && HasMore(order);
      less = less && HasLess(order);
    }
    first_has_more |= more;
    second_has_more |= less;
  }
  if (first_has_more) return second_has_more ? RevealOrder::kIncomparable : RevealOrder::kMore;
  return second_has_more ? RevealOrder::kLess : RevealOrder::kEquivalent;
}
