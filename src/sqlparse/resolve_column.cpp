/*
 * resolve_column.cpp - names of columns and rows, from the innermost query outward (parse_relation.c,
 * transformColumnRef).
 *
 * A name that nothing in sight is known to have belongs to the one item whose columns are not known, if there is just
 * one on the innermost level that has any; else it stays as written, as a column of a nameless relation.
 */
#include <algorithm>
#include <array>

#include "core/base/names.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

// So many are looked through.
constexpr std::size_t kFewColumns = 16;
constexpr std::array<std::string_view, 5> kDroppedSystemColumns = {"tableoid", "xmin", "cmin", "xmax", "cmax"};

bool IsInSight(const Level& level, const NamespaceItem& item) { return !item.lateral_only || level.lateral_active; }

}  // namespace

// The first column of that name; -1 when there is none.
int Resolver::FindColumn(const NamespaceItem& item, std::string_view name) {
  if (item.columns.size() <= kFewColumns) {
    for (std::size_t i = 0; i < item.columns.size(); ++i)
      if (item.columns[i].name == name) return static_cast<int>(i);
    return -1;
  }
  for (; item.placed < item.columns.size(); ++item.placed)
    item.places.emplace(item.columns[item.placed].name, static_cast<int>(item.placed));
  const auto found = item.places.find(name);
  return found == item.places.end() ? -1 : found->second;
}

Expr* Resolver::ColumnOf(const NamespaceItem& item, int column, int levels_up) {
  const NamespaceColumn& entry = item.columns[static_cast<std::size_t>(column)];
  return entry.expr != nullptr ? Clone(entry.expr, levels_up) : ColumnAt(item.range, column, levels_up);
}

// The index of a mentioned column in a relation that has no other columns than those.
int Resolver::AddMentioned(Relation* relation, std::string_view name) {
  const auto known = mentioned_.find({relation, name});
  if (known != mentioned_.end()) return known->second;
  Column* column = arena_.New<Column>();
  column->name = arena_.Copy(name);
  relation->columns.Add(column);
  return mentioned_[{relation, column->name}] = relation->columns.size - 1;
}

// The index in the range of an open item of a column that was not known; an open subquery hands it on.
int Resolver::AddOpenColumn(NamespaceItem* item, std::string_view name) {
  RequireStack();
  if (item->unresolved != nullptr) return AddMentioned(item->unresolved, QuoteName(name));
  if (item->arms.empty()) return 0;  // a function, of which all columns are alike
  int index = 0;
  for (const OpenArm& arm : item->arms) index = std::max(index, arm.query->outputs.size);
  for (const OpenArm& arm : item->arms) {
    Expr* column = nullptr;
    if (arm.item != nullptr && arm.item->range >= 0) {
      column = ColumnAt(arm.item->range, AddOpenColumn(arm.item, name), 0);
    } else if (arm.open) {
      Level level;
      level.query = arm.query;
      column = Stray(&level, QuoteName(name));
    } else {
      column = NewExpr(ExprKind::kConstant);
    }
    while (arm.query->outputs.size < index) arm.query->outputs.Add(NewExpr(ExprKind::kConstant));
    arm.query->outputs.Add(column);
  }
  item->columns.push_back({name, ColumnAt(item->range, index, 0)});
  return index;
}

// ctid stands for the row; the other system columns reveal nothing. Null for other names.
Expr* Resolver::SystemColumn(const NamespaceItem& item, std::string_view name, int levels_up) {
  if (!item.is_base) return nullptr;
  if (name == "ctid") {
    Expr* row = NewExpr(ExprKind::kWholeRow);
    row->range = item.range;
    row->levels_up = levels_up;
    return row;
  }
  for (const std::string_view dropped : kDroppedSystemColumns)
    if (name == dropped) return NewExpr(ExprKind::kConstant);
  return nullptr;
}

Expr* Resolver::WholeRow(NamespaceItem* item, int levels_up) {
  if (item->range >= 0 && !item->is_mapped) {
    Expr* row = NewExpr(ExprKind::kWholeRow);
    row->range = item->range;
    row->levels_up = levels_up;
    return row;
  }
  std::vector<Expr*> columns;
  for (std::size_t i = 0; i < item->columns.size(); ++i)
    columns.push_back(ColumnOf(*item, static_cast<int>(i), levels_up));
  for (NamespaceItem* open : item->open_items) columns.push_back(WholeRow(open, levels_up));
  return Other(columns);
}

// The column `name` of an item; null when it has none.
Expr* Resolver::ItemField(NamespaceItem* item, std::string_view name, int levels_up) {
  const int column = FindColumn(*item, name);
  if (column >= 0) return ColumnOf(*item, column, levels_up);
  if (Expr* system = SystemColumn(*item, name, levels_up)) return system;
  if (!item->open_items.empty() && item->range < 0) {
    if (item->open_items.size() != 1) return nullptr;
    return ItemField(item->open_items.front(), name, levels_up);
  }
  if (item->open) return ColumnAt(item->range, AddOpenColumn(item, name), levels_up);
  return nullptr;
}

NamespaceItem* Resolver::FindItem(Level* level, std::string_view schema, std::string_view name, int* levels_up) {
  *levels_up = 0;
  for (; level != nullptr; level = level->parent, ++*levels_up)
    for (NamespaceItem* item : level->names)
      if (item->relation_visible && item->alias == name && IsInSight(*level, *item) &&
          (schema.empty() || item->schema == schema))
        return item;
  return nullptr;
}

