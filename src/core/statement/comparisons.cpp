/*
 * comparisons.cpp - the search for compared columns, and the words (see comparisons.hpp).
 *
 * No recursion: queries may be nested to any depth.
 */
#include "core/statement/comparisons.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/statement/scope.hpp"

namespace privacy_score {

namespace {

// What one side of an equality stands for.
struct Operand {
  std::vector<ItemColumn> columns;
  std::vector<const Expr*> constants;
};

// NameHash of a column's qualified name; of a temporary relation's column that of its place.
std::uint64_t HashOf(const Relation& relation, int column) {
  if (relation.temporary) return NameHash(TemporaryColumnName(1, column));
  std::string name(relation.name);
  name += '.';
  if (const Column* named = relation.columns.At(column)) name += named->name;
  return NameHash(name);
}

class ComparisonSearch {
 public:
  std::vector<ComparedGroup> Run(const Query* query);

 private:
  using Place = std::pair<Scope*, const Expr*>;

  void AddQuery(const Query* query, Scope* parent);
  void AddExprs(Scope* scope, const ArenaList<Expr>& exprs) {
    for (const Expr* expr : exprs) exprs_.emplace_back(scope, expr);
  }
  void Visit(Scope* scope, const Expr& expr);
  void VisitMember(Scope* scope, const Expr& expr);
  void AddOutputs(Scope* scope, std::size_t index, std::vector<Place>& places);
  Operand Resolve(std::vector<Place> places);
  void Equate(const std::vector<Operand>& operands, const ArenaList<Value>* values);
  std::size_t NodeOf(const ItemColumn& column);
  std::size_t RootOf(std::size_t node);

  struct Node {
    ItemColumn column;
    std::size_t parent;
  };
  struct Comparison {
    std::size_t node;
    std::vector<ComparedValue> values;
  };

