/*
 * optimal_buckets.cpp - branch and bound with cuts on demand and corner relaxations (see optimal_buckets.hpp).
 *
 * The assignment of records is a transportation problem, whose vertices are integral, so that only the numbers of
 * buckets have to be integers; and which numbers can hold all records is a matter of linear cuts (hall_cuts.hpp). What
 * is left has as many variables as there are sizes, whatever the number of values and rows. Its linear relaxation is
 * tight, and the best whole numbers near the solution in fractions are found in a small group (corner_relaxation.hpp):
 * with many rows that is the optimum, at the root. Otherwise the numbers are split. Every bound is computed with
 * integers, and every setting is checked by an exact flow.
 */
#include "core/buckets/optimal_buckets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/buckets/bucket_bound.hpp"
#include "core/buckets/corner_relaxation.hpp"
#include "core/buckets/dual_simplex.hpp"
#include "core/buckets/hall_cuts.hpp"

namespace privacy_score {

namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
constexpr double kSlackTolerance = 1e-6;
// Bases of a vertex that are looked at, and settings near it for each of them.
constexpr int kMostBases = 20;
constexpr int kMostCandidates = 100;
// Dead ends before a dive is given up.
constexpr int kMostEnds = 30;
// Entries of the table of a corner relaxation, at the root and elsewhere: some 10 ns and 4 bytes each.
constexpr std::size_t kMostRootEntries = 1U << 23U;
constexpr std::size_t kMostEntries = 1U << 20U;

BucketProgram ProgramOf(const BucketProblem& problem) {
  BucketProgram program;
  program.total = problem.rows();
  for (const int size : problem.sizes()) {
    program.weights.push_back(size);
    program.costs.push_back(BucketLoss(size));
  }
  return program;
}

// The loss of a record is at most that in the largest bucket.
std::int64_t MostLoss(const BucketProblem& problem) {
  if (problem.sizes().empty()) return 0;
  const std::int64_t size = problem.sizes().back();
  return (problem.rows() / size + 1) * (size - 1) * (size - 1);
}

}  // namespace

class OptimalBuckets::Search {
 public:
  explicit Search(const BucketProblem& problem)
      : problem_(problem),
        program_(ProgramOf(problem)),
        hall_(problem),
        cuts_{hall_.UsableSizes()},
        best_(MostLoss(problem) + 1) {}

  SearchOutcome Run(const SearchControl& control);
  const std::optional<BucketPlan>& plan() const { return plan_; }
  std::int64_t parts() const { return parts_; }

 private:
  // A part of the settings: bounds of the numbers of buckets.
  struct Part {
    std::vector<std::int64_t> lows;
    std::vector<std::int64_t> highs;
    SimplexBasis basis;  // to start from
    std::int64_t bound = 0;
    std::size_t depth = 0;
  };
  // The least bound first, of those the deepest.
  struct Later {
    bool operator()(const Part& a, const Part& b) const {
      return a.bound != b.bound ? a.bound > b.bound : a.depth < b.depth;
    }
  };
  enum class Relaxed { kFractional, kDecided, kPaused };
  enum class Corner { kDecided, kOpen, kOtherBasis };

  void Begin();
  void Push(Part part);
  Part Take();
  void Surface();
  void Lose(const Part& part) { lost_ = std::min(lost_, part.bound); }
  Relaxed Relax(Part& part);
  bool AddBrokenCuts();
  void ReadNumbers();
  bool IsWhole() const;
  bool TryCorner(Part& part);
  Corner TryBasis(Part& part);
  bool PivotToBound(const Part& part, std::size_t place, bool at_high);
  bool AddsUp(const std::vector<std::int64_t>& buckets) const;
  std::size_t TrySetting(const std::vector<std::int64_t>& buckets);
  void Branch(Part part);

