/*
 * resolver.hpp - from a raw parse tree to a Statement: what parse analysis does in the server, without types.
 *
 * One Resolver serves one text. It follows the server's parse_clause.c, parse_relation.c, parse_expr.c and analyze.c in
 * what is visible where, so that both front ends agree. Where a name cannot be resolved it guesses instead of failing,
 * and the guess never hides a column that the statement could read.
 *
 * Namespace items (NamespaceItem) belong to the Resolver; names in them point into the parse trees and the Catalog.
 * Nodes of the Statement belong to the arena and copy their names. Recursion is as deep as the parse tree, and views
 * add to it; it throws TooDeep (own_stack.hpp) when the stack comes to its end.
 */
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/base/paused.hpp"
#include "core/statement/arena.hpp"
#include "core/statement/statement.hpp"
#include "sqlparse/catalog.hpp"
#include "sqlparse/described.hpp"
#include "sqlparse/own_stack.hpp"
#include "sqlparse/parse.hpp"
#include "sqlparse/session_tables.hpp"
#include "sqlparse/tree.hpp"

namespace privacy_score {

// A column of a namespace item: by default column `index` of its range, else any expression of its level.
struct NamespaceColumn {
  std::string_view name;  // empty: a star whose columns are not known
  Expr* expr = nullptr;
};

struct NamespaceItem;
struct ReturningList;

// A query whose star could not be expanded, to which a column can be added later. Of a set operation every leaf.
struct OpenArm {
  Query* query = nullptr;
  NamespaceItem* item = nullptr;  // the only item with unknown columns; null when there are several
  bool open = false;              // false: an arm whose columns are all known
};

// What a name in FROM stands for.
struct NamespaceItem {
  std::string_view alias;   // table name or alias; empty: none
  std::string_view schema;  // of a table without alias, as written or canonical
  int range = -1;           // -1: a join
  std::vector<NamespaceColumn> columns;
  bool columns_visible = true;
  bool relation_visible = true;
  bool lateral_only = false;
  bool is_base = false;                    // has ctid and other system columns
  bool is_mapped = false;                  // a view that is written through: its columns are expressions over range
  bool open = false;                       // may have columns that are not known
  Relation* unresolved = nullptr;          // open: takes the columns that are mentioned
  std::vector<OpenArm> arms;               // open subquery: what takes the columns that are mentioned
  std::vector<NamespaceItem*> open_items;  // a join: the open items within

  // Where names were found first among the columns looked at so far: FindColumn keeps them for items of many columns.
  mutable std::unordered_map<std::string_view, int> places;
  mutable std::size_t placed = 0;
};

// The columns that a query returns, by name.
struct Result {
  Query* query = nullptr;
  std::vector<std::string_view> names;  // empty: a star whose columns are not known
  bool open = false;
  NamespaceItem* open_item = nullptr;  // the one item whose star could not be expanded; null when there are several
  std::vector<OpenArm> arms;           // set when the query is complete

  void MarkOpen(NamespaceItem* item) {
    open_item = open ? nullptr : item;
    open = true;
  }
};

struct CteInfo {
  std::string_view name;
  Cte* cte = nullptr;
  Result result;
  std::vector<std::string_view> aliases;
  const PgQuery__CommonTableExpr* waiting = nullptr;  // until its analysis begins
};

// One query level during analysis.
struct Level {
  Level* parent = nullptr;
  Query* query = nullptr;
  std::vector<NamespaceItem*> names;
  std::vector<CteInfo*> ctes;  // visible so far; the index is that of Query::ctes
  bool lateral_active = false;
  int stray_range = -1;
  Relation* strays = nullptr;  // columns that belong to nothing in sight
};

// A select list entry.
struct Target {
  std::string_view name;
  Expr* expr = nullptr;
};

// What a resolver may take: so many bytes of nodes, until `gives_up` (may be null) says so. `key`: that of the hashes
// of constants; null where they are not wanted.
struct ResolverLimits {
  std::size_t memory;
  GivesUp gives_up;
  const HashKey* key = nullptr;
};

class Resolver {
 public:
  // Whoever resolves throws Paused (core/base/paused.hpp) when `limits.gives_up` says so. `session` (may be null): the
  // temporary tables of the session whose text it is, which follow each statement.
  Resolver(const Catalog& catalog, Arena& arena, std::vector<MissingName>* missing, ResolverLimits limits,
           SessionTables* session = nullptr);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Throws TooDeep, and Error 54001 when views nest too deeply or the tree grows too large.
  Statement Resolve(const Node* raw);

