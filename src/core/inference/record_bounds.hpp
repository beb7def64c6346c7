/*
 * record_bounds.hpp - between which values each record lies, given the answers to sums over sets of records.
 *
 * Whoever asks knows that every record lies from low to high (either may be open) and the exact answers. Alike records
 * (answered_queries.hpp) are one variable; each connected part is one linear program with two objectives a variable, of
 * which most are settled by solutions of others. Bounds are proved (proven_program.hpp). With both limits open nothing
 * but the equations tells, and exact elimination answers.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/decimal_grid.hpp"
#include "core/base/rational.hpp"
#include "core/base/work_control.hpp"
#include "core/inference/answered_queries.hpp"
#include "core/inference/proven_program.hpp"
#include "core/inference/row_span.hpp"

namespace privacy_score {

struct RecordBound {
  std::optional<Rational> lower;  // none: no bound
  std::optional<Rational> upper;
};

// Answers and limits as whole steps of one decimal grid.
struct AnsweredSums {
  RecordSets queries;
  std::vector<Integer> answers;
  std::optional<Integer> low;
  std::optional<Integer> high;
  int records = 0;
  int decimals = 0;
};

// Puts them on a grid. Throws Error 22023 for numbers of queries and answers that differ, low above high, and negative
// `records`; 22003 for too many digits; and what CheckRecordSets does.
AnsweredSums SumsOf(RecordSets queries, const std::vector<Decimal>& answers, const std::optional<Decimal>& low,
                    const std::optional<Decimal>& high, int records);

class RecordBounds {
 public:
  // The solver outlives it; it is used unless both limits are open.
  RecordBounds(const PsLinearSolver& solver, AnsweredSums sums);

  // Computes; false when it pauses for an interrupt, to be called again. Throws Error 22023 for answers that no values
  // give.
  bool Run(const WorkControl& control);

  // Of a record, from 1, in steps.
  RecordBound Of(int record) const;
  // The answers alone determine the record, whatever its limits.
  bool Determined(int record) const;
  const AnsweredSums& sums() const { return sums_; }
  const RecordClasses& classes() const { return classes_; }

 private:
  // Between which values the sum of a class lies, as a distance to the limit that all distances are taken from, as far
  // as that matters for its records.
  struct ClassBound {
    std::optional<Rational> least;
    std::optional<Rational> greatest;
  };
  // A class in the program of the part at hand, as shares of the program's unit: a record of the class can be at its
  // limit when the sum of the class can be at most `idle`, and at the other when it can be at least `full`.
  struct Place {
    int number;  // of the class
    Integer idle;
    Integer full;
    double idle_share;
    double full_share;
  };

  void CheckEquations(const WorkControl& control);
  void RunPart(const WorkControl& control);
  void MakePart();
  bool Sweep(bool up, const WorkControl& control);
  void TakeWitness();
  // Between which distances each record of a class lies.
  std::pair<Rational, Rational> Distances(int number) const;
  [[noreturn]] void Refuse(std::vector<std::size_t> queries) const;

  const PsLinearSolver& solver_;
  const AnsweredSums sums_;
  const RecordClasses classes_;
  std::optional<Integer> width_;  // high - low
  bool from_high_ = false;        // distances are taken downwards from the upper limit, for want of a lower one
  std::vector<Integer> sides_;    // by query: the sum of its records' distances
  RowSpan span_;
  std::size_t checked_ = 0;  // queries that are in span_
  std::vector<ClassBound> bounds_;

  // The part at hand.
  int part_ = 0;
  std::vector<std::vector<int>> classes_of_part_;
  std::vector<std::vector<std::size_t>> queries_of_part_;
  std::unique_ptr<ProvenProgram> program_;
  std::vector<Place> places_;
  int step_ = 0;          // pushing all down, pushing all up, one by one
  std::size_t next_ = 0;  // the place that is next
};

}  // namespace privacy_score