  const BucketProblem& problem_;
  const BucketProgram program_;
  const HallCuts hall_;
  std::vector<BucketCut> cuts_;
  std::optional<DualSimplex> simplex_;
  // The present solution: nearest integers and what they are away from it.
  std::vector<std::int64_t> whole_;
  std::vector<double> rest_;
  std::optional<BucketPlan> plan_;
  std::int64_t best_;          // loss of the plan, or more than any setting has
  std::int64_t lost_ = kNone;  // least bound of the parts that rounding errors kept from being decided
  std::vector<Part> open_;     // a heap
  std::vector<Part> dive_;     // parts of a part of open_, the next one last
  int ends_ = 0;               // of the dive: parts that were decided
  std::int64_t parts_ = 0;
  bool begun_ = false;
  std::function<bool()> stop_;  // of the present call of Run()
};

// A plan from the methods that need no search, and the root.
void OptimalBuckets::Search::Begin() {
  begun_ = true;
  plan_ = MultiSizePlan(problem_);
  if (plan_) best_ = plan_->loss;
  if (problem_.rows() == 0 || problem_.sizes().size() < 2) return;  // there is no choice
  simplex_.emplace(program_, cuts_);
  simplex_->AddCut(0);
  Part root;
  root.lows.assign(problem_.sizes().size(), 0);
  root.highs.assign(problem_.sizes().size(), DualSimplex::kNoBound);
  root.basis = simplex_->nonbasic();
  Push(std::move(root));
}

void OptimalBuckets::Search::Push(Part part) {
  open_.push_back(std::move(part));
  std::push_heap(open_.begin(), open_.end(), Later());
}

// The part to look at next: one that the last one was narrowed down to, because that soon leads to a setting, and
// better settings leave less to look at; else the one with the least bound.
OptimalBuckets::Search::Part OptimalBuckets::Search::Take() {
  std::vector<Part>& from = dive_.empty() ? open_ : dive_;
  if (dive_.empty()) {
    std::pop_heap(open_.begin(), open_.end(), Later());
    ends_ = 0;
  }
  Part part = std::move(from.back());
  from.pop_back();
  return part;
}

// Ends a dive.
void OptimalBuckets::Search::Surface() {
  for (Part& part : dive_) Push(std::move(part));
  dive_.clear();
}

SearchOutcome OptimalBuckets::Search::Run(const SearchControl& control) {
  if (!begun_) Begin();
  bool is_interrupted = false;
  bool is_expired = false;
  stop_ = [&] {
    is_interrupted = is_interrupted || (control.interrupted != nullptr && control.interrupted());
    is_expired = is_expired || (control.expired && control.expired());
    return is_interrupted || is_expired;
  };
  while ((!dive_.empty() || (!open_.empty() && open_.front().bound < best_)) && !stop_()) {
    Part part = Take();
    switch (Relax(part)) {
      case Relaxed::kPaused:
        Push(std::move(part));
        break;
      case Relaxed::kFractional:
        if (TryCorner(part))
          ++ends_;
        else if (is_interrupted || is_expired)
          Push(std::move(part));
        else
          Branch(std::move(part));
        break;
      case Relaxed::kDecided:
        ++ends_;
        break;
    }
    if (ends_ >= kMostEnds) Surface();
  }
  if (is_interrupted) return SearchOutcome::kRunning;
  Surface();
  std::int64_t bound = std::min(best_, lost_);
  if (!open_.empty()) bound = std::min(bound, open_.front().bound);
  if (plan_) {
    plan_->bound = bound;
    return SearchOutcome::kFound;
  }
  return bound == best_ ? SearchOutcome::kImpossible : SearchOutcome::kUnknown;
}