  Scopes scopes_;
  std::vector<std::pair<const Query*, Scope*>> queries_;
  std::vector<Place> exprs_;
  std::map<std::pair<Item, int>, std::size_t> node_ids_;
  std::vector<Node> nodes_;
  std::vector<Comparison> comparisons_;
  std::size_t values_left_ = kMostComparedValues;
};

std::vector<ComparedGroup> ComparisonSearch::Run(const Query* query) {
  queries_.emplace_back(query, nullptr);
  while (!queries_.empty() || !exprs_.empty()) {
    if (!exprs_.empty()) {
      const auto [scope, expr] = exprs_.back();
      exprs_.pop_back();
      Visit(scope, *expr);
    } else {
      const auto [next, parent] = queries_.back();
      queries_.pop_back();
      AddQuery(next, parent);
    }
  }
  std::map<std::size_t, std::size_t> group_of_root;
  std::map<Item, std::uint32_t> items;
  std::vector<ComparedGroup> groups;
  for (Comparison& comparison : comparisons_) {
    const auto [place, is_new] = group_of_root.emplace(RootOf(comparison.node), groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].comparisons.push_back(std::move(comparison.values));
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto group = group_of_root.find(RootOf(i));
    if (group == group_of_root.end()) continue;
    const ItemColumn& column = nodes_[i].column;
    const std::uint32_t item = items.emplace(column.item, static_cast<std::uint32_t>(items.size())).first->second;
    const Relation& relation = *RangeOf(column.item)->relation;
    const ArenaList<Origin>* origins =
        relation.origins == nullptr ? nullptr : &relation.origins->columns[column.column];
    if (origins == nullptr || origins->empty())
      groups[group->second].columns.push_back({item, HashOf(relation, column.column)});
    else
      for (const Origin* origin : *origins)
        groups[group->second].columns.push_back({item, HashOf(*origin->relation, origin->column)});
  }
  return groups;
}

// Takes in everything that stands in a query level.
void ComparisonSearch::AddQuery(const Query* query, Scope* parent) {
  Scope* scope = scopes_.ScopeOf(query, parent);
  if (scope == nullptr || scope->executed) return;
  scope->executed = true;
  for (const Query* cte : scope->ctes) queries_.emplace_back(cte, scope);
  for (const Query* arm : query->arms) queries_.emplace_back(arm, scope);
  for (const Range* range : query->ranges) {
    queries_.emplace_back(range->subquery, scope);
    AddExprs(scope, range->args);
  }
  for (const Assignment* assignment : query->assignments)
    if (assignment->value != nullptr) exprs_.emplace_back(scope, assignment->value);
  for (const auto* list : {&query->outputs, &query->group_by, &query->partition_by, &query->order_by,
                           &query->window_order_by, &query->having, &query->conditions})
    AddExprs(scope, *list);
  // The stack turns the order round.
  std::reverse(exprs_.begin(), exprs_.end());
}

void ComparisonSearch::Visit(Scope* scope, const Expr& expr) {
  const std::size_t before = exprs_.size();
  for (const auto* list : {&expr.args, &expr.order, &expr.filter}) AddExprs(scope, *list);
  std::reverse(exprs_.begin() + static_cast<std::ptrdiff_t>(before), exprs_.end());
  if (expr.kind == ExprKind::kEquality && expr.args.size == 2) {
    Equate({Resolve({{scope, expr.args.first}}), Resolve({{scope, expr.args.last}})}, nullptr);
  } else if (expr.compares) {
    for (const Expr* arg : expr.args) Equate({Resolve({{scope, arg}})}, &expr.values);
  } else if (expr.kind == ExprKind::kSubquery) {
    queries_.emplace_back(expr.subquery, scope);
    if (expr.use == SubqueryUse::kMember) VisitMember(scope, expr);
  }
}

// (a, b) IN (SELECT x, y ...): the left sides are equated with the outputs.
void ComparisonSearch::VisitMember(Scope* scope, const Expr& expr) {
  Scope* inner = scopes_.ScopeOf(expr.subquery, scope);
  if (inner == nullptr) return;
  std::size_t index = 0;
  for (const Expr* left : expr.args) {
    std::vector<Place> outputs;
    AddOutputs(inner, index++, outputs);
    Equate({Resolve({{scope, left}}), Resolve(std::move(outputs))}, nullptr);
  }
}

// One output of a query, of a set operation that of every arm.
void ComparisonSearch::AddOutputs(Scope* scope, std::size_t index, std::vector<Place>& places) {
  std::vector<Scope*> stack = {scope};
  while (!stack.empty()) {
    Scope* at = stack.back();
    stack.pop_back();
    if (at == nullptr) continue;
    for (const Query* arm : at->query->arms) stack.push_back(scopes_.ScopeOf(arm, at));
    if (at->query->arms.empty() && index < at->outputs.size()) places.emplace_back(at, at->outputs[index]);
  }
}

Operand ComparisonSearch::Resolve(std::vector<Place> places) {
  Operand operand;
  std::unordered_set<const Expr*> seen;
  while (!places.empty()) {
    const auto [scope, expr] = places.back();
    places.pop_back();
    if (scope == nullptr || !seen.insert(expr).second) continue;
    if (expr->kind == ExprKind::kColumn) {
      BareColumns bare = scopes_.ResolveBare(scope, *expr);
      operand.columns.insert(operand.columns.end(), bare.columns.begin(), bare.columns.end());
      places.insert(places.end(), bare.ends.begin(), bare.ends.end());
    } else if (expr->kind == ExprKind::kSubquery) {
      if (expr->use == SubqueryUse::kValue && expr->subquery != nullptr)
        AddOutputs(scopes_.ScopeOf(expr->subquery, scope), 0, places);
    } else if (expr->cast && expr->args.size == 1) {
      places.emplace_back(scope, expr->args.first);
    } else if (!expr->compares && !expr->values.empty()) {
      operand.constants.push_back(expr);
      for (const Expr* arg : expr->args) places.emplace_back(scope, arg);
    }
  }
  return operand;
}

// The columns of all operands are equal to one another, to the constants among them and to `values`.
void ComparisonSearch::Equate(const std::vector<Operand>& operands, const ArenaList<Value>* values) {
  std::vector<const ArenaList<Value>*> lists;
  if (values != nullptr) lists.push_back(values);
  std::size_t node = 0;
  bool any = false;
  for (const Operand& operand : operands) {
    for (const Expr* constant : operand.constants) lists.push_back(&constant->values);
    for (const ItemColumn& column : operand.columns) {
      const std::size_t other = NodeOf(column);
      if (any) nodes_[RootOf(other)].parent = RootOf(node);
      node = other;
      any = true;
    }
  }
  if (!any) return;
  Comparison comparison = {node, {}};
  for (const auto* list : lists) {
    for (const Value* value : *list) {
      if (values_left_ == 0) break;
      --values_left_;
      comparison.values.push_back(
          {value->hash, {value->parameters, value->parameters + value->parameter_count}, value->elements});
    }
  }
  if (!comparison.values.empty()) comparisons_.push_back(std::move(comparison));
}

std::size_t ComparisonSearch::NodeOf(const ItemColumn& column) {
  const auto [place, is_new] = node_ids_.emplace(std::make_pair(column.item, column.column), nodes_.size());
  if (is_new) nodes_.push_back({column, nodes_.size()});
  return place->second;
}

std::size_t ComparisonSearch::RootOf(std::size_t node) {
  while (nodes_[node].parent != node) node = nodes_[node].parent = nodes_[nodes_[node].parent].parent;
  return node;
}

// Words. A value is one head word, its hash, its parameters.
constexpr std::size_t kWordsOfColumn = 3;

void PutLong(ConstantWords& words, std::uint64_t value) {
  words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::uint32_t>(value >> 32U));
}

void PutCount(ConstantWords& words, std::size_t count) { words.push_back(static_cast<std::uint32_t>(count)); }

class WordReader {
 public:
  WordReader(const std::uint32_t* words, std::size_t count) : at_(words), end_(words + count) {}

