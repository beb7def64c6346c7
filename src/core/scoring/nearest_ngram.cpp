/*
 * nearest_ngram.cpp - which n-gram of a baseline is the nearest to one that it lacks, for RoleScorer (score.hpp).
 */
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "core/scoring/score.hpp"

namespace privacy_score {

namespace {

// Distances that differ by less are equal when the nearest n-gram is named.
constexpr double kTie = 1e-12;
// Sums of the same few numbers in another order differ by less, as a share.
constexpr double kSumRounding = 1e-14;
// To walk over so many n-grams takes as long as to compute a delta*.
constexpr std::size_t kManyRows = 64;

}  // namespace

RoleScorer::DeltaRows RoleScorer::RowsOf(const Level& level, const Classes& classes) {
  DeltaRows rows{};
  for (std::size_t k = 0; k < level.positions; ++k) rows[k] = &deltas_.RowOf(classes[k]);
  return rows;
}

// D of an n-gram, which is given by its rows, and one of the baseline, which is given by its columns.
double RoleScorer::Distance(const Level& level, const DeltaRows& rows, const Columns& columns) {
  double distance = 0;
  for (std::size_t k = 0; k < level.positions; ++k) distance += deltas_.Upper(*rows[k], columns[k]);
  return distance;
}

// What that is at least.
double RoleScorer::LeastOf(const Level& level, const DeltaRows& rows, const Columns& columns) {
  double least = 0;
  for (std::size_t k = 0; k < level.positions; ++k) least += rows[k]->lower[columns[k]];
  return least;
}

// Calls visit(columns, row) with what is known, or with nothing where that is none, whose D is not known to be `bound`
// at least, which `visit` may lower; the row is that of the table, 0 without one. `last`: those alone that end with
// this statement of the table. `compute`: delta* of what many end with is computed before what stands in front of it is
// looked at. After FindColumns().
template <typename Visit>
void RoleScorer::EachBelow(const Level& level, const DeltaRows& rows, const double& bound, bool compute, Visit visit,
                           std::optional<std::uint32_t> last) {
  Columns columns{};
  if (level.empty) {
    if (LeastOf(level, rows, columns) < bound) visit(columns, 0);
    return;
  }
  if (settings().compare == ScoreSettings::kUnion) {
    for (const DeltaTable::Column column : level.unions) {
      columns[0] = column;
      if (LeastOf(level, rows, columns) < bound) visit(columns, 0);
    }
    return;
  }
  // From the last place on, with what those before it come to at least; sums are made in the order of places in the
  // end.
  std::array<double, kRecordedLength + 1> sums{}, before{};
  for (std::size_t place = 0; place + 1 < level.positions; ++place)
    before[place + 1] = before[place] + rows[place]->least;
  const auto enter = [&](std::size_t k, std::uint32_t statement) {
    const std::size_t place = level.positions - 1 - k;
    columns[place] = statement_columns_[statement];
    const double& own = rows[place]->lower[columns[place]];
    const auto is_below = [&] {
      sums[k + 1] = sums[k] + own;
      const double least = sums[k + 1] + before[place];
      // The sum of two is the same in either order.
      return level.positions > 2 ? bound > 0 && least <= bound * (1 + kSumRounding) : least < bound;
    };
    if (!is_below()) return false;
    if (!compute || k > 0 || known_->EndingWith(statement) < kManyRows) return true;
    deltas_.Upper(*rows[place], columns[place]);
    return is_below();
  };
  const auto visit_below = [&](std::size_t row) {
    if (LeastOf(level, rows, columns) < bound) visit(columns, row);
  };
  if (last)
    known_->DescendFrom(*last, level.length, settings().pad, enter, visit_below);
  else
    known_->Descend(level.length, settings().pad, enter, visit_below);
}

// The statement of the table that what is nearest likely ends with: of those that n-grams end with the first whose
// delta* is known to be least; none where there is no choice.
std::optional<std::uint32_t> RoleScorer::LikelyLast(const Level& level, const DeltaRows& rows) const {
  if (level.empty || settings().compare == ScoreSettings::kUnion) return std::nullopt;
  const std::vector<double>& lower = rows[level.positions - 1]->lower;
  std::optional<std::uint32_t> likely;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t statement = 0; statement < statement_columns_.size(); ++statement) {
    const double own = lower[statement_columns_[statement]];
    if (own >= least || known_->EndingWith(statement) == 0) continue;
    least = own;
    likely = statement;
  }
  return likely;
}

