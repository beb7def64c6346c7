/*
 * questions.hpp - how many subjects one statement of a session addresses, and how much the session asks about one.
 *
 * docs/alarms.md (ours). For one session, over statements that count for reach:
 *   addressed  greatest number of distinct subjects that one abstraction compares with
 *   person     greatest number of columns asked about one subject: over the distinct abstractions about it, the sum of
 *              the columns, no identifiers, that each reveals
 * Columns and not bits: what is stored of a session stays comparable with later ones while the data, and what is known
 * of them, change. The sums are of integers, so the order of statements does not matter.
 *
 * Memory is bounded: beyond kMostQuestions pairs of a statement and a subject the figures stay where they are.
 */
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/base/flat_map.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/scoring/model.hpp"

namespace privacy_score {

inline constexpr std::size_t kMostQuestions = 131072;

class Questions {
 public:
  // What is known of a statement; its number tells it from the others.
  struct Statement {
    std::uint32_t number = 0;
    std::uint32_t columns = 0;   // that it reveals and that are no identifiers
    std::uint32_t subjects = 0;  // that it has addressed
  };

  // A statement asks about a subject that none has asked about. The caller remembers which: nothing is kept of it here.
  static void AskFirst(Statement& statement, ReachFigures& figures) {
    ++statement.subjects;
    Raise(figures.addressed, statement.subjects);
    Raise(figures.person, statement.columns);
  }

  // A statement asks about a subject. `first`: the statement that AskFirst() was called with for it; null for none.
  void Ask(Statement& statement, std::uint64_t subject, const Statement* first, ReachFigures& figures);

  // Things that are remembered.
  std::size_t size() const { return asked_.size() + columns_.size(); }

 private:
  static void Raise(std::int64_t& figure, std::uint32_t value) {
    figure = std::max(figure, static_cast<std::int64_t>(value));
  }

  FlatSet asked_;                   // statement and subject, but for the first of AskFirst()
  FlatMap<std::uint32_t> columns_;  // asked about a subject of which there is a pair
};

}  // namespace privacy_score
