/*
 * returning_session.hpp - a session that was put out of memory, on its way back: its journal, made of its history.
 *
 * History has the statements in their order, and what each followed (Run), so n-grams and scores are what they were, to
 * the last bit. It has no constants. What was asked with those is a part of the journal by itself (AskedIn), which the
 * caller keeps where nobody reads it; where it is lost, as after a crash, the figures that are stored with the session
 * are what its reach never falls below (SessionJournal::Reached).
 */
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/scoring/ngram.hpp"
#include "core/scoring/session_journal.hpp"

namespace privacy_score {

// The entries of a journal that tell what was asked with constants. Throws Error XX001 on damaged words.
std::vector<std::uint64_t> AskedIn(const std::vector<std::uint64_t>& journal);

class ReturningSession {
 public:
  // Takes in a stored part, in whatever order (AppendStored). Throws Error XX001 on a damaged one.
  void AddPart(std::int64_t part, std::string_view ids, std::string_view runs, std::string_view rows);
  // The abstractions of all parts, whose tokens it needs, joined by NUL.
  std::vector<AbstractionId> Abstractions() const;
  void Define(AbstractionId id, std::string tokens) { tokens_[id] = std::move(tokens); }

  // The number of the part that comes next. Rows that were returned.
  std::int64_t next_part() const { return parts_.empty() ? 0 : parts_.rbegin()->first + 1; }
  std::int64_t rows() const;

  // The journal of its n-grams of ngram_length. `every_one`: with each as often as it was met. `asked`: of AskedIn;
  // what refers to statements that are not in the history is left out. Throws Error XX001 when tokens are not known, a
  // part is missing, or on damaged words.
  std::vector<std::uint64_t> Journal(int ngram_length, bool every_one, const std::vector<std::uint64_t>& asked) const;

 private:
  Sequence All() const;

  std::map<std::int64_t, Sequence> parts_;
  std::map<AbstractionId, std::string> tokens_;
};

}  // namespace privacy_score