// Fills s(g|beta).
void RoleScorer::ComputeNearest(Level& level, const Classes& classes, NGramScore& score) {
  FindColumns();
  deltas_.MakeRoom();
  const DeltaRows rows = RowsOf(level, classes);
  // What is near by all that is known already comes first: few others can then be nearer.
  Columns first{};
  double least = std::numeric_limits<double>::infinity();
  const auto find_first = [&](std::optional<std::uint32_t> last) {
    EachBelow(
        level, rows, least, false,
        [&](const Columns& columns, std::size_t) {
          least = LeastOf(level, rows, columns);
          first = columns;
        },
        last);
  };
  find_first(LikelyLast(level, rows));
  if (std::isinf(least)) find_first(std::nullopt);
  least = Distance(level, rows, first);
  EachBelow(level, rows, least, true,
            [&](const Columns& columns, std::size_t) { least = std::min(least, Distance(level, rows, columns)); });
  score.score = least;
  const bool exact = std::all_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(level.positions),
                                 [](const DeltaTable::Row* row) { return row->exact; });
  if (!exact) WantNearest(level, rows, least, score);
}

// Finds the n-grams of the baseline that may be nearer than `least`, or make it exact, and notes the rates they lack.
// All of them were computed: what is known of a row only rises.
void RoleScorer::WantNearest(const Level& level, const DeltaRows& rows, double least, NGramScore& score) {
  EachBelow(level, rows, least, false, [&](const Columns& columns, std::size_t) {
    score.estimated = score.score_estimated = true;
    for (std::size_t k = 0; k < level.positions; ++k) deltas_.Want(*rows[k], columns[k]);
  });
}

const std::vector<DeltaTable::Column>& RoleScorer::ExplainedUnions(Level& level) {
  if (!level.explained_unions.empty()) return level.explained_unions;
  std::vector<DeltaTable::Column> all;  // without memory for the last of them it has none
  known_->ForEach(level.length, settings().pad, [&](const NGram& ngram, std::int64_t) {
    all.push_back(deltas_.ColumnOf(KnownClassesOf(level, ngram)[0]));
  });
  return level.explained_unions = std::move(all);
}

// What is named as the nearest of the n-grams that are known, all 0 where none is, `least` being the score. After
// FindColumns().
NGram RoleScorer::NearestOf(Level& level, const NGram& ngram, const Classes& classes, double least) {
  if (level.empty) return {};
  using Rank = std::tuple<double, int, std::int64_t, NGram>;  // distances but for rounding
  const DeltaRows rows = RowsOf(level, classes);
  Rank best{std::numeric_limits<double>::infinity(), 0, 0, NGram{}};
  const auto rank = [&](const Columns& columns, const NGramTable::Counted& candidate) {
    const double distance = Distance(level, rows, columns);
    int different = 0;
    for (std::size_t k = 0; k < ngram.size(); ++k) different += candidate.ngram[k] != ngram[k] ? 1 : 0;
    best = std::min(best, Rank{std::round(distance / kTie), different, -candidate.count, candidate.ngram});
  };
  const double bound = least + 2 * kTie;
  if (settings().compare == ScoreSettings::kUnion) {
    const DeltaTable::Column* next = ExplainedUnions(level).data();
    known_->ForEach(level.length, settings().pad, [&](const NGram& candidate, std::int64_t count) {
      const Columns columns = {*next++};
      if (LeastOf(level, rows, columns) < bound) rank(columns, {candidate, count});
    });
  } else {
    EachBelow(level, rows, bound, false,
              [&](const Columns& columns, std::size_t row) { rank(columns, known_->At(row, level.length)); });
  }
  return std::get<NGram>(best);
}

}  // namespace privacy_score
