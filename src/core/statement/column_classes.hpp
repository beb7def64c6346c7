/*
 * column_classes.hpp - base columns in classes of those that are equated, and which classes name the rows of a level.
 *
 * A class is *pinned* when one of its columns is compared with what is the same for all rows. It is *fixed* when the
 * level groups by one of its columns, or by a key of its row: rows come group by group then, each as if it were asked
 * for by itself, and it makes no difference whose the table is that says for which values.
 */
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/statement/scope.hpp"

namespace privacy_score {

// Whether the column is a key of its relation, or refers to one, by itself; or copies such a column.
bool IsKey(const ItemColumn& column);

class ColumnClasses {
 public:
  void Pin(const std::vector<ItemColumn>& columns);
  void PinKeys(const std::vector<ItemColumn>& columns);
  void Group(const std::vector<ItemColumn>& columns);
  void Equate(const ItemColumn& a, const ItemColumn& b);
  // The limit must outlive the object.
  void Bound(const ItemColumn& column, const Limit* limit);
  // Columns of rows that are joined by a condition other than =.
  void JoinByRange(std::vector<ItemColumn> columns);

  // The columns that name rows; not those that are grouped by themselves. To be called once, in the end.
  std::vector<ItemColumn> Naming();

 private:
  struct Node {
    ItemColumn column;
    std::size_t parent;
    std::size_t members = 1;  // of a root
    bool pinned = false;
    bool grouped = false;
    bool fixed = false;
    bool moves = false;   // fixed at another value in each group
    bool ranged = false;  // of a root: bounded by what moves
    std::vector<const Limit*> lower = {};
    std::vector<const Limit*> upper = {};
  };

  void PinBounded();
  void Spread();
  bool SpreadToRows();
  bool SpreadToRanges();
  std::size_t NodeOf(const ItemColumn& column);
  std::size_t RootOf(std::size_t node);
  bool IsKnown(std::size_t node);

  std::map<std::pair<Item, int>, std::size_t> node_ids_;
  std::vector<Node> nodes_;
  std::vector<std::vector<ItemColumn>> joined_;
};

}  // namespace privacy_score
