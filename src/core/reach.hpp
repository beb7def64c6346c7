/*
 * reach.hpp - how far a session reaches: what statements that differ in constants only add up to.
 *
 * DEFINITIONS, section 4b (ours). For one session:
 *   reach            greatest number of distinct constant vectors of one abstraction
 *   subjects         distinct values compared for equality with a subject column
 *   subject_columns  greatest number of distinct non-identifier columns revealed in statements about one such value
 * Only statements count that name a column of a protected relation in what they show or filter by: a loop that fills a
 * log is nobody's business. Values of relations that share a subject through foreign keys are the same subject. A
 * subject of several columns counts when all of them are compared in one FROM item; comparisons of equal number are
 * taken pair by pair, as in (a, b) IN ((1, 2), (3, 4)), else each with each.
 *
 * Constants come as keyed hashes. What was observed is kept in a compact log, so that the figures can be had again
 * under another model. Memory is bounded: beyond the limits below a figure stays where it is.
 */
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "comparisons.hpp"
#include "model.hpp"

namespace privacy_score {

// Limits of one session.
inline constexpr std::size_t kMostVectorsOfForm = 32768;
inline constexpr std::size_t kMostVectors = 131072;
inline constexpr std::size_t kMostUnprotectedVectors =
    8192;  // of statements that do not count, lest they starve others
inline constexpr std::size_t kMostLogWords = 524288;
inline constexpr std::size_t kMostSubjects = 65536;
inline constexpr std::size_t kMostColumnSets = 4096;

// In the order of ReachFigures.
inline constexpr std::string_view kReachFigureNames[kReachFigureCount] = {"reach", "subjects", "subject_columns"};

// A figure that is out of reach.
struct ReachExcess {
  int figure = 0;
  std::int64_t value = 0;
  std::int64_t greatest = 0;  // of the baseline's sessions
  double limit = 0;           // factor times that
};

// The figures that exceed `factor` times the greatest of the baseline and are at least 10. Of a figure that is not
// known of the baseline nothing is said.
std::vector<ReachExcess> OutOfReach(const ReachFigures& figures, const Baseline& baseline, double factor);

// JSON of an alert: cause and figure (its name), value, baseline, factor.
std::string ReachExcessJson(const ReachExcess& excess, double factor);

class ReachTracker {
 public:
  // A tracker under a model that is not referred to afterwards.
  ReachTracker(const Model& model, bool where_counts);

  // Takes in one execution of a statement. `model` is that of the constructor.
  void Observe(const Model& model, AbstractionId id, const Tokens& tokens, const ExecutionConstants& constants);

  // Takes in all that `before` has observed. What was too much for its log keeps the figures that it had.
  void Replay(const ReachTracker& before, const Model& model,
              const std::function<const Tokens&(AbstractionId)>& tokens_of);

  const ReachFigures& figures() const { return figures_; }

 private:
  struct SubjectColumn {
    std::int64_t group = 0;
    std::uint32_t position = 0;
    std::uint32_t size = 0;
    std::uint32_t relation = 0;
  };
  struct Form {  // statements that differ in constants only
    AbstractionId id = 0;
    std::size_t vectors = 0;
    bool counts = false;
    AttributeSet columns;  // non-identifiers that it reveals
  };

  std::uint32_t FormOf(const Model& model, AbstractionId id, const Tokens& tokens);
  bool Remember(std::uint32_t index, std::uint64_t key);
  void Log(std::uint32_t index, const ExecutionConstants& constants);
  void AddSubjects(std::uint32_t index, const std::vector<ExecutionConstants::Group>& groups);
  void AddSubject(std::uint32_t index, std::uint64_t subject);
  std::optional<std::uint32_t> SetWith(std::uint32_t set, std::uint32_t index);
  void Raise(int figure, std::size_t value);

  bool where_counts_;
  std::unordered_map<std::uint64_t, SubjectColumn> subject_columns_;  // by NameHash
  std::vector<Form> forms_;
  std::unordered_map<AbstractionId, std::uint32_t> form_ids_;
  std::unordered_set<std::uint64_t> seen_;  // statement and vector
  std::size_t unprotected_ = 0;             // of them, of statements that do not count
  std::vector<std::uint64_t> log_;
  bool log_is_full_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> subjects_;  // the set of columns revealed of each
  std::vector<AttributeSet> sets_;
  std::unordered_map<AttributeSet, std::uint32_t, AttributeSetHash> set_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> steps_;  // (set, statement) -> set
  ReachFigures figures_;
};

}  // namespace privacy_score
