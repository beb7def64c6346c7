/*
 * returning_session.cpp - see returning_session.hpp.
 */
#include "core/scoring/returning_session.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

// Copies the entries of constants, where `has` says that their statement is known.
template <typename Has>
struct AskedCopier {
  SessionJournal& to;
  Has has;
  void Take(const SessionJournal::Definition&) const {}
  void Take(const SessionJournal::Met&) const {}
  void Take(const SessionJournal::Asked& asked) const {
    if (has(asked.id)) to.Write(asked);
  }
  void Take(const SessionJournal::Subject& subject) const {
    if (has(subject.id)) to.Write(subject);
  }
  void Take(const SessionJournal::Reached& reached) const { to.Write(reached); }
  void Take(const SessionJournal::Sketch& sketch) const {
    if (sketch.of_subjects || has(sketch.id)) to.Write(sketch);
  }
};

template <typename Has>
void CopyAsked(const std::vector<std::uint64_t>& words, SessionJournal& to, Has has) {
  AskedCopier<Has> copier = {to, has};
  SessionJournal::Read(words.data(), words.size(), copier);
}

}  // namespace

std::vector<std::uint64_t> AskedIn(const std::vector<std::uint64_t>& journal) {
  SessionJournal asked;
  CopyAsked(journal, asked, [](AbstractionId) { return true; });
  return asked.words();
}

void ReturningSession::AddPart(std::int64_t part, std::string_view ids, std::string_view runs, std::string_view rows) {
  if (part < 0) throw DamagedData("part of a session");
  Sequence sequence;
  AppendStored(sequence, ids, runs, rows);
  parts_[part] = std::move(sequence);
}

std::vector<AbstractionId> ReturningSession::Abstractions() const {
  std::set<AbstractionId> ids;
  for (const auto& [part, sequence] : parts_)
    for (const Run& run : sequence)
      if (run.id != 0) ids.insert(run.id);
  return {ids.begin(), ids.end()};
}

std::int64_t ReturningSession::rows() const {
  std::int64_t rows = 0;
  for (const auto& [part, sequence] : parts_)
    for (const Run& run : sequence) rows += run.rows;
  return rows;
}

Sequence ReturningSession::All() const {
  if (next_part() != static_cast<std::int64_t>(parts_.size())) throw DamagedData("parts of a session");
  Sequence all;
  for (const auto& [part, sequence] : parts_) all.insert(all.end(), sequence.begin(), sequence.end());
  return all;
}

std::vector<std::uint64_t> ReturningSession::Journal(int ngram_length, bool every_one,
                                                     const std::vector<std::uint64_t>& asked) const {
  std::unordered_map<NGram, std::uint64_t, NGramHash> counts;
  std::vector<NGram> in_order;
  ForEachNGram(All(), [&](const NGram& recorded, std::int64_t count, std::int64_t) {
    if (count == 0) return;
    const NGram ngram = Suffix(recorded, ngram_length);
    const auto [place, fresh] = counts.emplace(ngram, 0);
    if (fresh) in_order.push_back(ngram);
    place->second += static_cast<std::uint64_t>(count);
  });
  SessionJournal journal;
  std::set<AbstractionId> defined;
  for (const NGram& ngram : in_order) {
    const AbstractionId id = ngram.back();
    if (defined.insert(id).second) {
      const auto tokens = tokens_.find(id);
      if (tokens == tokens_.end()) throw DamagedData("abstractions of a session");
      journal.Write(SessionJournal::Definition{id, tokens->second});
    }
    journal.Write(SessionJournal::Met{ngram, every_one ? counts[ngram] : 1});
  }
  CopyAsked(asked, journal, [&](AbstractionId id) { return defined.count(id) > 0; });
  return journal.words();
}

}  // namespace privacy_score