// Solves the linear relaxation of a part, with all cuts. It is decided when it has nothing below the best loss, or when
// its solution is a setting.
OptimalBuckets::Search::Relaxed OptimalBuckets::Search::Relax(Part& part) {
  if (part.bound >= best_) return Relaxed::kDecided;
  ++parts_;
  simplex_->Restore(part.lows, part.highs, part.basis);
  for (bool is_centred = false;;) {
    const DualSimplex::Result result = simplex_->Solve();
    const std::vector<DualSimplex::Multiplier> multipliers = simplex_->Multipliers(result);
    if (result == DualSimplex::Result::kInfeasible &&
        ProvenImpossible(program_, part.lows, part.highs, cuts_, multipliers))
      return Relaxed::kDecided;
    if (result != DualSimplex::Result::kOptimal) {
      Lose(part);
      return Relaxed::kDecided;
    }
    part.bound = std::max(part.bound, ProvenBound(program_, part.lows, part.highs, cuts_, multipliers));
    if (part.bound >= best_) return Relaxed::kDecided;
    part.basis = simplex_->nonbasic();
    ReadNumbers();
    if (AddBrokenCuts()) {
      if (stop_()) return Relaxed::kPaused;
      continue;
    }
    if (!is_centred) {
      is_centred = true;
      simplex_->DropLooseCuts();
      simplex_->Recentre();
      continue;
    }
    if (!IsWhole()) return Relaxed::kFractional;
    const std::size_t broken = AddsUp(whole_) ? TrySetting(whole_) : cuts_.size();
    if (broken < cuts_.size() && !simplex_->IsActive(broken)) {
      simplex_->AddCut(broken);
      continue;
    }
    if (part.bound < best_) Lose(part);
    return Relaxed::kDecided;
  }
}

void OptimalBuckets::Search::ReadNumbers() {
  whole_.clear();
  rest_.clear();
  for (std::size_t k = 0; k < program_.costs.size(); ++k) {
    const double offset = simplex_->Offset(k);
    const double rounded = std::round(offset);
    whole_.push_back(simplex_->Origin(k) + static_cast<std::int64_t>(rounded));
    rest_.push_back(offset - rounded);
  }
}

bool OptimalBuckets::Search::IsWhole() const {
  return std::all_of(rest_.begin(), rest_.end(), [](double rest) { return std::abs(rest) < kSlackTolerance; });
}

// Adds cuts that the present numbers break, known ones first; false when there are no other ones.
bool OptimalBuckets::Search::AddBrokenCuts() {
  bool added = false;
  for (std::size_t n = 0; n < cuts_.size(); ++n) {
    if (simplex_->IsActive(n) || SlackOf(cuts_[n], whole_, rest_) >= -kSlackTolerance) continue;
    simplex_->AddCut(n);
    added = true;
  }
  if (added) return true;
  for (BucketCut& cut : hall_.Broken(whole_, rest_, kSlackTolerance)) {
    // With rounding errors a cut that is in can be broken.
    if (std::find(cuts_.begin(), cuts_.end(), cut) != cuts_.end()) continue;
    cuts_.push_back(std::move(cut));
    simplex_->AddCut(cuts_.size() - 1);
    added = true;
  }
  return added;
}

// Looks for the best setting of a part among those near the vertex. True when the part is decided.
bool OptimalBuckets::Search::TryCorner(Part& part) {
  for (int n = 0; n < kMostBases; ++n) {
    const Corner corner = TryBasis(part);
    if (corner == Corner::kDecided || part.bound >= best_) return true;
    if (corner == Corner::kOpen) return false;
    simplex_->DropLooseCuts();
    simplex_->Recentre();
  }
  return false;
}

// Lists settings near the vertex by their loss. What one of them breaks is demanded of the next ones; but where that is
// tight at the vertex, it becomes part of the basis, which then knows it from the start.
OptimalBuckets::Search::Corner OptimalBuckets::Search::TryBasis(Part& part) {
  CornerRelaxation corner(program_, cuts_, *simplex_, best_, part.depth == 0 ? kMostRootEntries : kMostEntries, stop_);
  if (!corner.usable()) return Corner::kOpen;
  std::vector<std::int64_t> buckets;
  std::int64_t loss = 0;
  Corner outcome = Corner::kOpen;
  for (int n = 0; n < kMostCandidates && outcome == Corner::kOpen && corner.Next(buckets, loss); ++n) {
    bool is_within = true;
    for (std::size_t k = 0; k < buckets.size() && outcome == Corner::kOpen; ++k) {
      const bool is_high = buckets[k] > part.highs[k];
      if (!is_high && buckets[k] >= part.lows[k]) continue;
      is_within = false;
      if (PivotToBound(part, k, is_high)) outcome = Corner::kOtherBasis;
      BucketCut bound{std::vector<std::int32_t>(buckets.size()), is_high ? part.highs[k] : -part.lows[k]};
      bound.coefficients[k] = is_high ? 1 : -1;
      corner.Demand(bound.coefficients, bound.limit);
    }
    if (!is_within) continue;
    const std::size_t broken = TrySetting(buckets);
    if (broken == cuts_.size()) return Corner::kDecided;
    simplex_->AddCut(broken);
    if (std::abs(simplex_->Slack(broken)) < kSlackTolerance && simplex_->PivotOut(simplex_->SlackOf(broken), false))
      outcome = Corner::kOtherBasis;
    corner.Demand(cuts_[broken].coefficients, cuts_[broken].limit);
  }
  part.bound = std::max(part.bound, corner.Bound());
  return outcome;
}