  std::uint32_t Next() {
    if (at_ == end_) throw DamagedData("constants of a plan cut short");
    return *at_++;
  }
  std::uint64_t Long() {
    if (Left() < 2) at_ = end_, Next();
    at_ += 2;
    return LongAt(at_ - 2);
  }
  std::size_t Left() const { return static_cast<std::size_t>(end_ - at_); }
  // A number of things each of which takes a word at least.
  std::size_t Count() {
    const std::size_t count = Next();
    if (count > Left()) at_ = end_, Next();
    return count;
  }

 private:
  const std::uint32_t* at_;
  const std::uint32_t* end_;
};

// The parameters of an execution. They are asked for in ascending order by most statements, of which some have tens of
// thousands.
class Parameters {
 public:
  Parameters(const ParameterValue* values, std::size_t count) : next_(values), begin_(values), end_(values + count) {}

  // Null when it is not given.
  const ParameterValue* Find(int number) {
    if (next_ == end_ || next_->number != number)
      next_ = std::lower_bound(begin_, end_, number,
                               [](const ParameterValue& value, int wanted) { return value.number < wanted; });
    return next_ != end_ && next_->number == number ? next_++ : nullptr;
  }

 private:
  const ParameterValue* next_;  // behind the one that was found last
  const ParameterValue* begin_;
  const ParameterValue* end_;
};

// Writes the groups of an execution over those of another.
class GroupWriter {
 public:
  GroupWriter(std::vector<std::uint64_t>& groups, std::size_t room) : groups_(groups) {
    if (groups.size() < room) groups.resize(room);
    next_ = groups.data();
  }

  std::uint64_t Put(std::uint64_t word) { return *next_++ = word; }
  void PutAll(const std::uint64_t* words, std::size_t count) {
    const std::size_t size = this->size();
    groups_.resize(groups_.size() + count);
    next_ = std::copy(words, words + count, groups_.data() + size);
  }
  std::size_t size() const { return static_cast<std::size_t>(next_ - groups_.data()); }
  // Ends a list that follows its size: what is too much of it is left out. Returns the size.
  std::size_t EndList(std::size_t size_at, std::size_t most) {
    const std::size_t size = std::min(this->size() - size_at - 1, most);
    next_ = groups_.data() + size_at + 1 + size;
    return groups_[size_at] = size;
  }
  void Finish() { groups_.resize(size()); }

 private:
  std::vector<std::uint64_t>& groups_;
  std::uint64_t* next_;
};

// Reads one value and adds what it stands for in this execution.
void ResolveValue(WordReader& reader, Parameters& parameters, GroupWriter& values) {
  const std::uint32_t head = reader.Next();
  std::uint64_t hash = (head & kHashBit) != 0 ? reader.Long() : 0;
  const std::uint32_t count = head >> kCountShift;
  bool is_null = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ParameterValue* parameter = parameters.Find(static_cast<int>(reader.Next()));
    if (parameter == nullptr || parameter->is_null) {
      is_null = true;
    } else if ((head & kElementsBit) != 0) {
      values.PutAll(parameter->elements, static_cast<std::size_t>(parameter->element_count));
    } else {
      hash = count == 1 && (head & kHashBit) == 0 ? parameter->hash : FoldHash(hash, parameter->hash);
    }
  }
  if (!is_null && (head & kElementsBit) == 0) values.Put(hash);
}

}  // namespace

std::vector<ComparedGroup> FindComparisons(const Statement& statement) {
  if (statement.query == nullptr || statement.unparsed) return {};
  return ComparisonSearch().Run(statement.query);
}

