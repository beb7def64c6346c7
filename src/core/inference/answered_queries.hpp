/*
 * answered_queries.hpp - sums over sets of records that have been answered, brought into a small form.
 *
 * Records that are in exactly the same queries are alike: no answer tells one from another. They form a class, and a
 * query is a set of classes. Classes that no chain of queries connects have nothing to do with each other and form
 * parts of their own.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace privacy_score {

// Sets of records, which are numbered from 1: set k is records[starts[k]] to records[starts[k + 1] - 1].
struct RecordSets {
  std::vector<std::int64_t> starts{0};
  std::vector<int> records;

  std::size_t size() const { return starts.size() - 1; }
};

// Throws Error 22023 for a number of records below 0.
void CheckRecordCount(int records);

// Throws Error 22023 for an empty set, a record that is not from 1 to `records`, or one that is twice in a set. `what`
// names the argument.
void CheckRecordSets(const char* what, const RecordSets& sets, int records);

class RecordClasses {
 public:
  static constexpr int kNone = -1;  // the class of a record in no query

  // Of sets that have been checked.
  RecordClasses(const RecordSets& queries, int records);

  int classes() const { return static_cast<int>(sizes_.size()); }
  int parts() const { return parts_; }
  // By record, from 0.
  const std::vector<int>& class_of() const { return class_of_; }
  // How many records a class has.
  const std::vector<int>& sizes() const { return sizes_; }
  // The classes of each query, ascending.
  const std::vector<std::vector<int>>& queries() const { return queries_; }
  const std::vector<int>& part_of_class() const { return part_of_class_; }
  int PartOfQuery(std::size_t query) const { return part_of_class_[static_cast<std::size_t>(queries_[query][0])]; }

 private:
  void FindClasses(const RecordSets& queries);
  void FindParts();

  std::vector<int> class_of_;
  std::vector<int> sizes_;
  std::vector<std::vector<int>> queries_;
  std::vector<int> part_of_class_;
  int parts_ = 0;
};

}  // namespace privacy_score
