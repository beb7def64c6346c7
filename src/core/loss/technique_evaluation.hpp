/*
 * technique_evaluation.hpp - techniques of disclosure control compared on a table: how much is left to guess of a
 * sensitive number by an intruder who knows some other attributes of a person [Alfalayleh, Brankovic, section 5].
 *
 * For each non-empty subset of the known attributes and each combination of values that records have in it, the
 * intruder takes the matching records, sees of each what the technique shows, and believes the mean of what they
 * suggest. Entropy and equivocation area of that law are averaged over combinations, subsets of equal size and
 * repetitions.
 *
 * These are simulations: they can be repeated from their seed, and nothing of them is released.
 */
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/decimal_grid.hpp"
#include "core/base/paused.hpp"

namespace privacy_score {

// Strengths: sampling, the share of records that is released, in (0, 1]; query restriction, the number of records that
// a sum is over, even, at least 2; noise, the greatest noise in percent of the number of values less one.
enum class Technique { kSampling, kQueryRestriction, kNoise };

// Records by columns. `known` has codes, equal for equal values.
struct EvaluatedTable {
  std::vector<Decimal> domain;                    // of the sensitive attribute, distinct, in any order
  std::vector<std::uint32_t> sensitive;           // places in the domain, by record
  std::vector<std::vector<std::uint32_t>> known;  // by attribute
};

struct EvaluationResult {
  double strength;
  int known_attributes;
  double initial_entropy;  // bits
  double area;             // bits times units of the sensitive attribute
  std::int64_t samples;    // laws that both are the mean of
};

class TechniqueEvaluation {
 public:
  // Throws Error 22023 for no known attributes or more than 16, no records, no repetitions and strengths out of range.
  TechniqueEvaluation(EvaluatedTable table, Technique technique, std::vector<double> strengths, int repetitions,
                      std::uint64_t seed);

  // False when it was interrupted: call it again, it goes on where it was.
  bool Run(const WorkControl& control);

  // By strength, as given, and number of known attributes; once Run has returned true.
  std::vector<EvaluationResult> Results() const;

  // How far Run is, in rounds of one subset, strength and repetition.
  std::int64_t done() const { return done_; }
  std::int64_t total() const { return total_; }

 private:
  struct Sum {
    long double entropy = 0;
    long double area = 0;
    std::int64_t samples = 0;
  };
  struct Measured {
    double entropy, area;
  };

  void SortDomain();
  void CheckStrengths() const;
  void GroupRecords(std::uint32_t subset);
  void Observe(std::size_t strength, int repetition);
  void Round(std::size_t strength, std::uint32_t subset, const WorkControl& control);
  Measured Measure(const std::vector<std::uint64_t>& seen, std::size_t strength, const WorkControl& control) const;

  EvaluatedTable table_;
  Technique technique_;
  std::vector<double> strengths_;
  int repetitions_;
  std::uint64_t seed_;
  int decimals_ = 0;
  std::vector<std::int64_t> steps_;  // of the domain, ascending; `sensitive` are places in it

  std::int64_t done_ = 0;
  std::int64_t total_ = 0;
  std::uint32_t grouped_ = 0;         // the subset that the groups below are of
  std::vector<std::uint32_t> order_;  // records by group
  std::vector<std::size_t> group_ends_;
  std::vector<std::uint64_t> seen_;     // of each record, in the round at hand
  std::vector<std::vector<Sum>> sums_;  // by strength and number of known attributes less one
  // Laws depend on what is seen of the matching records only: by that, for the strength at hand.
  std::unordered_map<std::string, Measured> measured_;
  std::size_t measured_strength_ = 0;
};

}  // namespace privacy_score
