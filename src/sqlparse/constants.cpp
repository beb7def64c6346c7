/*
 * constants.cpp - see constants.hpp.
 */
#include "sqlparse/constants.hpp"

#include <algorithm>

#include "core/base/constant_hash.hpp"
#include "core/base/error.hpp"
#include "core/base/sort_unique.hpp"
#include "sqlparse/parse.hpp"
#include "sqlparse/parser_versions.hpp"

namespace privacy_score {

namespace {

constexpr std::uint64_t kNullHash = 1;

std::string TextOfLiteral(const PgQuery__AConst& literal) {
  switch (literal.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      return std::to_string(literal.ival->ival);
    case PG_QUERY__A__CONST__VAL_FVAL:
      return literal.fval->fval;
    case PG_QUERY__A__CONST__VAL_SVAL:
      return literal.sval->sval;
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      return literal.boolval->boolval != 0 ? "t" : "f";
    case PG_QUERY__A__CONST__VAL_BSVAL: {  // b101
      const std::string_view digits = literal.bsval->bsval;
      return std::string(digits.substr(std::min<std::size_t>(1, digits.size())));
    }
    default:
      return {};
  }
}

}  // namespace

std::uint64_t HashOfLiteral(const HashKey& key, const PgQuery__AConst& literal, std::uint64_t of_null) {
  if (literal.isnull != 0) return of_null;
  if (literal.val_case == PG_QUERY__A__CONST__VAL_IVAL) return ConstantHash(key, std::int64_t{literal.ival->ival});
  return ConstantHash(key, std::string_view(TextOfLiteral(literal)));
}

void AddConstants(const HashKey& key, const Node* raw, const Statement& statement, StatementConstants* constants) {
  std::vector<const Node*> nodes;
  if (raw != nullptr) nodes.push_back(raw);
  while (!nodes.empty()) {
    const Node* node = nodes.back();
    nodes.pop_back();
    if (node->node_case == PG_QUERY__NODE__NODE_A_CONST) {
      constants->vector = FoldHash(constants->vector, HashOfLiteral(key, *node->a_const, kNullHash));
    } else if (node->node_case == PG_QUERY__NODE__NODE_PARAM_REF) {
      constants->parameters.push_back(node->param_ref->number);
    } else {
      const std::vector<Node*> children = ChildNodes(*node);
      nodes.insert(nodes.end(), children.rbegin(), children.rend());
    }
  }
  SortUnique(constants->parameters);
  // FROM items are numbered in the statement.
  std::uint32_t items = 0;
  for (const ComparedGroup& group : constants->groups)
    for (const ComparedColumn& column : group.columns) items = std::max(items, column.item + 1);
  for (ComparedGroup& group : FindComparisons(statement)) {
    for (ComparedColumn& column : group.columns) column.item += items;
    constants->groups.push_back(std::move(group));
  }
}

std::vector<std::optional<std::string>> ParametersOfExecute(std::string_view sql) {
  std::vector<std::optional<std::string>> given;
  const Parse parse(sql);
  if (parse.tree() == nullptr || parse.tree()->n_stmts != 1 || parse.tree()->stmts[0]->stmt == nullptr) return given;
  const Node* node = parse.tree()->stmts[0]->stmt;
  if (node->node_case == PG_QUERY__NODE__NODE_EXPLAIN_STMT) node = node->explain_stmt->query;
  if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_EXECUTE_STMT) return given;
  for (const Node* value : NodeList{node->execute_stmt->params, node->execute_stmt->n_params}) {
    value = WithoutCasts(value);
    if (value->node_case != PG_QUERY__NODE__NODE_A_CONST) return {};
    given.emplace_back();
    if (value->a_const->isnull == 0) given.back() = TextOfLiteral(*value->a_const);
  }
  return given;
}

}  // namespace privacy_score
