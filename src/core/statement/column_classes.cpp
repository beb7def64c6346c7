/*
 * column_classes.cpp - see column_classes.hpp.
 */
#include "core/statement/column_classes.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace privacy_score {

namespace {

// Whether one column of the relation is a key of it, or refers to one, by itself.
bool IsKeyOf(const Relation& relation, int column) {
  for (const ArenaList<Key>* keys : {&relation.keys, &relation.references})
    for (const Key* key : *keys)
      if (key->size == 1 && key->columns[0] == column) return true;
  return false;
}

}  // namespace

bool IsKey(const ItemColumn& column) {
  const Relation& relation = *RangeOf(column.item)->relation;
  if (IsKeyOf(relation, column.column)) return true;
  if (relation.origins == nullptr) return false;
  for (const Origin* origin : relation.origins->columns[column.column])
    if (IsKeyOf(*origin->relation, origin->column)) return true;
  return false;
}

void ColumnClasses::Pin(const std::vector<ItemColumn>& columns) {
  for (const ItemColumn& column : columns) nodes_[NodeOf(column)].pinned = true;
}

void ColumnClasses::PinKeys(const std::vector<ItemColumn>& columns) {
  for (const ItemColumn& column : columns)
    if (IsKey(column)) Pin({column});
}

void ColumnClasses::Group(const std::vector<ItemColumn>& columns) {
  for (const ItemColumn& column : columns) nodes_[NodeOf(column)].grouped = true;
}

void ColumnClasses::Equate(const ItemColumn& a, const ItemColumn& b) {
  const std::size_t root = RootOf(NodeOf(a));
  const std::size_t other = RootOf(NodeOf(b));
  if (other == root) return;
  nodes_[other].parent = root;
  nodes_[root].members += nodes_[other].members;
}

void ColumnClasses::Bound(const ItemColumn& column, const Limit* limit) {
  Node& node = nodes_[NodeOf(column)];
  (limit->lower ? node.lower : node.upper).push_back(limit);
}

std::vector<ItemColumn> ColumnClasses::Naming() {
  PinBounded();
  Spread();
  std::vector<ItemColumn> naming;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& root = nodes_[RootOf(i)];
    // What is fixed by a key of its own row says no more than that key.
    if (root.pinned || (root.fixed && root.members > 1 && !nodes_[i].grouped)) naming.push_back(nodes_[i].column);
  }
  return naming;
}

// What lies between two limits that leave one value, or may do so.
void ColumnClasses::PinBounded() {
  for (Node& node : nodes_)
    for (const Limit* lower : node.lower)
      for (const Limit* upper : node.upper) {
        const bool known = lower->kind != Limit::kUnknown && upper->kind != Limit::kUnknown &&
                           (lower->kind == Limit::kParameter) == (upper->kind == Limit::kParameter);
        const bool same_parameter = lower->kind == Limit::kParameter && lower->parameter == upper->parameter;
        const bool open = !known || (lower->kind == Limit::kParameter && !same_parameter);
        if (open ? IsKey(node.column) : LeavesOne(*lower, *upper)) node.pinned = true;
      }
}

// What holds for a column holds for its class, and for the row that it is a key of.
void ColumnClasses::Spread() {
  do {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& root = nodes_[RootOf(i)];
      root.pinned = root.pinned || nodes_[i].pinned;
      root.moves = root.moves || nodes_[i].moves || nodes_[i].grouped;
      root.fixed = root.fixed || nodes_[i].fixed || root.moves;
    }
  } while (SpreadToRows() || SpreadToRanges());
}

// Of a row of which a key is known all columns are. True when that is new of one.
bool ColumnClasses::SpreadToRows() {
  std::map<Item, std::map<int, const Node*>> known;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (IsKnown(i)) known[nodes_[i].column.item][nodes_[i].column.column] = &nodes_[RootOf(i)];
  std::map<Item, bool> rows;  // and whether the row is another one in each group
  for (const auto& [item, columns] : known)
    for (const Key* key : RangeOf(item)->relation->keys) {
      int size = 0;
      bool moves = false;
      for (int i = 0; i < key->size; ++i)
        if (const auto column = columns.find(key->columns[i]); column != columns.end()) {
          ++size;
          moves = moves || !column->second->pinned;
        }
      if (size == key->size) rows.emplace(item, moves);
    }
  bool is_new = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto row = rows.find(nodes_[i].column.item);
    if (row == rows.end() || IsKnown(i)) continue;
    nodes_[i].fixed = is_new = true;
    nodes_[i].moves = row->second;
  }
  return is_new;
}

void ColumnClasses::JoinByRange(std::vector<ItemColumn> columns) {
  const auto is_elsewhere = [&](const ItemColumn& column) { return !(column.item == columns.front().item); };
  if (std::any_of(columns.begin(), columns.end(), is_elsewhere)) joined_.push_back(std::move(columns));
}

// A range whose end goes from group to group leaves one value between two groups: that tells keys, as a range that ends
// at rows that the statement makes; also by way of a range of the end. True when that is new of a class.
bool ColumnClasses::SpreadToRanges() {
  bool is_new = false;
  for (const std::vector<ItemColumn>& columns : joined_) {
    const auto moves = [&](const ItemColumn& column) {
      const Node& root = nodes_[RootOf(NodeOf(column))];
      return root.moves || root.ranged;
    };
    if (std::none_of(columns.begin(), columns.end(), moves)) continue;
    for (const ItemColumn& column : columns)
      if (!moves(column)) nodes_[RootOf(NodeOf(column))].ranged = is_new = true;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[RootOf(i)].ranged && IsKey(nodes_[i].column)) nodes_[i].pinned = true;
  return is_new;
}

bool ColumnClasses::IsKnown(std::size_t node) {
  const Node& root = nodes_[RootOf(node)];
  return root.pinned || root.fixed;
}

std::size_t ColumnClasses::NodeOf(const ItemColumn& column) {
  const auto [place, is_new] = node_ids_.emplace(std::make_pair(column.item, column.column), nodes_.size());
  if (is_new) nodes_.push_back({column, nodes_.size()});
  return place->second;
}

std::size_t ColumnClasses::RootOf(std::size_t node) {
  while (nodes_[node].parent != node) node = nodes_[node].parent = nodes_[nodes_[node].parent].parent;
  return node;
}

bool LeavesOne(const Limit& lower, const Limit& upper) {
  if (lower.kind != upper.kind) return false;
  switch (lower.kind) {
    case Limit::kNumber: {
      const double first = lower.strict ? std::floor(lower.number) + 1 : std::ceil(lower.number);
      const double last = upper.strict ? std::ceil(upper.number) - 1 : std::floor(upper.number);
      // What is outside of both may be one value, too: NOT (x <= 6 OR x >= 8).
      return first == last || first - last == 2 || lower.number == upper.number;
    }
    case Limit::kText:
      return lower.hash == upper.hash;
    case Limit::kParameter:
      return lower.parameter == upper.parameter;
    case Limit::kUnknown:
      break;
  }
  return false;
}

}  // namespace privacy_score
