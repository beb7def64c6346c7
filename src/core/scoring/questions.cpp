/*
 * questions.cpp - the figures of questions.hpp.
 */
#include "core/scoring/questions.hpp"

namespace privacy_score {

void Questions::Ask(Statement& statement, std::uint64_t subject, const Statement* first, ReachFigures& figures) {
  if (first != nullptr && first->number == statement.number) return;
  const std::uint64_t pair = FoldHash(subject, statement.number);
  FlatSet::Slot& asked = asked_.SlotOf(pair);
  if (asked.key != 0 || asked_.size() >= kMostQuestions) return;
  // Room first, so that nothing is counted twice when memory runs out in between.
  std::uint32_t* columns = columns_.Find(subject);
  if (columns == nullptr) columns = columns_.Insert(subject, first == nullptr ? 0 : first->columns);
  asked_.Insert(asked, pair, {});
  ++statement.subjects;
  *columns += statement.columns;
  Raise(figures.addressed, statement.subjects);
  Raise(figures.person, *columns);
}

}  // namespace privacy_score
