/*
 * optimal_buckets.hpp - the bucket setting of any number of sizes with the least loss, with a proven bound.
 *
 * The best known setting is there at any time, never worse than the recursive method's, together with a lower bound of
 * the loss of all valid settings. The search ends when they meet or when the caller's time is over.
 */
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/buckets/bucket_plan.hpp"
#include "core/buckets/bucket_problem.hpp"

namespace privacy_score {

struct SearchControl {
  bool (*interrupted)() = nullptr;  // asks for a pause; null: never
  std::function<bool()>
      expired;  // the time for the search is over; empty: never. Not asked before a first plan is made
};

enum class SearchOutcome {
  kRunning,     // not ended
  kFound,       // there is a plan; it is optimal if its bound is its loss
  kImpossible,  // proved: no setting is valid
  kUnknown      // the time was over before a valid setting was found, or its absence proved
};

class OptimalBuckets {
 public:
  // `problem` must outlive the search.
  explicit OptimalBuckets(const BucketProblem& problem);
  ~OptimalBuckets();

  // Searches until it knows, the time is over, or a pause is asked for: kRunning means the last, and the next call goes
  // on. A setting that other methods find is found even if the time is over at once.
  SearchOutcome Run(const SearchControl& control);

  // The best plan so far, with its bound; none before one is found.
  const std::optional<BucketPlan>& plan() const;

  // How many parts of the settings have been looked at.
  std::int64_t parts() const;

 private:
  class Search;
  std::unique_ptr<Search> search_;
};

}  // namespace privacy_score
