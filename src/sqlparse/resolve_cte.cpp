/*
 * resolve_cte.cpp - WITH (parse_cte.c).
 */
#include "sqlparse/resolver.hpp"

namespace privacy_score {

// Analyses the WITH queries of a level, before anything else of it is in sight. Each sees those before it, and under
// RECURSIVE all of them.
void Resolver::With(Level* level, const PgQuery__WithClause* with) {
  if (with == nullptr) return;
  const NodeList list = {with->ctes, with->n_ctes};
  for (const Node* node : list) {
    if (node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR) continue;
    level->query->ctes.Add(arena_.New<Cte>());
    if (!with->recursive) continue;
    CteInfo* info = &ctes_.emplace_back();
    info->name = node->common_table_expr->ctename;
    info->result.open = true;  // until its own analysis
    info->waiting = node->common_table_expr;
    level->ctes.push_back(info);
  }
  int index = 0;
  for (const Node* node : list) {
    if (node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR) continue;
    // One that an earlier one refers to has been analysed on the way.
    if (!with->recursive || level->ctes[static_cast<std::size_t>(index)]->waiting != nullptr)
      AnalyseCte(level, *node->common_table_expr, index, with->recursive);
    ++index;
  }
}

void Resolver::AnalyseCte(Level* level, const PgQuery__CommonTableExpr& cte, int index, bool recursive) {
  CteInfo* info = recursive ? level->ctes[static_cast<std::size_t>(index)] : &ctes_.emplace_back();
  info->waiting = nullptr;
  info->name = cte.ctename;
  info->aliases = TextsOf({cte.aliascolnames, cte.n_aliascolnames});
  const Result result = Any(level, cte.ctequery, recursive ? info : nullptr);
  level->query->ctes.At(index)->query = result.query;
  NameCte(info, result);
  SearchAndCycle(cte, info);
  if (!recursive) level->ctes.push_back(info);
}

// Gives a WITH query the columns of its text, under its own column names.
void Resolver::NameCte(CteInfo* info, const Result& result) {
  info->result = result;
  for (std::size_t i = 0; i < info->aliases.size(); ++i) {
    if (i < info->result.names.size())
      info->result.names[i] = info->aliases[i];
    else
      info->result.names.push_back(info->aliases[i]);
  }
}

// SEARCH and CYCLE add output columns that are made of the listed ones.
void Resolver::SearchAndCycle(const PgQuery__CommonTableExpr& cte, CteInfo* info) {
  if (info->result.query == nullptr) return;
  const auto add = [this, info](std::string_view name, NodeList sources) {
    if (name.empty()) return;
    Query* query = info->result.query;
    const std::size_t position = info->result.names.size();
    for (Query* arm = query->arms.empty() ? query : query->arms.first; arm != nullptr; arm = arm->next) {
      std::vector<Expr*> parts;
      for (const Node* source : sources)
        for (std::size_t i = 0; i < position; ++i)
          if (info->result.names[i] == TextOf(source))
            if (const Expr* output = arm->outputs.At(static_cast<int>(i))) parts.push_back(Clone(output));
      arm->outputs.Add(Other(parts));
      if (query->arms.empty()) break;
    }
    info->result.names.push_back(name);
  };
  if (const PgQuery__CTESearchClause* search = cte.search_clause)
    add(search->search_seq_column, {search->search_col_list, search->n_search_col_list});
  if (const PgQuery__CTECycleClause* cycle = cte.cycle_clause) {
    add(cycle->cycle_mark_column, {cycle->cycle_col_list, cycle->n_cycle_col_list});
    add(cycle->cycle_path_column, {cycle->cycle_col_list, cycle->n_cycle_col_list});
  }
}

}  // namespace privacy_score