 private:
  class ViewText;

  // resolve_utility.cpp
  Query* Utility(const Node* node);
  Query* Copy(const PgQuery__CopyStmt& copy);
  Result Any(Level* parent, const Node* node, CteInfo* recursive);

  // resolve_session.cpp
  void NoteSession(const Node& raw, const Statement& statement);
  void NoteCreated(const PgQuery__CreateStmt& create);
  void NoteFilled(const PgQuery__IntoClause* into, const Statement& statement);
  void NoteDropped(const PgQuery__DropStmt& drop);

  // resolve_select.cpp
  Result Select(Level* parent, const PgQuery__SelectStmt& select, CteInfo* recursive);
  Result PlainSelect(Level* level, const PgQuery__SelectStmt& select);
  Result Values(Level* level, const PgQuery__SelectStmt& select);
  Result SetOperation(Level* level, const PgQuery__SelectStmt& select, CteInfo* recursive);
  void Arms(Level* level, const PgQuery__SelectStmt& select, CteInfo* recursive, bool is_top, Result* result);
  void OrderOutputs(Level* level, const PgQuery__SelectStmt& select, const Result& result);
  Expr* SortTarget(Level* level, const Node* node, const std::vector<Target>& targets, bool is_group);
  void Group(Level* level, const Node* node, const std::vector<Target>& targets);
  void Limit(Level* level, const PgQuery__SelectStmt& select);
  void Window(Level* level, const PgQuery__WindowDef& window);
  int ValuesRange(Level* level, NodeList lists, std::size_t* columns);

  // resolve_targets.cpp
  std::vector<Target> TargetList(Level* level, NodeList list, Result* result);
  void ExpandStar(Level* level, const Node* node, std::vector<Target>* targets, Result* result);
  void ExpandItem(Level* at, Level* level, NamespaceItem* item, std::vector<Target>* targets, Result* result);
  std::string_view OutputName(const Node* node, int* strength);

  // resolve_cte.cpp
  void With(Level* level, const PgQuery__WithClause* with);
  void AnalyseCte(Level* level, CteInfo* info, bool recursive);
  void SearchAndCycle(const PgQuery__CommonTableExpr& cte, CteInfo* info);
  void NameCte(CteInfo* info, const Result& result);

  // resolve_from.cpp
  void FromClause(Level* level, NodeList list);
  NamespaceItem* From(Level* level, const Node* node, std::vector<NamespaceItem*>* names);
  NamespaceItem* FromTable(Level* level, const PgQuery__RangeVar& table);
  NamespaceItem* FromSubquery(Level* level, const PgQuery__RangeSubselect& subquery);
  NamespaceItem* FromSample(Level* level, const PgQuery__RangeTableSample& sample, std::vector<NamespaceItem*>* names);
  void JoinSide(NamespaceItem* join, NamespaceItem* side, const std::vector<std::string_view>& merged);
  NamespaceItem* FromJoin(Level* level, const PgQuery__JoinExpr& join, std::vector<NamespaceItem*>* names);
  NamespaceItem* CteItem(Level* level, const PgQuery__RangeVar& table);
  NamespaceItem* RelationItem(Level* level, const PgQuery__RangeVar& table, const CatalogRelation* entry);
  Query* View(const CatalogRelation& view);
  void NameItem(NamespaceItem* item, const PgQuery__Alias* alias);
  void FillFromResult(NamespaceItem* item, const Result& result);

