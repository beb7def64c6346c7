/*
 * further_queries.cpp - see further_queries.hpp.
 */
#include "core/inference/further_queries.hpp"

#include "core/base/paused.hpp"

namespace privacy_score {

namespace {

RecordSets Joined(const RecordSets& first, const RecordSets& second) {
  RecordSets all = first;
  const std::int64_t offset = first.starts.back();
  all.records.insert(all.records.end(), second.records.begin(), second.records.end());
  for (std::size_t k = 1; k < second.starts.size(); ++k) all.starts.push_back(offset + second.starts[k]);
  return all;
}

}  // namespace

FurtherQueries::FurtherQueries(const RecordSets& answered, const RecordSets& allowed, int records)
    : answered_(answered.size()), classes_(Joined(answered, allowed), records), single_(classes_.sizes().size()) {
  for (int record = records; record >= 1; --record) {
    const int number = classes_.class_of()[static_cast<std::size_t>(record - 1)];
    if (number != RecordClasses::kNone && classes_.sizes()[static_cast<std::size_t>(number)] == 1)
      single_[static_cast<std::size_t>(number)] = record;
  }
}

bool FurtherQueries::Run(const WorkControl& control) {
  try {
    Prepare(control);
    if (record_ != 0 || DisclosedBy(everything_) == RecordClasses::kNone) return true;
    // With all allowed queries a record is given away, so that this ends.
    while (!Search(control)) ++wanted_;
    return true;
  } catch (const Paused&) {
    return false;
  }
}

void FurtherQueries::Prepare(const WorkControl& control) {
  for (; prepared_ < classes_.queries().size(); ++prepared_) {
    if (prepared_ < answered_) span_.Add(RowOfOnes(classes_.queries()[prepared_]), control);
    everything_.Add(RowOfOnes(classes_.queries()[prepared_]), control);
  }
  if (wanted_ > 0 || record_ != 0) return;
  const int number = DisclosedBy(span_);
  if (number != RecordClasses::kNone) Found(number, {});
  wanted_ = 1;
}

int FurtherQueries::DisclosedBy(const RowSpan& span) const {
  for (int number = 0; number < classes_.classes(); ++number)
    if (single_[static_cast<std::size_t>(number)] != 0 && span.MakesUnit(number)) return number;
  return RecordClasses::kNone;
}

void FurtherQueries::Found(int number, std::vector<std::size_t> queries) {
  record_ = single_[static_cast<std::size_t>(number)];
  found_ = std::move(queries);
}

int FurtherQueries::LookUp(const RowSpan& span, std::size_t first, std::size_t* query,
                           const WorkControl& control) const {
  Remainders remainders;
  for (int number = 0; number < classes_.classes(); ++number)
    if (single_[static_cast<std::size_t>(number)] != 0)
      remainders.emplace(span.Reduced(RowOfOnes({number}), control).entries, number);
  for (*query = first; answered_ + *query < classes_.queries().size(); ++*query) {
    const SparseRow rest = span.Reduced(RowOfOnes(classes_.queries()[answered_ + *query]), control);
    if (rest.entries.empty()) continue;
    const auto found = remainders.find(rest.entries);
    if (found != remainders.end()) return found->second;
  }
  return RecordClasses::kNone;
}

// All sets of `wanted_` queries: the first ones one after the other, in ascending order, the last looked up.
bool FurtherQueries::Search(const WorkControl& control) {
  if (levels_.empty()) levels_.push_back({span_, 0});
  const std::size_t allowed = classes_.queries().size() - answered_;
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (levels_.size() == wanted_) {
      std::size_t query = 0;
      const int number = LookUp(level.span, level.next, &query, control);
      if (number != RecordClasses::kNone) {
        chosen_.push_back(query);
        Found(number, chosen_);
        return true;
      }
      level.next = allowed;
    }
    if (level.next >= allowed) {
      levels_.pop_back();
      if (!chosen_.empty()) chosen_.pop_back();
      continue;
    }
    RowSpan more = level.span;
    const bool is_new =
        more.Add(RowOfOnes(classes_.queries()[answered_ + level.next]), control) == RowSpan::Added::kNew;
    const std::size_t query = level.next++;
    if (!is_new) continue;
    chosen_.push_back(query);
    levels_.push_back({std::move(more), query + 1});
  }
  return false;
}

}  // namespace privacy_score
