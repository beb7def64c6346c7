/*
 * flow_rows.cpp - what a statement tells besides the values that it shows: aggregates over few rows, how many rows
 * come, in which order (see flow_walk.hpp).
 */
#include <algorithm>
#include <utility>

#include "core/base/sort_unique.hpp"
#include "core/statement/cells.hpp"
#include "core/statement/flow_walk.hpp"

namespace privacy_score {

// What aggregates show of their arguments is projected.
void Walk::ShowArguments() {
  for (const Use& use : uses_)
    for (const BaseColumn& column : use.columns)
      if (use.exposed && use.shows) EmitName(*column.relation, column.column, Of(Mark::kProjected));
}

// Whether an output flows into one of these.
bool Walk::IsUsed(const Scope* scope, int output, std::initializer_list<Mark> marks) const {
  return std::any_of(marks.begin(), marks.end(), [&](Mark mark) {
    return entered_.count({&scope->query->distinct, output, Of(mark)}) > 0 ||
           entered_.count({&scope->query->distinct, kAll, Of(mark)}) > 0;
  });
}

// How many rows come tells of columns that nobody uses, too: a set operation tests them for membership, DISTINCT counts
// them. (What a function that returns a set is given it tells: Expr::tells.)
void Walk::ShowNumbersOfRows() {
  for (std::size_t i = 0; i < counting_.size(); ++i) {
    Scope* scope = counting_[i];
    const int width = scopes_.WidthOf(scope);
    if (!scope->query->arms.empty()) {
      for (int output = 0; output < width; ++output)
        if (!IsUsed(scope, output, {Mark::kProjected, Mark::kFilter, Mark::kGroup, Mark::kLimit}))
          PushFollow(scope, output, Of(Mark::kFilter));
      Drain();
      continue;
    }
    Context under = Of(Mark::kUnderAggregate);
    under.function = static_cast<int>(flow_.functions.size());
    flow_.functions.push_back({"count", {}});
    Use use;
    use.level = scope;
    use.exposed = use.hides = true;
    use.shows = PicksRows(scopes_, scope);
    uses_.push_back(std::move(use));
    for (int output = 0; output < width; ++output)
      if (!IsUsed(scope, output,
                  {Mark::kProjected, Mark::kFilter, Mark::kGroup, Mark::kLimit, Mark::kJoin, Mark::kUnderAggregate}))
        PushFollow(scope, output, under);
    Drain();
    if (!flow_.functions.back().columns.empty()) continue;
    flow_.functions.pop_back();
    uses_.pop_back();
  }
}

// An expression that is ordered by is a filter, but where its columns are revealed anyway.
void Walk::ShowOrderKeys() {
  for (std::string& name : order_keys_) {
    const auto has = [&](Mark mark) {
      const std::vector<std::string>& names = flow_.Names(mark);
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has(Mark::kProjected) || has(Mark::kFilter) || has(Mark::kGroup) || has(Mark::kLimit)) continue;
    flow_.names[static_cast<std::size_t>(Mark::kFilter)].push_back(std::move(name));
  }
}

// Over how few rows the aggregates that hide columns may be taken: what names their cells, and which of the grouping
// columns do not.
void Walk::AddCells() {
  std::vector<Scope*> levels;
  for (const Use& use : uses_)
    if (use.exposed && use.hides && !use.columns.empty() && levels.size() < kMostCellLevels)
      levels.push_back(use.level);
  SortUnique(levels);
  if (levels.empty()) return;
  for (Scope* level : levels) {
    for (const ItemColumn& cell : FindCells(scopes_, level))
      EmitColumn(cell.item, *RangeOf(cell.item)->relation, cell.column, Of(Mark::kCell));
    PushVisits(level, level->query->group_by, Of(Mark::kOwnGroup));
    Drain();
  }
  SortUnique(own_groups_);
  const std::vector<std::string>& own = own_groups_;
  const auto is_own = [&](const std::string& name) { return std::binary_search(own.begin(), own.end(), name); };
  std::vector<std::string>& months = flow_.names[static_cast<std::size_t>(Mark::kMonths)];
  months.erase(std::remove_if(months.begin(), months.end(), is_own), months.end());
  std::vector<std::string>& nested = flow_.names[static_cast<std::size_t>(Mark::kNested)];
  for (const std::string& name : flow_.Names(Mark::kGroup))
    if (!is_own(name) && std::find(months.begin(), months.end(), name) == months.end()) nested.push_back(name);
}

}  // namespace privacy_score