bool OptimalBuckets::Search::PivotToBound(const Part& part, std::size_t place, bool at_high) {
  const std::int64_t bound = at_high ? part.highs[place] : part.lows[place];
  const double distance = simplex_->Offset(place) - static_cast<double>(bound - simplex_->Origin(place));
  return simplex_->IsBasic(place) && std::abs(distance) < kSlackTolerance && simplex_->PivotOut(place, at_high);
}

// Whether these are numbers of buckets for all rows. With rounding errors what looks like a solution may be none.
bool OptimalBuckets::Search::AddsUp(const std::vector<std::int64_t>& buckets) const {
  __int128 rows = 0;
  for (std::size_t k = 0; k < buckets.size(); ++k) {
    if (buckets[k] < 0) return false;
    rows += static_cast<__int128>(buckets[k]) * program_.weights[k];
  }
  return rows == program_.total;
}

// Takes over a setting that is better than the best when it is valid; else returns the number of a cut that it breaks.
std::size_t OptimalBuckets::Search::TrySetting(const std::vector<std::int64_t>& buckets) {
  const std::vector<double> no_rest(buckets.size());
  for (std::size_t n = 0; n < cuts_.size(); ++n)
    if (SlackOf(cuts_[n], buckets, no_rest) < 0) return n;
  BucketCut broken;
  if (hall_.FirstBroken(buckets, broken)) {
    cuts_.push_back(std::move(broken));
    return cuts_.size() - 1;
  }
  BucketSetting setting;
  for (std::size_t k = 0; k < buckets.size(); ++k)
    if (buckets[k] > 0) setting.push_back({problem_.sizes()[k], buckets[k]});
  if (SearchLoss(setting) < best_) {
    std::optional<BucketPlan> better = PlanOf(problem_, setting);
    if (better) {
      best_ = better->loss;
      plan_ = std::move(better);
    }
  }
  return cuts_.size();
}

// Splits a part at a number of buckets that is a fraction: far from a whole number, and of a large size, because those
// leave the others the least freedom. More buckets of it come first: few more large ones cost little, and hold more.
void OptimalBuckets::Search::Branch(Part part) {
  ReadNumbers();
  std::size_t place = program_.costs.size();
  double most = 0;
  for (std::size_t k = 0; k < program_.costs.size(); ++k) {
    const double weight = std::abs(rest_[k]) * program_.weights[k];
    if (std::abs(rest_[k]) < kSlackTolerance || weight <= most) continue;
    most = weight;
    place = k;
  }
  if (place == program_.costs.size()) {
    Lose(part);
    return;
  }
  ++part.depth;
  part.basis = simplex_->nonbasic();
  const std::int64_t below = whole_[place] - (rest_[place] < 0 ? 1 : 0);
  Part upper = part;
  upper.lows[place] = below + 1;
  part.highs[place] = below;
  dive_.push_back(std::move(part));
  dive_.push_back(std::move(upper));
}

OptimalBuckets::OptimalBuckets(const BucketProblem& problem) : search_(std::make_unique<Search>(problem)) {}
OptimalBuckets::~OptimalBuckets() = default;
SearchOutcome OptimalBuckets::Run(const SearchControl& control) { return search_->Run(control); }
const std::optional<BucketPlan>& OptimalBuckets::plan() const { return search_->plan(); }
std::int64_t OptimalBuckets::parts() const { return search_->parts(); }

}  // namespace privacy_score
