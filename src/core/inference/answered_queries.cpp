/*
 * answered_queries.cpp - see answered_queries.hpp.
 */
#include "core/inference/answered_queries.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/base/error.hpp"
#include "core/base/sort_unique.hpp"

namespace privacy_score {

void CheckRecordCount(int records) {
  if (records < 0)
    throw InvalidValue("records must be at least 0, not " + std::to_string(records),
                       "It is the number of records, which are numbered from 1.");
}

void CheckRecordSets(const char* what, const RecordSets& sets, int records) {
  std::vector<std::size_t> last_set(static_cast<std::size_t>(std::max(records, 0)) + 1);
  for (std::size_t k = 0; k < sets.size(); ++k) {
    const std::string name = "set " + std::to_string(k + 1) + " of " + what;
    if (sets.starts[k] == sets.starts[k + 1])
      throw InvalidValue(name + " must not be empty",
                         "Each set lists the numbers of its records, as in [[1,2],[2,3]].");
    for (std::int64_t i = sets.starts[k]; i < sets.starts[k + 1]; ++i) {
      const int record = sets.records[static_cast<std::size_t>(i)];
      if (record < 1 || record > records)
        throw InvalidValue(name + " has the record " + std::to_string(record),
                           "Records are numbered from 1 to " + std::to_string(records) + ".");
      if (last_set[static_cast<std::size_t>(record)] == k + 1)
        throw InvalidValue(name + " has the record " + std::to_string(record) + " twice", "List each record once.");
      last_set[static_cast<std::size_t>(record)] = k + 1;
    }
  }
}

RecordClasses::RecordClasses(const RecordSets& queries, int records)
    : class_of_(static_cast<std::size_t>(records), kNone) {
  FindClasses(queries);
  FindParts();
}

// Each query splits the classes that it cuts; in the end the classes are numbered by their first records.
void RecordClasses::FindClasses(const RecordSets& queries) {
  std::vector<int> group(class_of_.size(), 0);
  int groups = 1;
  std::vector<int> split_into(1, 0);
  std::vector<std::size_t> split_by(1, 0);
  for (std::size_t k = 0; k < queries.size(); ++k) {
    for (std::int64_t i = queries.starts[k]; i < queries.starts[k + 1]; ++i) {
      int& own = group[static_cast<std::size_t>(queries.records[static_cast<std::size_t>(i)] - 1)];
      const auto old = static_cast<std::size_t>(own);
      if (split_by[old] != k + 1) {
        split_by[old] = k + 1;
        split_into[old] = groups++;
        split_into.push_back(0);
        split_by.push_back(0);
      }
      own = split_into[old];
    }
  }
  std::vector<int> number(static_cast<std::size_t>(groups), kNone);
  for (std::size_t record = 0; record < group.size(); ++record) {
    if (group[record] == 0) continue;  // the group that no query has touched
    int& own = number[static_cast<std::size_t>(group[record])];
    if (own == kNone) {
      own = classes();
      sizes_.push_back(0);
    }
    class_of_[record] = own;
    ++sizes_[static_cast<std::size_t>(own)];
  }
  for (std::size_t k = 0; k < queries.size(); ++k) {
    std::vector<int> row;
    for (std::int64_t i = queries.starts[k]; i < queries.starts[k + 1]; ++i)
      row.push_back(class_of_[static_cast<std::size_t>(queries.records[static_cast<std::size_t>(i)] - 1)]);
    SortUnique(row);
    row.shrink_to_fit();
    queries_.push_back(std::move(row));
  }
}

void RecordClasses::FindParts() {
  std::vector<int> parent(sizes_.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int node) {
    while (parent[static_cast<std::size_t>(node)] != node) {
      int& up = parent[static_cast<std::size_t>(node)];
      up = parent[static_cast<std::size_t>(up)];
      node = up;
    }
    return node;
  };
  for (const std::vector<int>& members : queries_)
    for (const int member : members) parent[static_cast<std::size_t>(root(member))] = root(members.front());
  std::vector<int> number(sizes_.size(), kNone);
  part_of_class_.resize(sizes_.size());
  for (int own = 0; own < classes(); ++own) {
    int& part = number[static_cast<std::size_t>(root(own))];
    if (part == kNone) part = parts_++;
    part_of_class_[static_cast<std::size_t>(own)] = part;
  }
}

}  // namespace privacy_score
