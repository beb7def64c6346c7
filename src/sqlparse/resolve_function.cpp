/*
 * resolve_function.cpp - function calls, in expressions and in FROM.
 */
#include "core/base/names.hpp"
#include "core/statement/abstraction.hpp"
#include "sqlparse/builtin_functions.hpp"
#include "sqlparse/parser_versions.hpp"
#include "sqlparse/resolver.hpp"

namespace privacy_score {

namespace {

// The parts of a function's name that matter.
struct CallName {
  std::string_view schema;
  std::string_view name;
};

CallName NameOf(NodeList parts) {
  CallName result;
  if (parts.size > 0) result.name = TextOf(parts[parts.size - 1]);
  if (parts.size > 1) result.schema = TextOf(parts[parts.size - 2]);
  return result;
}

// Whether calling it does nothing but give its value, as far as a name tells.
bool IsPlain(const CatalogFunction* function) {
  if (function == nullptr || !function->exists || function->kind == 't') return false;
  const std::string_view schema = RelationOfColumn(function->canonical);
  return schema.empty() || schema == "information_schema";
}

TimePart TimePartOf(std::string_view name, const PgQuery__FuncCall& call) {
  if (name != "date_trunc" && name != "date_part" && name != "extract") return TimePart::kNone;
  const Node* unit = call.n_args > 1 ? call.args[0] : nullptr;
  while (unit != nullptr && unit->node_case == PG_QUERY__NODE__NODE_TYPE_CAST) unit = unit->type_cast->arg;
  const bool is_text = unit != nullptr && unit->node_case == PG_QUERY__NODE__NODE_A_CONST &&
                       unit->a_const->val_case == PG_QUERY__A__CONST__VAL_SVAL;
  if (!is_text || IsWholeTime(unit->a_const->sval->sval)) return TimePart::kNone;
  return IsMonthsOrLonger(unit->a_const->sval->sval) ? TimePart::kMonths : TimePart::kAny;
}

}  // namespace

// What is known of a function; null when nothing yet.
const CatalogFunction* Resolver::Function(NodeList name, std::size_t arguments) {
  CallName call = NameOf(name);
  if (call.schema.empty() && view_depth_ > 0) call.schema = "pg_catalog";
  const CatalogFunction* function = catalog_.FindFunction(call.schema, call.name, static_cast<int>(arguments));
  if (function == nullptr) Miss(MissingName::Kind::kFunction, call.schema, call.name, static_cast<int>(arguments));
  return function;
}

Expr* Resolver::Call(Level* level, const PgQuery__FuncCall& call) {
  const NodeList name = {call.funcname, call.n_funcname};
  const CallName parts = NameOf(name);
  const bool builtin = (parts.schema.empty() || parts.schema == "pg_catalog") && IsBuiltinAggregate(parts.name);
  const CatalogFunction* function = nullptr;
  if (!builtin) function = Function(name, call.n_args + (call.agg_within_group ? call.n_agg_order : 0));

  if (!builtin && !IsPlain(function)) level->query->calls = true;
  std::vector<Expr*> args;
  for (const Node* arg : NodeList{call.args, call.n_args})
    if (builtin || arg->node_case != PG_QUERY__NODE__NODE_A_CONST) args.push_back(Expression(level, arg));
  const bool aggregate = builtin || (function != nullptr && function->kind == 'a') || call.agg_star ||
                         call.agg_distinct || call.agg_within_group || call.n_agg_order > 0 ||
                         call.agg_filter != nullptr;
  if (call.over == nullptr && !aggregate) {
    if (function != nullptr && !function->exists && name.size == 1 && args.size() == 1 &&
        args[0]->kind == ExprKind::kWholeRow)
      return Field(level, args[0], parts.name);  // last_name(p) is p.last_name
    Expr* other = Other(args);
    const bool varies = function != nullptr && (function->kind == 't' || function->kind == 'q');
    other->rows = function != nullptr && function->kind == 's';
    const bool tells = varies || other->rows;  // how many rows it gives for one, a count of them shows
    if (varies && !GivesValueOnly(function->canonical)) ++told_calls_;
    if (varies || (function == nullptr && IsVolatileBuiltin(parts.name))) other->varies = true;
    if (other->rows) level->query->many = true;
    if (other->kind != ExprKind::kOther) return other;
    if (tells) other->tells = level->query->tells = true;
    other->packs = PacksValues(parts.name);
    other->time_part = TimePartOf(parts.name, call);
    return other;
  }

  Expr* expr = NewExpr(call.over != nullptr ? ExprKind::kWindow : ExprKind::kAggregate);
  if (function != nullptr && function->exists) {
    expr->function = arena_.Copy(function->canonical);
  } else {
    std::string text = QuoteName(parts.name);
    if (!parts.schema.empty() && parts.schema != "pg_catalog") text = QuoteName(parts.schema) + '.' + text;
    expr->function = arena_.Copy(text);
  }
  for (Expr* arg : args) expr->args.Add(arg);
  for (const Node* order : NodeList{call.agg_order, call.n_agg_order}) expr->order.Add(Expression(level, order));
  if (call.agg_filter != nullptr) expr->filter.Add(Expression(level, call.agg_filter));
  if (call.over != nullptr) Window(level, *call.over);
  return expr;
}

// A function in FROM, or several in ROWS FROM. Its arguments see the items before it.
NamespaceItem* Resolver::FromFunction(Level* level, const PgQuery__RangeFunction& function) {
  NamespaceItem* item = NewItem();
  std::vector<Expr*> args;
  const bool lateral = level->lateral_active;
  level->lateral_active = true;
  for (const Node* entry : NodeList{function.functions, function.n_functions}) {
    if (entry->node_case != PG_QUERY__NODE__NODE_LIST || entry->list->n_items == 0) continue;
    const Node* call = entry->list->items[0];
    const bool many = level->query->many;
    args.push_back(Expression(level, call));
    AddValues(args.back(), call);
    level->query->many = many;
    NodeList definitions = {function.coldeflist, function.n_coldeflist};
    if (entry->list->n_items > 1 && entry->list->items[1]->node_case == PG_QUERY__NODE__NODE_LIST)
      definitions = {entry->list->items[1]->list->items, entry->list->items[1]->list->n_items};
    if (definitions.size > 0) {
      for (const Node* definition : definitions)
        if (definition->node_case == PG_QUERY__NODE__NODE_COLUMN_DEF)
          item->columns.push_back({definition->column_def->colname});
      continue;
    }
    int strength = 0;
    std::string_view name = OutputName(call, &strength);
    if (item->alias.empty()) item->alias = name;
    if (function.alias != nullptr && function.n_functions == 1) name = function.alias->aliasname;
    if (call->node_case != PG_QUERY__NODE__NODE_FUNC_CALL) {
      item->columns.push_back({name});
      continue;
    }
    const NodeList parts = {call->func_call->funcname, call->func_call->n_funcname};
    const CatalogFunction* known = Function(parts, call->func_call->n_args);
    if (known != nullptr && known->kind == 's') args.back()->tells = false;  // its rows are those of the item
    if (known == nullptr || !known->exists) item->open = true;
    if (known != nullptr && !known->columns.empty())
      for (const std::string& column : known->columns) item->columns.push_back({column});
    else
      item->columns.push_back({name});
  }
  level->lateral_active = lateral;
  if (function.ordinality) item->columns.push_back({"ordinality"});
  Range* range = nullptr;
  item->range = AddRange(level, RangeKind::kFunction, &range);
  for (Expr* arg : args) {
    // Without arguments it is called once.
    arg->varies = arg->varies && arg->kind != ExprKind::kConstant;
    range->args.Add(arg);
  }
  NameItem(item, function.alias);
  return item;
}

NamespaceItem* Resolver::FromXmlTable(Level* level, const PgQuery__RangeTableFunc& table) {
  NamespaceItem* item = NewItem();
  item->alias = "xmltable";
  const bool lateral = level->lateral_active;
  level->lateral_active = true;
  std::vector<Expr*> args = {Expression(level, table.docexpr), Expression(level, table.rowexpr),
                             OtherOf(level, {table.namespaces, table.n_namespaces})};
  for (const Node* node : NodeList{table.columns, table.n_columns}) {
    if (node->node_case != PG_QUERY__NODE__NODE_RANGE_TABLE_FUNC_COL) continue;
    const PgQuery__RangeTableFuncCol& column = *node->range_table_func_col;
    item->columns.push_back({column.colname});
    args.push_back(Expression(level, column.colexpr));
    args.push_back(Expression(level, column.coldefexpr));
  }
  level->lateral_active = lateral;
  Range* range = nullptr;
  item->range = AddRange(level, RangeKind::kFunction, &range);
  range->args.Add(Other(args));
  NameItem(item, table.alias);
  return item;
}

// JSON_TABLE, and what later grammars allow in FROM: a function of all that it holds.
NamespaceItem* Resolver::FromOther(Level* level, const Node& node) {
  NamespaceItem* item = NewItem();
  const PgQuery__Alias* alias = nullptr;
  std::vector<std::string_view> columns;
  item->open = !IsJsonTable(node, &alias, &columns);
  if (!item->open) item->alias = "json_table";
  const bool lateral = level->lateral_active;
  level->lateral_active = true;
  const std::vector<Node*> children = ChildNodes(node);
  Expr* all = OtherOf(level, {children.data(), children.size()});
  level->lateral_active = lateral;
  for (const std::string_view name : columns) item->columns.push_back({name});
  Range* range = nullptr;
  item->range = AddRange(level, RangeKind::kFunction, &range);
  range->args.Add(all);
  NameItem(item, alias);
  return item;
}

}  // namespace privacy_score
