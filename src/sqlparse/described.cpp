/*
 * described.cpp - see described.hpp.
 */
#include "sqlparse/described.hpp"

#include <algorithm>

#include "core/base/names.hpp"
#include "sqlparse/own_stack.hpp"

namespace privacy_score {

namespace {

constexpr Statistics kStatistics[] = {{"pg_stats", true, true, false},
                                      {"pg_stats_ext", true, false, true},
                                      {"pg_stats_ext_exprs", true, false, true},
                                      {"pg_statistic", false, true, false},
                                      {"pg_statistic_ext_data", false, false, false}};

// Columns that only say what a row is about.
constexpr std::string_view kOnlyNames[] = {"schemaname", "tablename",  "attname", "inherited",  "starelid",
                                           "staattnum",  "stainherit", "stxoid",  "stxdinherit"};

bool OnlyNames(std::string_view column) {
  return std::find(std::begin(kOnlyNames), std::end(kOnlyNames), column) != std::end(kOnlyNames);
}

// Whether a literal, an OID or behind a = the text of a regclass, stands for the relation. Of a name without a schema
// it is not known which one is meant.
bool StandsFor(const std::string& literal, const DescribedColumn& column) {
  if (literal.empty() || literal.front() != '=') return literal == column.oid;
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (const char c : literal.substr(1)) {
    if (c == '"')
      quoted = !quoted;
    else if (c == '.' && !quoted)
      parts.emplace_back();
    else
      parts.back() += quoted || c < 'A' || c > 'Z' ? c : static_cast<char>(c - 'A' + 'a');
  }
  return parts.back() == column.table && (parts.size() < 2 || parts[parts.size() - 2] == column.schema);
}

bool HasWindow(const Expr* expr) {
  RequireStack();
  if (expr->kind == ExprKind::kWindow) return true;
  for (const Expr* arg : expr->args)
    if (HasWindow(arg)) return true;
  return false;
}

// True for a query whose rows go out one by one: what is said of them outside holds inside.
bool PassesRowsOn(const Query& query) {
  if (query.command != Command::kSelect || !query.arms.empty() || !query.group_by.empty() || !query.having.empty() ||
      query.limit || query.distinct || query.many)
    return false;
  for (const ArenaList<Expr>* list : {&query.outputs, &query.order_by})
    for (const Expr* expr : *list)
      if (HasWindow(expr)) return false;
  return true;
}

}  // namespace

const Statistics* StatisticsOf(std::string_view name) {
  for (const Statistics& statistics : kStatistics)
    if (statistics.name == name) return &statistics;
  return nullptr;
}

void DescribedReads::Clear() {
  reads_.clear();
  literals_.clear();
  outer_.clear();
  places_.clear();
}

void DescribedReads::NoteRange(Query* query, int range, const Statistics* statistics, Relation* relation) {
  reads_.push_back({{query, range}, statistics, relation});
}

void DescribedReads::NoteLiterals(const Expr* comparison, std::vector<std::string> literals) {
  if (!literals.empty()) literals_[comparison] = std::move(literals);
}

DescribedReads::Names DescribedReads::NamedBy(std::string_view column) {
  if (column == "schemaname") return Names::kSchema;
  if (column == "tablename") return Names::kTable;
  if (column == "attname") return Names::kColumn;
  if (column == "starelid") return Names::kRelation;
  return column == "staattnum" ? Names::kNumber : Names::kNothing;
}

void DescribedReads::AddConjuncts(const Expr* condition, int range, const std::vector<Names>& columns,
                                  std::vector<Test>* tests) const {
  RequireStack();
  if (outer_.count(condition) > 0) return;
  if (condition->kind == ExprKind::kAnd) {
    for (const Expr* arg : condition->args) AddConjuncts(arg, range, columns, tests);
    return;
  }
  const auto found = literals_.find(condition);
  if (found == literals_.end()) return;
  for (const Expr* arg : condition->args) {
    if (arg->kind != ExprKind::kColumn || arg->range != range || arg->levels_up != 0 || arg->column < 0 ||
        static_cast<std::size_t>(arg->column) >= columns.size())
      continue;
    const Names names = columns[static_cast<std::size_t>(arg->column)];
    if (names != Names::kNothing) tests->push_back({names, &found->second});
  }
}

std::vector<DescribedReads::Test> DescribedReads::TestsOf(const Read& read) const {
  std::vector<Test> tests;
  Place place = read.place;
  std::vector<Names> columns;
  for (const Column* column : read.relation->columns) columns.push_back(NamedBy(UnquoteName(column->name)));
  for (;;) {
    if (place.query->command != Command::kSelect) return tests;
    for (const Expr* condition : place.query->conditions) AddConjuncts(condition, place.range, columns, &tests);
    const auto parent = places_.find(place.query);
    if (parent == places_.end() || !PassesRowsOn(*place.query)) return tests;
    std::vector<Names> outputs;
    for (const Expr* output : place.query->outputs) {
      const bool is_column = output->kind == ExprKind::kColumn && output->range == place.range &&
                             output->levels_up == 0 && output->column >= 0 &&
                             static_cast<std::size_t>(output->column) < columns.size();
      outputs.push_back(is_column ? columns[static_cast<std::size_t>(output->column)] : Names::kNothing);
    }
    columns = std::move(outputs);
    place = parent->second;
  }
}

bool DescribedReads::Passes(const DescribedColumn& column, bool of_columns, const std::vector<Test>& tests) {
  for (const Test& test : tests) {
    const std::string* value = nullptr;
    switch (test.names) {
      case Names::kSchema:
        value = &column.schema;
        break;
      case Names::kTable:
        value = &column.table;
        break;
      case Names::kRelation:
        if (std::none_of(test.values->begin(), test.values->end(),
                         [&](const std::string& literal) { return StandsFor(literal, column); }))
          return false;
        break;
      case Names::kColumn:
        value = of_columns ? &column.column : nullptr;
        break;
      case Names::kNumber:
        value = of_columns ? &column.number : nullptr;
        break;
      default:
        break;
    }
    if (value != nullptr && std::find(test.values->begin(), test.values->end(), *value) == test.values->end())
      return false;
  }
  return true;
}

void DescribedReads::Describe(const Read& read) {
  const std::vector<Test> tests = TestsOf(read);
  std::map<std::string, Relation*> relations;
  std::map<std::pair<const Relation*, std::string>, int> columns;
  ArenaList<Origin> described;
  for (const DescribedColumn& column : catalog_.described()) {
    if (read.statistics->of_role && !column.readable) continue;
    if (!Passes(column, read.statistics->of_columns, tests)) continue;
    Relation*& relation = relations[column.relation];
    if (relation == nullptr) {
      relation = arena_.New<Relation>();
      relation->name = arena_.Copy(column.relation);
    }
    const auto [place, is_new] = columns.try_emplace({relation, column.name}, relation->columns.size);
    if (!is_new) continue;
    Column* named = arena_.New<Column>();
    named->name = arena_.Copy(column.name);
    relation->columns.Add(named);
    Origin* origin = arena_.New<Origin>();
    origin->relation = relation;
    origin->column = place->second;
    described.Add(origin);
  }
  if (described.empty()) return;
  const auto count = static_cast<std::size_t>(read.relation->columns.size);
  auto* lists = static_cast<ArenaList<Origin>*>(arena_.Allocate(count * sizeof(ArenaList<Origin>)));
  std::size_t index = 0;
  int telling = -1;
  for (const Column* column : read.relation->columns) {
    const bool tells = read.statistics->always || !OnlyNames(UnquoteName(column->name));
    lists[index] = tells ? described : ArenaList<Origin>();
    if (tells) telling = static_cast<int>(index);
    ++index;
  }
  auto* origins = arena_.New<Origins>();
  origins->columns = lists;
  origins->describes = true;
  read.relation->origins = origins;
  if (!read.statistics->always || telling < 0) return;
  // The view's own conditions look at what it shows.
  Expr* column = arena_.New<Expr>();
  column->kind = ExprKind::kColumn;
  column->range = read.place.range;
  column->column = telling;
  Expr* test = arena_.New<Expr>();
  test->kind = ExprKind::kOther;
  test->null_test = true;
  test->args.Add(column);
  read.place.query->conditions.Add(test);
}

void DescribedReads::Finish() {
  for (const Read& read : reads_) Describe(read);
}

}  // namespace privacy_score
