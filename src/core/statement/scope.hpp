/*
 * scope.hpp - names of a Statement brought back to what they name: the query around a query, the query behind a FROM
 * item, the base columns behind a bare column.
 *
 * Everything points into the Statement; the Scopes object owns the scopes and must outlive their use.
 */
#pragma once

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/statement/statement.hpp"

namespace privacy_score {

// Sets of FROM items are numbered.
constexpr int kAnyItem = -1;     // the set of all items
constexpr int kNoItem = 0;       // the empty set
constexpr int kUnknownSet = -2;  // not yet known

// A query with its lists made indexable and the query around it.
struct Scope {
  const Query* query = nullptr;
  Scope* parent = nullptr;
  std::vector<const Range*> ranges;
  std::vector<const Expr*> outputs;
  std::vector<Query*> ctes;
  bool executed = false;
  int keyed_items = kUnknownSet;  // the FROM items that it groups by a whole key
};

// A FROM item by its place: two items of one relation differ.
struct Item {
  Scope* scope = nullptr;
  int range = -1;

  friend bool operator==(const Item& a, const Item& b) { return a.scope == b.scope && a.range == b.range; }
  friend bool operator<(const Item& a, const Item& b) {
    if (a.scope != b.scope) return std::less<const Scope*>()(a.scope, b.scope);
    return a.range < b.range;
  }
};

struct ItemColumn {
  Item item;
  int column = -1;
};

// The base columns that a bare column stands for. `bare`: it came all the way as a bare column, through every arm.
struct BareColumns {
  std::vector<ItemColumn> columns;
  std::vector<std::pair<Scope*, const Expr*>> ends;  // expressions other than columns that the way ended at
  bool bare = true;
};

// The scope that many levels out; null when there is none.
Scope* Outer(Scope* scope, int levels_up);

// True when `outer` is `inner` or around it.
bool Encloses(const Scope* outer, const Scope* inner);

// How many queries out an aggregate belongs: where the innermost of the columns under it is. With a subquery under it,
// where it stands, which is the safe side: what it reads further out counts as the row that is there.
int LevelsOut(const Expr& aggregate);

// The FROM item's node; null when the index is out of range.
const Range* RangeOf(Item item);

class Scopes {
 public:
  // The scope of a query, made when first met. A query stands at one place, so its parent never changes. Null for null.
  Scope* ScopeOf(const Query* query, Scope* parent);

  // The query whose outputs are the columns of a kSubquery or kCte item; null for other kinds and a broken reference.
  Scope* QueryOf(Item item, const Range& range);

  // Follows a kColumn through outputs that are bare columns, into every arm of a set operation. A recursive reference
  // adds nothing.
  BareColumns ResolveBare(Scope* scope, const Expr& column);

  // True when an equality joins two FROM items by bare base columns, none of a relation that the role itself owns.
  bool IsJoin(Scope* scope, const Expr& equality);

  // True when what is ordered by is an aggregate, or a column of one relation as it is: rows are ranked, and compared
  // with nothing else.
  bool IsPlainKey(Scope* scope, const Expr& key);

  // How many outputs a query has.
  int WidthOf(Scope* scope);

  // The set of base FROM items that this query groups by a whole key, so that each group is one row of them.
  int KeyedItems(Scope* scope);

  // The expressions of a column of a kValues item; null when it has no such column.
  const Expr* ValuesOf(const Range& range, int column);

  // The set of FROM items that are in both sets.
  int CommonItems(int a, int b);

  bool Contains(int set, Item item) const;

 private:
  int InternItems(std::vector<Item> items);

  std::unordered_map<const Query*, Scope> scopes_;
  std::unordered_map<const Range*, std::vector<const Expr*>> values_;
  std::vector<std::vector<Item>> item_sets_ = {{}};
};

// Every expression of a level, and all that is within these but for subqueries.
std::vector<const Expr*> ExpressionsOf(const Query& query);

// Whether an expression reads a row of its own level, be it in a subquery.
bool ReadsRow(const Expr& operand);

}  // namespace privacy_score
