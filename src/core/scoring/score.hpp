/*
 * score.hpp - the score of n-grams against the baseline of one role, or of one of its end users.
 *
 * Structure [Khan], pair score ours (pair_score.hpp):
 *   D(g,h)    = sum over positions of delta*(g_k|h_k), or delta* of the unions ('union')
 *   s(g|beta) = min over h in beta of D(g,h); beta empty: against the empty n-gram
 * Each scorer keeps two levels: n-grams of `ngram_length`, and single statements (n = 1), which no reordering evades.
 *
 * Cost: an n-gram costs a walk over the baseline's n-grams where they lie (nearest_ngram.cpp), with what is known to be
 * the least of each delta*, which leaves out what ends in too much of it; delta* itself is computed for those that may
 * be nearest, once for each pair of classes. Of the n-grams nothing is kept here but the class of each statement.
 *
 * Where there was no room for the n-grams of a baseline, an n-gram is scored by its statements, each against all
 * statements of the baseline: the sum of s at n = 1, which is at most s ('union': the greatest), and counts as
 * estimated.
 *
 * With rates that are only bounded, s is the upper bound; the rates that could change it are noted as missing, and no
 * others: an n-gram of the baseline whose lower bound is not below the least upper bound cannot be the nearest.
 *
 * An object belongs to one backend and holds no lock.
 */
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/scoring/delta_table.hpp"
#include "core/scoring/ngram.hpp"
#include "core/scoring/pair_score.hpp"
#include "core/scoring/table_reveals.hpp"

namespace privacy_score {

// Which n-grams: those of ngram_length, or single statements.
enum class ScoreLevel { kNGram, kStatement };

struct NGramScore {
  bool matched = false;          // stands in the baseline
  bool estimated = false;        // a figure here rests on a bound
  bool score_estimated = false;  // the score does
  double score = 0;              // s(g|beta), 0 when matched
  double tight = 0;              // the same against an empty baseline, with p(y) unchanged so that it bounds the score
};

// How much a scorer remembers before it starts afresh: scores of n-grams, of each level, and delta* of a class and a
// column of the baseline.
struct ScoreMemory {
  std::size_t scores = std::size_t{1} << 16U;
  std::size_t deltas = std::size_t{1} << 19U;
};

struct NGramExplanation {
  NGramScore score;
  NGram nearest{};                      // of the baseline; all 0 when that is empty
  std::vector<double> deltas;           // delta* a position ('union': one), which sum to the score
  std::vector<std::string> attributes;  // columns to which they are due, sorted
};

class RoleScorer {
 public:
  // `defined` holds abstractions beyond those of the model; it may be null, must outlive the object and may grow.
  // `end_user`: whose own baseline counts, where there is one, and what is accepted of her; empty: nobody's. Throws
  // Error 22023 on bad settings.
  RoleScorer(std::shared_ptr<const Model> model, std::string_view role, const ScoreSettings& settings,
             const TokenMap* defined = nullptr, const ScoreMemory& memory = {}, std::string_view end_user = {});
  RoleScorer(const RoleScorer&) = delete;
  RoleScorer& operator=(const RoleScorer&) = delete;

  const ScoreSettings& settings() const { return pairs_.settings(); }
  const Model& model() const { return pairs_.model(); }
  PairScorer& pairs() { return pairs_; }

  // The abstraction of the baseline that this one counts as: itself, or, where the baseline was made before
  // abstractions told of cells, the one that is the same but for these. Throws Error XX001 when it is not known.
  AbstractionId KnownAs(AbstractionId id);
  // Takes in an abstraction of which no more than its class is kept: it can be scored, and has no tokens to show.
  void Define(AbstractionId id, const Tokens& tokens);
  // Whether an abstraction can be scored.
  bool Knows(AbstractionId id) const {
    return places_.count(id) > 0 || known_as_.count(id) > 0 || FindTokens(id) != nullptr;
  }
  // Scores an n-gram of the level's length. Throws Error XX001 when an abstraction of it is not known.
  NGramScore Score(const NGram& ngram, ScoreLevel level);
  // Says what the n-gram is nearest to. Among equally near ones the one with the most equal places, then the most
  // frequent, then the first by fingerprints.
  NGramExplanation Explain(const NGram& ngram, ScoreLevel level);
  // Explain for statements given by tokens, one a place of the level (empty tokens: padding), known or not.
  NGramExplanation ExplainTokens(const std::vector<Tokens>& places, ScoreLevel level);

  // CDR of everything the baseline reveals and delta counts; above .95 the baseline leaves delta little to say.
  RateBounds BaselineRate();
  // The columns that count in it, sorted.
  std::vector<std::string> BaselineColumns();

  int LengthOf(ScoreLevel level) const { return level == ScoreLevel::kNGram ? settings().ngram_length : 1; }
  // M for one n-gram.
  int MostPerNGram(ScoreLevel level) const { return settings().compare == ScoreSettings::kUnion ? 1 : LengthOf(level); }

