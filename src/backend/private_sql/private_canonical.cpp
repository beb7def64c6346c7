/*
 * private_canonical.cpp - see private_canonical.hpp.
 */
#include "backend/private_sql/private_canonical.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

#include "backend/private_sql/private_trees.hpp"
#include "backend/private_sql/private_values.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

namespace {

constexpr const char* kAggregateNames[] = {"count", "count persons", "sum", "avg"};

// The server's text of a tree, without places in the statement's text.
char* TextOf(const void* node) {
  char* text = nodeToString(const_cast<void*>(node));
  static constexpr const char* kPlace = ":location ";
  const Size length = strlen(kPlace);
  char* to = text;
  for (const char* from = text; *from != '\0';) {
    if (strncmp(from, kPlace, length) == 0) {
      from += length;
      while (*from == '-' || (*from >= '0' && *from <= '9')) ++from;
      continue;
    }
    *to++ = *from++;
  }
  *to = '\0';
  return text;
}

int CompareTexts(const ListCell* a, const ListCell* b) {
  return strcmp(static_cast<const char*>(lfirst(a)), static_cast<const char*>(lfirst(b)));
}

// Takes names out, and puts the operands of AND and OR into one order.
Node* Canonical(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, Query)) {
    ::Query* query = MutateQuery(AsQuery(node), Canonical, context, QTW_EXAMINE_RTES_BEFORE);
    query->stmt_location = query->stmt_len = -1;
    ListCell* cell;
    foreach (cell, query->rtable) {
      auto* rte = lfirst_node(RangeTblEntry, cell);
      rte->alias = nullptr;
      rte->eref = makeAlias("", NIL);
    }
    foreach (cell, query->targetList) lfirst_node(TargetEntry, cell)->resname = nullptr;
    return reinterpret_cast<Node*>(query);
  }
  if (IsA(node, RangeTblEntry)) return node;
  Node* copy = MutateChildren(node, Canonical, context);
  if (IsA(copy, JoinExpr)) castNode(JoinExpr, copy)->alias = nullptr;
  if (!IsA(copy, BoolExpr) || castNode(BoolExpr, copy)->boolop == NOT_EXPR) return copy;
  auto* operands = castNode(BoolExpr, copy);
  List* texts = NIL;
  const ListCell* cell;
  foreach (cell, operands->args) texts = lappend(texts, TextOf(lfirst(cell)));
  list_sort(texts, CompareTexts);
  // The text is all that is wanted of it.
  List* constants = NIL;
  foreach (cell, texts) constants = lappend(constants, makeString(static_cast<char*>(lfirst(cell))));
  operands->args = constants;
  return copy;
}

// Equal groups have equal texts.
void AppendGroups(StringInfo text, const PrivateLevel* level, const PublicGroups* groups) {
  appendStringInfo(text, "%d\n", groups == nullptr ? -1 : groups->count);
  for (int i = 0; groups != nullptr && i < groups->count * groups->columns; ++i) {
    const auto* key = reinterpret_cast<Node*>(TargetOf(level, level->person_count + i % groups->columns)->expr);
    const char* value = TextOfKey(getBaseType(exprType(key)), groups->values[i], groups->nulls[i]);
    appendStringInfo(text, "%d %s\n", value == nullptr ? -1 : static_cast<int>(strlen(value)),
                     value == nullptr ? "" : value);
  }
}

}  // namespace

const char* CanonicalLevel(const PrivateLevel* level, const ::Query* part, const PublicGroups* groups) {
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfo(&text, "%u\n%d %d %d\n", level->home, level->person_count, level->key_count, level->value_count);
  for (int i = 0; i < level->measure_count; ++i)
    appendStringInfo(&text, "%d %d %u\n", static_cast<int>(level->measures[i].aggregate), level->measures[i].value,
                     level->measures[i].type);
  if (level->most_rows > 0 && !level->one_row_a_person) appendStringInfo(&text, "at most %d rows\n", level->most_rows);
  AppendGroups(&text, level, groups);
  appendStringInfo(&text, "%d\n", list_length(level->null_side));
  if (contain_mutable_functions(reinterpret_cast<Node*>(const_cast<::Query*>(part))))
    appendStringInfo(&text, "%s\n%s\n", GetConfigOption("TimeZone", false, false),
                     GetConfigOption("DateStyle", false, false));
  appendStringInfoString(&text, TextOf(Canonical(reinterpret_cast<Node*>(const_cast<::Query*>(part)), nullptr)));
  return text.data;
}

const char* ShapeOf(const PrivateLevel* level) {
  StringInfoData text;
  initStringInfo(&text);
  const char* separator = "";
  for (int i = 0; i < level->measure_count; ++i) {
    appendStringInfo(&text, "%s%s", separator, kAggregateNames[static_cast<int>(level->measures[i].aggregate)]);
    separator = ", ";
  }
  separator = " of ";
  const ListCell* cell;
  foreach (cell, level->relations) {
    appendStringInfo(&text, "%s%s", separator, get_rel_name(lfirst_oid(cell)));
    separator = ", ";
  }
  separator = " by ";
  for (int key = 0; key < level->key_count; ++key) {
    appendStringInfo(&text, "%s%s", separator, strVal(list_nth(level->names, key)));
    separator = ", ";
  }
  return text.data;
}

}  // namespace privacy_score
