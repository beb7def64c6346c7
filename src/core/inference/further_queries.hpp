/*
 * further_queries.hpp - the fewest further queries that would give a record away exactly, whatever the answers.
 *
 * A record is given away when its unit vector is a combination of the sets that are answered. Sets of further queries
 * are tried in the order of their number; the last query of each is not tried but looked up, among what would have to
 * be added to make a unit. That nothing can be given away is found at once, by elimination with all that is allowed.
 */
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/base/work_control.hpp"
#include "core/inference/answered_queries.hpp"
#include "core/inference/row_span.hpp"

namespace privacy_score {

class FurtherQueries {
 public:
  // Sets of queries that are answered, and of those that would be; both have been checked.
  FurtherQueries(const RecordSets& answered, const RecordSets& allowed, int records);

  // Searches; false when it pauses for an interrupt, to be called again. Takes time exponential in how many are needed.
  bool Run(const WorkControl& control);

  // The record that is given away, from 1; 0 when no set of allowed queries gives one away.
  int record() const { return record_; }
  // The numbers of the allowed queries, from 0, that do it; none when the answered ones do.
  const std::vector<std::size_t>& queries() const { return found_; }

 private:
  // What is left of a unit when the rows of a span are taken out, and the class of the unit.
  using Remainders = std::map<std::vector<std::pair<int, Integer>>, int>;
  // Queries that are chosen so far add up to `span`; those before `next` have been tried with them.
  struct Level {
    RowSpan span;
    std::size_t next;
  };

  void Prepare(const WorkControl& control);
  // The class that one of the queries from `first` on gives away together with the span's, or kNone; `query` is which.
  int LookUp(const RowSpan& span, std::size_t first, std::size_t* query, const WorkControl& control) const;
  bool Search(const WorkControl& control);
  int DisclosedBy(const RowSpan& span) const;
  void Found(int number, std::vector<std::size_t> queries);

  const std::size_t answered_;
  const RecordClasses classes_;
  std::vector<int> single_;  // by class: its record when it has only one, else 0
  RowSpan span_;             // of the answered queries
  RowSpan everything_;       // of all that is allowed too
  std::size_t prepared_ = 0;
  std::size_t wanted_ = 0;  // how many further queries are tried now
  std::vector<Level> levels_;
  std::vector<std::size_t> chosen_;
  int record_ = 0;
  std::vector<std::size_t> found_;
};

}  // namespace privacy_score
