/*
 * resolve_cte.cpp - WITH (parse_cte.c).
 */
#include "sqlparse/resolver.hpp"

namespace privacy_score {

// Analyses the WITH queries of a level, before anything else of it is in sight. Each sees those before it, and under
// RECURSIVE all of them.
void Resolver::With(Level* level, const PgQuery__WithClause* with) {
  if (with == nullptr) return;
  std::vector<CteInfo*> infos;
  for (const Node* node : NodeList{with->ctes, with->n_ctes}) {
    if (node->node_case != PG_QUERY__NODE__NODE_COMMON_TABLE_EXPR) continue;
    CteInfo* info = &ctes_.emplace_back();
    info->name = node->common_table_expr->ctename;
    info->cte = arena_.New<Cte>();
    info->result.open = true;  // until its own analysis
    info->waiting = node->common_table_expr;
    level->query->ctes.Add(info->cte);
    if (with->recursive) level->ctes.push_back(info);
    infos.push_back(info);
  }
  for (CteInfo* info : infos) {
    // One that an earlier one refers to has been analysed on the way.
    if (info->waiting != nullptr) AnalyseCte(level, info, with->recursive);
    if (!with->recursive) level->ctes.push_back(info);
  }
}

void Resolver::AnalyseCte(Level* level, CteInfo* info, bool recursive) {
  const PgQuery__CommonTableExpr& cte = *info->waiting;
  info->waiting = nullptr;
  info->aliases = TextsOf({cte.aliascolnames, cte.n_aliascolnames});
  const Result result = Any(level, cte.ctequery, recursive ? info : nullptr);
  info->cte->query = result.query;
  NameCte(info, result);
  SearchAndCycle(cte, info);
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
