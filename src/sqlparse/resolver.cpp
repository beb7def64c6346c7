/*
 * resolver.cpp - what all parts of the resolver share: look-up of names, new nodes, limits.
 */
#include "sqlparse/resolver.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/names.hpp"

namespace privacy_score {

namespace {

constexpr int kMaxViewDepth = 64;
constexpr long kMaxNodes = 2000000;
// A node may take a look at everything else: a millisecond with as many nodes as there can be.
constexpr long kNodesBetweenQuestions = 64;

}  // namespace

Resolver::ViewText::ViewText(Resolver* resolver) : resolver_(resolver) {
  if (resolver->view_depth_ >= kMaxViewDepth)
    throw Error("54001", "views are nested too deeply", "Query the relations that these views read.");
  ++resolver->view_depth_;
}

Resolver::Resolver(const Catalog& catalog, Arena& arena, std::vector<MissingName>* missing, ResolverLimits limits,
                   SessionTables* session)
    : catalog_(catalog),
      arena_(arena),
      missing_(missing),
      limits_(limits),
      session_(session),
      described_(catalog, arena) {
  if (missing != nullptr) missed_.insert(missing->begin(), missing->end());
}

Resolver::~Resolver() {
  for (auto& [name, parse] : views_) privacy_score_parse_free(&parse);
}

Statement Resolver::Resolve(const Node* raw) {
  relations_.clear();
  unresolved_.clear();
  origins_.clear();
  mentioned_.clear();
  described_.Clear();
  top_ = {};
  Statement statement;
  if (raw != nullptr) statement.query = Utility(raw);
  described_.Finish();
  if (raw != nullptr && session_ != nullptr) NoteSession(*raw, statement);
  return statement;
}

// Null when the name does not exist or is not known yet.
const CatalogRelation* Resolver::FindRelation(const PgQuery__RangeVar& table) {
  std::string_view schema = table.schemaname;
  if (schema.empty() && view_depth_ > 0) schema = "pg_catalog";
  const CatalogRelation* const* found = catalog_.FindRelation(schema, table.relname);
  if (found == nullptr) Miss(MissingName::Kind::kRelation, schema, table.relname, 0);
  if (found == nullptr || *found != nullptr) return found == nullptr ? nullptr : *found;
  const bool may_be_temporary = session_ != nullptr && (schema.empty() || schema == "pg_temp");
  return may_be_temporary ? session_->Find(table.relname) : nullptr;
}

void Resolver::Miss(MissingName::Kind kind, std::string_view schema, std::string_view name, int arguments) {
  if (missing_ == nullptr) return;
  MissingName missing;
  missing.kind = kind;
  missing.schema = schema;
  missing.name = name;
  missing.arguments = arguments;
  if (missed_.insert(missing).second) missing_->push_back(std::move(missing));
}

void Resolver::AddKeys(ArenaList<Key>* keys, const std::vector<std::vector<int>>& all) {
  for (const std::vector<int>& columns : all) {
    Key* key = arena_.New<Key>();
    int* copy = static_cast<int*>(arena_.Allocate(columns.size() * sizeof(int)));
    std::copy(columns.begin(), columns.end(), copy);
    key->columns = copy;
    key->size = static_cast<int>(columns.size());
    keys->Add(key);
  }
}

// The node of a table, with its children or without; one of each for a statement.
Relation* Resolver::TableOf(const CatalogRelation& entry, bool with_children) {
  Relation*& relation = relations_[{entry.canonical, with_children}];
  if (relation != nullptr) return relation;
  relation = NewTable(entry);
  if (entry.is_protected) protected_.insert(entry.canonical);
  if (!entry.origins.empty()) AddOrigins(relation, entry, with_children);
  return relation;
}

Relation* Resolver::NewTable(const CatalogRelation& entry) {
  Relation* relation = arena_.New<Relation>();
  relation->name = arena_.Copy(entry.canonical);
  relation->catalog = entry.catalog;
  relation->own = entry.own;
  relation->temporary = SplitName(entry.canonical).schema == "pg_temp";
  for (const std::string& name : entry.columns) {
    Column* column = arena_.New<Column>();
    column->name = arena_.Copy(name);
    relation->columns.Add(column);
  }
  AddKeys(&relation->keys, entry.keys);
  AddKeys(&relation->references, entry.references);
  return relation;
}

// Says what the columns of a copy come from. The origins have the columns that copies mention.
void Resolver::AddOrigins(Relation* relation, const CatalogRelation& entry, bool with_children) {
  const auto count = static_cast<std::size_t>(relation->columns.size);
  auto* lists = static_cast<ArenaList<Origin>*>(arena_.Allocate(count * sizeof(ArenaList<Origin>)));
  std::fill(lists, lists + count, ArenaList<Origin>());
  for (const CatalogOrigin& from : entry.origins) {
    if (from.inherited && !with_children) continue;
    Relation*& made = origins_[from.relation];
    if (made == nullptr) {
      made = arena_.New<Relation>();
      made->name = arena_.Copy(from.relation);
      protected_.insert(from.relation);
    }
    Origin* origin = arena_.New<Origin>();
    origin->relation = made;
    origin->column = AddMentioned(made, from.name);
    lists[static_cast<std::size_t>(from.column)].Add(origin);
  }
  auto* origins = arena_.New<Origins>();
  origins->columns = lists;
  relation->origins = origins;
}

// The node of a name that stays as written.
Relation* Resolver::UnresolvedOf(const PgQuery__RangeVar& table) {
  std::string name = QuoteName(table.relname);
  if (*table.schemaname != '\0') name = QuoteName(table.schemaname) + '.' + name;
  Relation*& relation = unresolved_[name];
  if (relation == nullptr) {
    relation = arena_.New<Relation>();
    relation->name = arena_.Copy(name);
    const std::string_view schema = table.schemaname;
    relation->catalog = schema == "pg_catalog" || schema == "information_schema" || schema == "pg_toast";
  }
  return relation;
}

// The parsed query of a view; null when its text is not one SELECT. It lives as long as the resolver.
const PgQuery__SelectStmt* Resolver::ParseView(const CatalogRelation& view) {
  auto found = views_.find(view.canonical);
  if (found == views_.end()) {
    found = views_.emplace(view.canonical, PrivacyScoreParse{nullptr, nullptr, nullptr}).first;
    found->second = ParseOrThrow(view.view_definition, {limits_.memory, limits_.gives_up, LevelsLeft()});
  }
  if (IsTooDeep(found->second)) throw TooDeep{};
  const PgQuery__ParseResult* tree = found->second.tree;
  if (tree == nullptr || tree->n_stmts != 1 || tree->stmts[0]->stmt == nullptr) return nullptr;
  const Node* node = tree->stmts[0]->stmt;
  return node->node_case == PG_QUERY__NODE__NODE_SELECT_STMT ? node->select_stmt : nullptr;
}

Query* Resolver::NewQuery(Level* level, Command command) {
  CountNode();
  level->query = arena_.New<Query>();
  level->query->command = command;
  return level->query;
}

// Adds a FROM item and returns its index.
int Resolver::AddRange(Level* level, RangeKind kind, Range** range) {
  CountNode();
  *range = arena_.New<Range>();
  (*range)->kind = kind;
  level->query->ranges.Add(*range);
  return level->query->ranges.size - 1;
}

Expr* Resolver::NewExpr(ExprKind kind) {
  CountNode();
  Expr* expr = arena_.New<Expr>();
  expr->kind = kind;
  return expr;
}

// Views of views and stars of stars can grow exponentially.
void Resolver::CountNode() {
  const bool fits = static_cast<std::size_t>(++nodes_) <= limits_.memory / sizeof(Expr);
  if (!fits || nodes_ > kMaxNodes) throw Error("54001", "statement is too large", "Split it into several.");
  if (nodes_ % kNodesBetweenQuestions == 0) GiveUpIfAsked(limits_.gives_up);
}

}  // namespace privacy_score
