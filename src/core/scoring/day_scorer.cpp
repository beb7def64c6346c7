/*
 * day_scorer.cpp - see day_scorer.hpp.
 */
#include "core/scoring/day_scorer.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

// Scores are kept with the day's n-grams.
constexpr ScoreMemory kDayMemory = {std::size_t{1} << 10U, std::size_t{1} << 18U};

}  // namespace

DayScorer::DayScorer(std::shared_ptr<const Model> model, const std::string& role, const ScoreSettings& settings,
                     const std::string& end_user)
    : scorer_(std::move(model), role, settings, nullptr, kDayMemory, end_user) {}

std::optional<std::vector<DayScorer::Wanted>> DayScorer::Follow(std::string_view sessions_wire) {
  std::vector<Wanted> wanted;
  std::size_t known = 0;
  const std::size_t before = sessions_.size();
  bool stands = true;
  WireReader reader(sessions_wire);
  reader.EachRow(DaySessionSection::kColumns, [&](const Row& row) {
    const std::int64_t id = ParseInteger(Required(row[DaySessionSection::kId]));
    const std::int64_t queries = ParseCount(Required(row[DaySessionSection::kQueries]));
    const auto [place, fresh] = sessions_.try_emplace(id);
    Session& session = place->second;
    known += fresh ? 0U : 1U;
    stands = stands && queries >= session.queries;
    if (fresh || queries > session.queries) wanted.push_back({id, session.next_part});
    session.queries = queries;
  });
  if (!stands || known != before) return std::nullopt;
  return wanted;
}

void DayScorer::TakeParts(std::string_view parts_wire) {
  using Column = SessionPartSection;
  WireReader reader(parts_wire);
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    const std::int64_t id = ParseInteger(Required(row[Column::kSessionId]));
    const std::int64_t part = ParseInteger(Required(row[Column::kPart]));
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || part < found->second.next_part) throw DamagedData("parts of a session");
    if (touched_.empty() || touched_.back() != id) touched_.push_back(id);
    AppendStored(found->second.taken, Required(row[Column::kIds]), Required(row[Column::kRuns]));
    found->second.next_part = part + 1;
  });
}

std::vector<AbstractionId> DayScorer::Unknown() const {
  std::vector<AbstractionId> ids;
  for (const std::int64_t session : touched_)
    for (const Run& run : sessions_.at(session).taken) ids.push_back(run.id);
  SortUnique(ids);
  ids.erase(std::remove_if(ids.begin(), ids.end(), [this](AbstractionId id) { return scorer_.Knows(id); }), ids.end());
  return ids;
}

void DayScorer::Define(std::string_view tokens_wire) {
  WireReader reader(tokens_wire);
  reader.EachRow(TokenSection::kColumns, [&](const Row& row) {
    const AbstractionId id = ParseInteger(Required(row[TokenSection::kId]));
    if (id != pending_) TakePending();
    pending_ = id;
    tokens_.emplace_back(Required(row[TokenSection::kToken]));
  });
}

void DayScorer::TakePending() {
  if (pending_ != 0) scorer_.Define(pending_, tokens_);
  pending_ = 0;
  tokens_.clear();
}

// Each abstraction counts once a session, or as often as it was executed.
void DayScorer::CountEnforced(Session& session) {
  if (scorer_.settings().counting == ScoreSettings::kMultiset) {
    enforced_.AddSession(session.taken, scorer_);
    return;
  }
  std::vector<AbstractionId> ids;
  for (const Run& run : session.taken)
    if (run.count > 0) ids.push_back(run.id);
  SortUnique(ids);
  const auto middle = static_cast<std::ptrdiff_t>(session.counted.size());
  for (const AbstractionId id : ids) {
    if (std::binary_search(session.counted.begin(), session.counted.begin() + middle, id)) continue;
    enforced_.Add(id, 1, 1, scorer_);
    // What adds nothing may do so again.
    if (EnforcedSum::Of(id, scorer_).score > 0) session.counted.push_back(id);
  }
  std::inplace_merge(session.counted.begin(), session.counted.begin() + middle, session.counted.end());
}

DayScore DayScorer::Score() {
  TakePending();
  for (const std::int64_t id : touched_) {
    Session& session = sessions_.at(id);
    ForEachNGram(session.taken, session.window, [&](const NGram& ngram, std::int64_t count, std::int64_t) {
      if (count > 0) profile_.Add(ngram, count, scorer_);
    });
    CountEnforced(session);
    session.taken = {};
  }
  touched_.clear();
  missing_.Add(scorer_.TakeMissing());
  return {profile_.Summary().score, enforced_.value(), missing_.List()};
}

}  // namespace privacy_score