NamespaceItem* Resolver::ItemOfRange(Level* level, int range, int levels_up) {
  while (level != nullptr && levels_up-- > 0) level = level->parent;
  if (level == nullptr) return nullptr;
  for (NamespaceItem* item : level->names)
    if (item->range == range && range >= 0) return item;
  return nullptr;
}

Expr* Resolver::ColumnReference(Level* level, const PgQuery__ColumnRef& ref) {
  std::vector<std::string_view> parts = TextsOf({ref.fields, ref.n_fields});
  const bool star = ref.n_fields > 0 && IsStar(ref.fields[ref.n_fields - 1]);
  if (star) parts.pop_back();
  if (parts.empty()) {  // a bare * outside of a select list
    std::vector<Expr*> rows;
    for (NamespaceItem* item : level->names)
      if (item->columns_visible && !item->lateral_only) rows.push_back(WholeRow(item, 0));
    return Other(rows);
  }
  if (parts.size() == 1 && !star) return BareColumn(level, parts.front());
  return QualifiedColumn(level, parts, star);
}

Expr* Resolver::BareColumn(Level* level, std::string_view name) {
  int levels_up = 0;
  for (Level* at = level; at != nullptr; at = at->parent, ++levels_up) {
    for (const NamespaceItem* item : at->names) {
      if (!item->columns_visible || !IsInSight(*at, *item)) continue;
      const int column = FindColumn(*item, name);
      if (column >= 0) return ColumnOf(*item, column, levels_up);
    }
    for (const NamespaceItem* item : at->names) {
      if (!item->columns_visible || !IsInSight(*at, *item)) continue;
      if (Expr* system = SystemColumn(*item, name, levels_up)) return system;
    }
  }
  if (NamespaceItem* item = FindItem(level, {}, name, &levels_up)) return WholeRow(item, levels_up);
  if (Expr* open = OpenColumn(level, name)) return open;
  return Stray(level, QuoteName(name));
}

// The column in the only open item of the innermost level that has open items; null when there are none or several.
Expr* Resolver::OpenColumn(Level* level, std::string_view name) {
  int levels_up = 0;
  for (; level != nullptr; level = level->parent, ++levels_up) {
    std::vector<NamespaceItem*> open;
    for (NamespaceItem* item : level->names) {
      if (!item->columns_visible || !IsInSight(*level, *item)) continue;
      if (item->range >= 0 && item->open) open.push_back(item);
      open.insert(open.end(), item->open_items.begin(), item->open_items.end());
    }
    if (open.size() == 1) return ItemField(open.front(), name, levels_up);
    if (!open.empty()) return nullptr;
  }
  return nullptr;
}

// table.column, schema.table.column, database.schema.table.column; with `star` the parts before it.
Expr* Resolver::QualifiedColumn(Level* level, const std::vector<std::string_view>& parts, bool star) {
  const std::size_t size = parts.size();
  const std::size_t table = star ? size - 1 : size - 2;
  int levels_up = 0;
  NamespaceItem* item = FindItem(level, table > 0 ? parts[table - 1] : std::string_view(), parts[table], &levels_up);
  if (item != nullptr && star) return WholeRow(item, levels_up);
  std::string text;
  for (const std::string_view part : parts) text += (text.empty() ? "" : ".") + QuoteName(part);
  if (star) return NewExpr(ExprKind::kConstant);
  if (item == nullptr) return Stray(level, std::move(text));
  const std::string_view name = parts.back();
  if (Expr* field = ItemField(item, name, levels_up)) return field;
  // p.full_name is full_name(p) when there is such a function.
  const std::string_view schema = view_depth_ > 0 ? "pg_catalog" : "";
  const CatalogFunction* function = catalog_.FindFunction(schema, name, 1);
  if (function == nullptr) Miss(MissingName::Kind::kFunction, schema, name, 1);
  if (function != nullptr && !function->exists) return Stray(level, std::move(text));
  return Other({WholeRow(item, levels_up)});
}

// (row).name: the column itself when the row is that of a FROM item, else all that the row holds.
Expr* Resolver::Field(Level* level, Expr* row, std::string_view name) {
  if (row->kind == ExprKind::kWholeRow) {
    NamespaceItem* item = ItemOfRange(level, row->range, row->levels_up);
    Expr* field = item == nullptr ? nullptr : ItemField(item, name, row->levels_up);
    if (field != nullptr) return field;
  }
  return Other({row});
}

// A column that stays as written.
Expr* Resolver::Stray(Level* level, std::string text) {
  if (level->strays == nullptr) {
    Range* range = nullptr;
    level->stray_range = AddRange(level, RangeKind::kUnknown, &range);
    level->strays = range->relation = arena_.New<Relation>();
  }
  return ColumnAt(level->stray_range, AddMentioned(level->strays, text), 0);
}

Expr* Resolver::Indirection(Level* level, const PgQuery__AIndirection& indirection) {
  Expr* expr = Expression(level, indirection.arg);
  for (const Node* node : NodeList{indirection.indirection, indirection.n_indirection}) {
    if (node->node_case == PG_QUERY__NODE__NODE_STRING)
      expr = Field(level, expr, TextOf(node));
    else if (!IsStar(node))
      expr = Other({expr, Expression(level, node)});
  }
  return expr;
}

}  // namespace privacy_score
