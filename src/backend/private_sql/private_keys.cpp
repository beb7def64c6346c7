/*
 * private_keys.cpp - see private_keys.hpp.
 */
#include "backend/private_sql/private_keys.hpp"

extern "C" {
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
}

#include "backend/private_sql/private_functions.hpp"
#include "backend/private_sql/private_key_values.hpp"
#include "backend/private_sql/private_refusals.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat_query.hpp"

namespace privacy_score {

namespace {

// Keys that vary together: their values are tuples.
struct KeyComponent {
  List* places;  // of the keys, from 0
  List* tuples;  // lists of Const
};

// The keys as the part with constants has them.
List* KeysOf(const PrivateLevel* level, const ::Query* part) {
  List* keys = NIL;
  for (int i = 0; i < level->key_count; ++i)
    keys = lappend(keys, list_nth_node(TargetEntry, part->targetList, level->person_count + i)->expr);
  return keys;
}

// Keys that are made of columns of one public item vary together; each other one alone.
bool FindComponents(const PrivateLevel* level, ::Query* part, List** components) {
  const List* keys = KeysOf(level, part);
  Bitmapset* done = nullptr;
  for (int i = 0; i < level->key_count; ++i) {
    if (bms_is_member(i, done)) continue;
    auto* component = static_cast<KeyComponent*>(palloc0(sizeof(KeyComponent)));
    auto* key = static_cast<Node*>(list_nth(keys, i));
    const int item = PublicItemOf(level, part, key);
    if (item == 0) {
      component->places = list_make1_int(i);
      component->tuples = ValuesOfKey(level, part, key);
    } else {
      List* together = NIL;
      for (int other = i; other < level->key_count; ++other) {
        auto* expression = static_cast<Node*>(list_nth(keys, other));
        if (PublicItemOf(level, part, expression) != item) continue;
        together = lappend(together, expression);
        component->places = lappend_int(component->places, other);
        done = bms_add_member(done, other);
      }
      component->tuples = TuplesOfItem(part, item, together);
    }
    if (component->tuples == NIL) return false;
    *components = lappend(*components, component);
  }
  return true;
}

// What is left of FROM without some items, whose outer joins keep the rows of the others.
Node* FromWithout(Node* node, const Bitmapset* items) {
  if (IsA(node, RangeTblRef)) return bms_is_member(castNode(RangeTblRef, node)->rtindex, items) ? nullptr : node;
  if (IsA(node, JoinExpr)) {
    auto* join = castNode(JoinExpr, node);
    Node* left = FromWithout(join->larg, items);
    Node* right = FromWithout(join->rarg, items);
    if (left == nullptr || right == nullptr) return left == nullptr ? right : left;
    join->larg = left;
    join->rarg = right;
    return node;
  }
  auto* from = castNode(FromExpr, node);
  List* kept = NIL;
  const ListCell* cell;
  foreach (cell, from->fromlist) {
    Node* one = FromWithout(static_cast<Node*>(lfirst(cell)), items);
    if (one != nullptr) kept = lappend(kept, one);
  }
  List* quals = NIL;
  foreach (cell, make_ands_implicit(reinterpret_cast<::Expr*>(from->quals)))
    if (!bms_overlap(EntriesNamedBy(static_cast<Node*>(lfirst(cell))), items)) quals = lappend(quals, lfirst(cell));
  from->fromlist = kept;
  from->quals = quals == NIL ? nullptr : reinterpret_cast<Node*>(make_ands_explicit(quals));
  return kept == NIL ? nullptr : node;
}

bool CollectUsed(Node* node, void* context) {
  if (node == nullptr || IsA(node, Query)) return false;
  auto** used = static_cast<Bitmapset**>(context);
  if (IsA(node, RangeTblRef)) *used = bms_add_member(*used, castNode(RangeTblRef, node)->rtindex);
  if (IsA(node, JoinExpr)) *used = bms_add_member(*used, castNode(JoinExpr, node)->rtindex);
  return WalkChildren(node, CollectUsed, context);
}

// The public rows of a level alone, with its keys.
::Query* PublicRows(const PrivateLevel* level, const ::Query* part) {
  ::Query* query = CopyTree(part);
  Bitmapset* items = nullptr;
  const ListCell* cell;
  foreach (cell, level->null_side) items = bms_add_member(items, lfirst_int(cell));
  List* targets = NIL;
  for (int i = 0; i < level->key_count; ++i) {
    auto* target = list_nth_node(TargetEntry, query->targetList, level->person_count + i);
    target->resno = static_cast<AttrNumber>(i + 1);
    targets = lappend(targets, target);
  }
  query->targetList = targets;
  query->jointree = castNode(FromExpr, FromWithout(reinterpret_cast<Node*>(query->jointree), items));
  Bitmapset* used = nullptr;
  (void)CollectUsed(reinterpret_cast<Node*>(query->jointree), &used);
  for (int index = 1; index <= list_length(query->rtable); ++index)
    if (!bms_is_member(index, used)) LeaveOutEntry(query, index);
  return MutateQuery(query, GuardCalls, nullptr);
}

// All keys vary together where groups are those of public rows.
List* PublicRowsComponent(const PrivateLevel* level, const ::Query* part) {
  auto* component = static_cast<KeyComponent*>(palloc0(sizeof(KeyComponent)));
  List* keys = KeysOf(level, part);
  for (int i = 0; i < level->key_count; ++i) component->places = lappend_int(component->places, i);
  component->tuples = TuplesOfQuery(PublicRows(level, part), keys);
  if (list_length(component->tuples) > kMostPublicGroups)
    RefusePrivately(nullptr, psprintf("the public rows make more than %d groups", kMostPublicGroups),
                    "Join with JOIN, or choose fewer of them in WHERE.");
  return list_make1(component);
}

}  // namespace

PublicGroups* FindPublicGroups(const PrivateLevel* level, ::Query* part) {
  if (level->key_count == 0) return nullptr;
  List* components = NIL;
  if (level->null_side != NIL)
    components = PublicRowsComponent(level, part);
  else if (!FindComponents(level, part, &components))
    return nullptr;
  double count = 1;
  const ListCell* cell;
  foreach (cell, components) count *= list_length(static_cast<KeyComponent*>(lfirst(cell))->tuples);
  if (count > kMostPublicGroups) return nullptr;
  auto* groups = static_cast<PublicGroups*>(palloc0(sizeof(PublicGroups)));
  groups->count = static_cast<int>(count);
  groups->columns = level->key_count;
  const Size cells = static_cast<Size>(groups->count) * static_cast<Size>(level->key_count);
  groups->values = static_cast<Datum*>(palloc0(sizeof(Datum) * cells));
  groups->nulls = static_cast<bool*>(palloc0(sizeof(bool) * cells));
  int repeats = 1;
  foreach (cell, components) {
    const auto* component = static_cast<KeyComponent*>(lfirst(cell));
    const int size = list_length(component->tuples);
    for (int group = 0; group < groups->count; ++group) {
      const List* tuple = list_nth_node(List, component->tuples, group / repeats % size);
      for (int i = 0; i < list_length(component->places); ++i) {
        const auto* value = list_nth_node(Const, tuple, i);
        const int at = group * groups->columns + list_nth_int(component->places, i);
        groups->values[at] = value->constvalue;
        groups->nulls[at] = value->constisnull;
      }
    }
    repeats *= size;
  }
  return groups;
}

}  // namespace privacy_score
