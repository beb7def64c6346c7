/*
 * flow_walk.hpp - the walk of flow.cpp, of which flow_rows.cpp is the part that looks back when it is over: at what
 * aggregates, numbers of rows and their order tell.
 */
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/statement/flow.hpp"
#include "core/statement/flow_context.hpp"
#include "core/statement/scope.hpp"

namespace privacy_score {

// Levels of aggregates whose cells are looked for; in any more of them aggregates show what they are given.
constexpr std::size_t kMostCellLevels = 64;

class Walk {
 public:
  explicit Walk(bool explained, TemporaryNames temporary_names = TemporaryNames::kNumbered)
      : explained_(explained), temporary_names_(temporary_names) {}
  Flow Run(const Query* query);
  std::vector<BaseColumn> RunOutput(const Query* query, int output);

 private:
  // Tasks.
  void Drain();
  void PushExecute(Scope* scope) { pushed_.push_back({Task::kExecute, scope, nullptr, kAll, {}}); }
  void PushFollow(Scope* scope, int output, Context context) {
    pushed_.push_back({Task::kFollow, scope, nullptr, output, context});
  }
  void PushVisits(Scope* scope, const ArenaList<Expr>& exprs, Context context) {
    for (const Expr* expr : exprs) pushed_.push_back({Task::kVisit, scope, expr, kAll, context});
  }
  void PushTold(Scope* scope);
  bool ReadsTold(Scope* scope, const Expr& expr);
  void PushChoices(Scope* scope);
  void PushOrder(Scope* scope, const ArenaList<Expr>& exprs);
  // Numbers of rows are estimated from these, too, when the statement is explained.
  void PushEstimated(Scope* scope, const ArenaList<Expr>& exprs, Mark mark) {
    if (!exprs.empty()) flow_.estimates_tell_more = true;
    if (explained_) PushVisits(scope, exprs, Of(mark));
  }
  void PushConditions(Scope* scope, const ArenaList<Expr>& exprs) {
    for (const Expr* expr : exprs) pushed_.push_back({Task::kCondition, scope, expr, kAll, Of(Mark::kFilter)});
  }
  void Execute(Scope* scope);
  void Follow(Scope* scope, int output, Context context);
  void VisitExpr(Scope* scope, const Expr& expr, Context context);
  void VisitFunction(Scope* scope, const Expr& expr, Context context);
  void VisitSubquery(Scope* scope, const Expr& expr, Context context);
  void Condition(Scope* scope, const Expr& expr);
  void Assign(Scope* scope, const Assignment& assignment);
  void FlowItem(Item item, int column, Context context);

  // Results.
  bool Enter(const void* node, int index, Context context) { return entered_.insert({node, index, context}).second; }
  void EmitTable(const Relation& relation, bool read);
  void EmitColumn(Item item, const Relation& relation, int column, Context context);
  void EmitName(const Relation& relation, int column, Context context);
  void ShowOutside(const Scope* from, Context context);
  void ShowArguments();
  void AddCells();
  void ShowNumbersOfRows();
  void ShowOrderKeys();
  bool IsUsed(const Scope* scope, int output, std::initializer_list<Mark> marks) const;
  std::size_t NumberOf(const Relation& relation);
  std::string NameOf(const Relation& relation);
  std::string NameOf(const Relation& relation, int column);
  const std::vector<std::string_view>& ColumnNames(const Relation& relation);

  // A function of flow_.functions.
  struct Use {
    Scope* level = nullptr;  // that it belongs to
    bool exposed = false;    // its value is used otherwise than under another aggregate that hides columns
    bool hides = false;      // its columns, unless it shows them
    bool packs = false;      // it shows what is put into one number
    bool shows = false;
    std::vector<BaseColumn> columns;
  };

  Scopes scopes_;
  Flow flow_;
  std::vector<Use> uses_;
  std::vector<std::string> own_groups_;
  std::vector<std::string> order_keys_;
  std::vector<Scope*> counting_;  // levels whose number of rows depends on what they show
  std::unordered_map<const Scope*, bool> picks_rows_;
  std::unordered_map<const Relation*, std::vector<std::string_view>> column_names_;
  std::unordered_map<std::string_view, std::size_t> temporary_numbers_;
  std::unordered_set<Visit, VisitHash> entered_;
  std::unordered_map<const Expr*, std::size_t> function_ids_;
  std::unordered_set<const Range*> ranges_referenced_;
  std::vector<Item> function_ranges_;
  std::vector<BaseColumn> projected_;
  std::vector<ItemColumn> own_values_;  // Context::except: the column that an assignment writes
  std::vector<Task> tasks_;
  std::vector<Task> pushed_;  // by the running task, first things first
  const bool explained_;
  const TemporaryNames temporary_names_;
  bool catalogs_ = false;
  bool calls_ = false;
  bool unknown_items_ = false;
};

}  // namespace privacy_score