  // resolve_function.cpp
  NamespaceItem* FromFunction(Level* level, const PgQuery__RangeFunction& function);
  NamespaceItem* FromXmlTable(Level* level, const PgQuery__RangeTableFunc& table);
  NamespaceItem* FromOther(Level* level, const Node& node);
  const CatalogFunction* Function(NodeList name, std::size_t arguments);
  Expr* Call(Level* level, const PgQuery__FuncCall& call);

  // resolve_column.cpp
  Expr* ColumnReference(Level* level, const PgQuery__ColumnRef& ref);
  Expr* BareColumn(Level* level, std::string_view name);
  Expr* QualifiedColumn(Level* level, const std::vector<std::string_view>& parts, bool star);
  Expr* OpenColumn(Level* level, std::string_view name);
  Expr* ItemField(NamespaceItem* item, std::string_view name, int levels_up);
  Expr* SystemColumn(const NamespaceItem& item, std::string_view name, int levels_up);
  Expr* Field(Level* level, Expr* row, std::string_view name);
  Expr* Stray(Level* level, std::string text);
  NamespaceItem* FindItem(Level* level, std::string_view schema, std::string_view name, int* levels_up);
  static int FindColumn(const NamespaceItem& item, std::string_view name);
  int AddOpenColumn(NamespaceItem* item, std::string_view name);
  int AddMentioned(Relation* relation, std::string_view name);
  Expr* ColumnOf(const NamespaceItem& item, int column, int levels_up);
  Expr* WholeRow(NamespaceItem* item, int levels_up);
  static NamespaceItem* ItemOfRange(Level* level, int range, int levels_up);

  // resolve_expr.cpp
  Expr* Expression(Level* level, const Node* node);
  Expr* Plain(Level* level, const Node* node);  // the same, but for Expr::chooses
  Expr* Operator(Level* level, const PgQuery__AExpr& expr);
  Expr* InList(Level* level, const PgQuery__AExpr& expr);
  Expr* Boolean(Level* level, const PgQuery__BoolExpr& expr);
  Expr* SubLink(Level* level, const PgQuery__SubLink& link);
  Expr* Indirection(Level* level, const PgQuery__AIndirection& indirection);
  Expr* Xml(Level* level, const PgQuery__XmlExpr& xml);
  Expr* Equality(Expr* left, Expr* right);
  Expr* Between(Level* level, const PgQuery__AExpr& expr);
  Expr* Case(Level* level, const PgQuery__CaseExpr& expr);
  // Notes the literals that a comparison has on one of its sides (described.hpp).
  void NoteLiterals(const Expr* comparison, const Node* left, const Node* right);
  // Marks a comparison with what is the same for all rows (Expr::pins).
  static void Pin(Expr* comparison, Pins pins, const Expr* left, const Expr* right);
  // Marks <, <=, > or >= (Expr::limit).
  Expr* Limited(Level* level, std::string_view name, const Node* left, const Node* right);
  Expr* NewExpr(ExprKind kind);
  Expr* Other(const std::vector<Expr*>& args);
  Expr* OtherOf(Level* level, std::initializer_list<const Node*> nodes);
  Expr* OtherOf(Level* level, NodeList nodes);
  Expr* ColumnAt(int range, int column, int levels_up);
  // A copy that can stand in another list, `levels_up` levels further in.
  Expr* Clone(const Expr* expr, int levels_up = 0);