ConstantWords Encode(const StatementConstants& constants) {
  ConstantWords words;
  PutLong(words, constants.vector);
  PutCount(words, constants.parameters.size());
  for (const int parameter : constants.parameters) PutCount(words, static_cast<std::size_t>(parameter));
  PutCount(words, constants.groups.size());
  for (const ComparedGroup& group : constants.groups) {
    PutCount(words, group.columns.size());
    for (const ComparedColumn& column : group.columns) {
      words.push_back(column.item);
      PutLong(words, column.name);
    }
    PutCount(words, group.comparisons.size());
    for (const auto& values : group.comparisons) {
      PutCount(words, values.size());
      for (const ComparedValue& value : values) {
        const bool has_hash = value.hash != 0 || value.parameters.empty();
        words.push_back((value.elements ? kElementsBit : 0) | (has_hash ? kHashBit : 0) |
                        static_cast<std::uint32_t>(value.parameters.size()) << kCountShift);
        if (has_hash) PutLong(words, value.hash);
        for (const int parameter : value.parameters) PutCount(words, static_cast<std::size_t>(parameter));
      }
    }
  }
  return words;
}

std::vector<std::size_t> PlacesOfHashes(const std::uint32_t* words, std::size_t count) {
  std::vector<std::size_t> places;
  WordReader reader(words, count);
  reader.Long();
  for (std::size_t left = reader.Count(); left > 0; --left) reader.Next();
  for (std::size_t groups = reader.Count(); groups > 0; --groups) {
    for (std::size_t left = kWordsOfColumn * reader.Count(); left > 0; --left) reader.Next();
    for (std::size_t comparisons = reader.Count(); comparisons > 0; --comparisons) {
      for (std::size_t values = reader.Count(); values > 0; --values) {
        const std::uint32_t head = reader.Next();
        if ((head & kHashBit) != 0) {
          places.push_back(count - reader.Left());
          reader.Long();
        }
        for (std::uint32_t left = head >> kCountShift; left > 0; --left) reader.Next();
      }
    }
  }
  return places;
}

std::uint64_t ResolveVector(const BoundConstants& bound, std::size_t* groups_at) {
  constexpr std::uint64_t kNullHash = 0x6e756c6cU;
  if (bound.count == 0) return 0;
  WordReader reader(bound.words, bound.count);
  Parameters given(bound.parameters, bound.parameter_count);
  std::uint64_t vector = reader.Long();
  for (std::size_t left = reader.Count(); left > 0; --left) {
    const ParameterValue* parameter = given.Find(static_cast<int>(reader.Next()));
    const bool is_null = parameter == nullptr || parameter->is_null;
    vector = FoldHash(vector, is_null ? kNullHash : parameter->hash);
  }
  *groups_at = bound.count - reader.Left();
  return vector;
}

bool ResolveSingle(const BoundConstants& bound, std::size_t groups_at, SingleComparison& single) {
  // One group of one column with one comparison of one value: its head, and a hash or the number of a parameter.
  constexpr std::size_t kHead = 7;
  const std::uint32_t* words = bound.words + groups_at;
  const std::size_t count = bound.count - groups_at;
  if (bound.count == 0 || count < kHead + 2 || words[0] != 1 || words[1] != 1) return false;
  if (words[5] != 1 || words[6] != 1) return false;
  single.column = {words[2], LongAt(words + 3)};
  if (words[kHead] == kHashBit && count == kHead + 3) {
    single.value = LongAt(words + kHead + 1);
    return true;
  }
  if (words[kHead] != 1U << kCountShift || count != kHead + 2) return false;
  const ParameterValue* parameter =
      Parameters(bound.parameters, bound.parameter_count).Find(static_cast<int>(words[kHead + 1]));
  if (parameter == nullptr || parameter->is_null) return false;
  single.value = parameter->hash;
  return true;
}

void ResolveGroups(const BoundConstants& bound, std::size_t groups_at, std::vector<std::uint64_t>& groups) {
  if (bound.count == 0) {
    groups.assign(1, 0);
    return;
  }
  WordReader reader(bound.words + groups_at, bound.count - groups_at);
  // Nothing but elements of arrays takes more places than it has words.
  GroupWriter writer(groups, bound.count);
  Parameters given(bound.parameters, bound.parameter_count);
  std::size_t values_left = kMostComparedValues;
  for (std::size_t left_groups = writer.Put(reader.Count()); left_groups > 0; --left_groups) {
    for (std::size_t left = writer.Put(reader.Count()); left > 0; --left) {
      writer.Put(reader.Next());
      writer.Put(reader.Long());
    }
    for (std::size_t comparisons = writer.Put(reader.Count()); comparisons > 0; --comparisons) {
      const std::size_t size_at = writer.size();
      writer.Put(0);
      for (std::size_t left = reader.Count(); left > 0; --left) ResolveValue(reader, given, writer);
      values_left -= writer.EndList(size_at, values_left);
    }
  }
  writer.Finish();
}

}  // namespace privacy_score