  // The tokens of an abstraction; empty for padding. Throws Error XX001 when it is not known.
  const Tokens& TokensOf(AbstractionId id) const;
  // Null when it is not known.
  const Tokens* FindTokens(AbstractionId id) const;
  // A line for each abstraction of the level, its tokens parted by blanks; empty for padding, "unknown" where tokens
  // were lost.
  std::vector<std::string> ReadableForm(const NGram& ngram, ScoreLevel level) const;

  // Rates that were wanted since the last call.
  std::vector<MissingRate> TakeMissing() { return pairs_.rates().TakeMissing(); }
  bool IsMissingRates() const { return pairs_.rates().IsMissing(); }

 private:
  using Classes = std::array<ClassId, kRecordedLength>;  // the first `positions` of them
  using DeltaRows = std::array<DeltaTable::Row*, kRecordedLength>;
  struct Level {
    int length = 1;
    std::size_t positions = 1;  // 1 for 'union'
    bool empty = true;          // no n-gram of the length is known; from the first one on that is not
    // For 'union': the columns of distinct n-grams, from then on; of all of them, from the first explanation on.
    std::vector<DeltaTable::Column> unions, explained_unions;
    std::unordered_map<NGram, NGramScore, NGramHash> memo;
  };
  using Columns = std::array<DeltaTable::Column, kRecordedLength>;  // the first `positions` of them

  std::vector<NGram> AcceptedNGrams(std::string_view role, std::string_view end_user);
  Level LevelOfLength(int length) const;
  void FindColumns();
  AttributeSet BaselineAttributes();
  Level& LevelOf(ScoreLevel level) { return level == ScoreLevel::kNGram ? ngrams_ : statements_; }
  // The class of an abstraction, and whether that rests on no bound of a rate.
  struct Place {
    ClassId id = kEmptyClass;
    bool exact = true;
  };

  Place PlaceOf(AbstractionId id);
  ClassId FindKnownClass(AbstractionId id);
  ClassId KnownClassIn(TableReveals& reveals, AbstractionId id);
  ClassId KnownClassOf(AbstractionId id);
  AbstractionId FindKnownAs(AbstractionId id, const Tokens& tokens) const;
  NGram KnownAs(const NGram& ngram);
  Classes ClassesOf(const Level& level, const NGram& ngram, bool* exact);
  Classes KnownClassesOf(const Level& level, const NGram& ngram);
  Classes Together(const Level& level, Classes places);
  DeltaRows RowsOf(const Level& level, const Classes& classes);
  double Distance(const Level& level, const DeltaRows& rows, const Columns& columns);
  static double LeastOf(const Level& level, const DeltaRows& rows, const Columns& columns);
  template <typename Visit>
  void EachBelow(const Level& level, const DeltaRows& rows, const double& bound, bool compute, Visit visit,
                 std::optional<std::uint32_t> last = std::nullopt);
  std::optional<std::uint32_t> LikelyLast(const Level& level, const DeltaRows& rows) const;
  NGramScore Compute(Level& level, const Classes& classes, bool exact, bool matched);
  void ComputeNearest(Level& level, const Classes& classes, NGramScore& score);
  void WantNearest(const Level& level, const DeltaRows& rows, double least, NGramScore& score);
  bool IsKnown(const Level& level, const NGram& ngram) const;
  const std::vector<DeltaTable::Column>& ExplainedUnions(Level& level);
  NGram NearestOf(Level& level, const NGram& ngram, const Classes& classes, double least);
  NGramExplanation ExplainClasses(Level& level, const NGram& ngram, const Classes& classes, const NGramScore& score);
  bool ByStatements(ScoreLevel level) const { return level == ScoreLevel::kNGram && !whole_; }
  NGram StatementAt(const NGram& ngram, int place) const;
  NGramScore ScoreByStatements(const NGram& ngram);
  NGramExplanation ExplainByStatements(const NGram& ngram);

  PairScorer pairs_;
  const TokenMap* defined_;
  ScoreMemory memory_;
  const Tokens no_tokens_;
  std::unordered_map<AbstractionId, Place> places_;          // of what is scored
  std::unordered_map<AbstractionId, ClassId> known_places_;  // of the baseline
  // The abstractions of a baseline that was made before these told of cells, and under which of them others are known.
  std::unordered_set<AbstractionId> before_cells_;
  std::unordered_map<AbstractionId, AbstractionId> known_as_;
  const Baseline* baseline_ = nullptr;  // in the model
  bool whole_ = true;                   // its n-grams are there, else its statements alone
  // What is known: the baseline's n-grams, or `with_accepted_`, which are these, or its statements, and what is
  // accepted.
  const NGramTable* known_;
  NGramTable with_accepted_;
  // Of both levels.
  DeltaTable deltas_;  // beyond the empty class, the first, and those of what is known
  bool has_columns_ = false;
  std::vector<DeltaTable::Column> statement_columns_;  // of the statements of what is known
  Level ngrams_;
  Level statements_;
};

}  // namespace privacy_score