  // resolve_values.cpp
  Expr* Operand(Level* level, const Node* node);  // Expression() with the values of what is constant
  bool AddValue(Expr* expr, const Node* node);
  bool AddValues(Expr* expr, const Node* node);
  void AddElements(Expr* expr, const Node* node);
  void AddOperatorValues(Expr* comparison, const PgQuery__AExpr& expr);
  void AddListValues(Expr* comparison, Expr* left, const Node* node, NodeList list);
  void AddCaseValues(Expr* comparison, const PgQuery__CaseExpr& expr);
  struct Parts;
  bool FindParts(const Node* node, Parts* parts);
  Value* NewValue(Expr* expr);

  // resolve_dml.cpp
  Result Insert(Level* parent, const PgQuery__InsertStmt& insert);
  void InsertSource(Level* level, const PgQuery__InsertStmt& insert, NamespaceItem* target);
  void OnConflict(Level* level, const PgQuery__OnConflictClause& conflict, NamespaceItem* target);
  Result Update(Level* parent, const PgQuery__UpdateStmt& update);
  Result Delete(Level* parent, const PgQuery__DeleteStmt& remove);
  Result Merge(Level* parent, const PgQuery__MergeStmt& merge);
  void SetClauses(Level* level, NamespaceItem* target, NodeList list);
  void Returning(Level* level, NamespaceItem* target, const ReturningList& returning, Result* result);
  void Assign(Level* level, int column, Expr* value);

  // resolve_target.cpp
  NamespaceItem* TargetItem(Level* level, const PgQuery__RangeVar& table);
  NamespaceItem* ViewTarget(Level* level, const CatalogRelation& view);
  int TargetColumn(NamespaceItem* target, std::string_view name);
  static int TargetColumnAt(const NamespaceItem& target, std::size_t position);

  // resolver.cpp
  const CatalogRelation* FindRelation(const PgQuery__RangeVar& table);
  void Miss(MissingName::Kind kind, std::string_view schema, std::string_view name, int arguments);
  void AddKeys(ArenaList<Key>* keys, const std::vector<std::vector<int>>& all);
  Relation* TableOf(const CatalogRelation& entry, bool with_children);
  void AddOrigins(Relation* relation, const CatalogRelation& entry, bool with_children);
  Relation* NewTable(const CatalogRelation& entry);
  Relation* UnresolvedOf(const PgQuery__RangeVar& table);
  const PgQuery__SelectStmt* ParseView(const CatalogRelation& view);
  Query* NewQuery(Level* level, Command command);
  int AddRange(Level* level, RangeKind kind, Range** range);
  void CountNode();
  NamespaceItem* NewItem() { return &items_.emplace_back(); }

  const Catalog& catalog_;
  Arena& arena_;
  std::vector<MissingName>* missing_;
  std::set<MissingName> missed_;  // what is in missing_
  const ResolverLimits limits_;
  SessionTables* const session_;
  Result top_;                                    // of the query that the statement stands for
  std::set<std::string, std::less<>> protected_;  // relations that were met, by canonical name
  std::deque<NamespaceItem> items_;
  std::deque<CteInfo> ctes_;
  std::map<std::string, PrivacyScoreParse> views_;                         // parsed definitions, by canonical name
  std::map<std::pair<std::string, bool>, Relation*> relations_;            // of this statement, see TableOf
  std::map<std::string, Relation*> origins_;                               // what copies come from, by canonical name
  std::map<std::string, Relation*> unresolved_;                            // of this statement, by the name as written
  std::map<std::pair<const Relation*, std::string_view>, int> mentioned_;  // places of columns, see AddMentioned
  DescribedReads described_;
  int view_depth_ = 0;
  int told_calls_ = 0;  // how many functions that may be seen to run were met so far
  long nodes_ = 0;
};

// While the text of a view is analysed: names without a schema are those of pg_catalog.
class Resolver::ViewText {
 public:
  explicit ViewText(Resolver* resolver);
  ~ViewText() { --resolver_->view_depth_; }
  ViewText(const ViewText&) = delete;
  ViewText& operator=(const ViewText&) = delete;

 private:
  Resolver* resolver_;
};

}  // namespace privacy_score
