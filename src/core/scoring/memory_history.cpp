/*
 * memory_history.cpp - history of running sessions in memory.
 */
#include "core/scoring/memory_history.hpp"

#include <algorithm>
#include <memory>

#include "core/base/rows.hpp"
#include "core/scoring/enforced_sum.hpp"
#include "core/scoring/explain.hpp"
#include "core/scoring/missing_rates.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

void MemoryHistory::Add(Counted& counted, const NGram& ngram, std::int64_t count) {
  const auto found = counted.ngrams.find(ngram);
  if (found != counted.ngrams.end()) {
    found->second += count;
  } else if (size_ < most_ngrams_) {
    counted.ngrams.emplace(ngram, count);
    ++size_;
  } else {
    counted.complete = false;
  }
}

bool MemoryHistory::Append(std::uint64_t key, const std::string& principal, std::int64_t day, int ngram_length,
                           AbstractionId id, std::int64_t run) {
  OpenSession& session = sessions_[key];
  Day& of_day = days_[principal][day];
  if (run == kContext) session.window.PushContext(id);
  // The first kRecordedLength of a run make an n-gram each; the others all make the last of these.
  for (std::int64_t i = 0; i < std::min<std::int64_t>(run, kRecordedLength); ++i) {
    session.window.Push(id);
    const std::int64_t count = i == kRecordedLength - 1 ? run - i : 1;
    Add(session.counted, Suffix(session.window.recorded(), ngram_length), count);
    Add(of_day.counted, session.window.recorded(), count);
  }
  const bool complete = session.counted.complete && of_day.counted.complete;
  if (complete && run > 0) {
    Met& met = of_day.met[id];
    if (session.met.insert(id).second) ++met.sessions;
    met.executions += run;
  }
  return complete;
}

void MemoryHistory::Close(std::uint64_t key) {
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) return;
  size_ -= found->second.counted.ngrams.size();
  sessions_.erase(found);
}

void MemoryHistory::ForgetBefore(std::int64_t day) {
  for (auto& [role, days] : days_) {
    for (auto at = days.begin(); at != days.end();) {
      if (at->first >= day) {
        ++at;
        continue;
      }
      size_ -= at->second.counted.ngrams.size();
      at = days.erase(at);
    }
  }
  // Definitions go with what needs them.
  std::unordered_map<AbstractionId, bool> needed;
  const auto need = [&](const Counted& counted) {
    for (const auto& [ngram, count] : counted.ngrams) needed[ngram.back()] = true;
  };
  for (const auto& [key, session] : sessions_) need(session.counted);
  for (const auto& [role, days] : days_)
    for (const auto& [at, of_day] : days) need(of_day.counted);
  for (auto at = defined_.begin(); at != defined_.end();)
    at = needed.count(at->first) > 0 ? std::next(at) : defined_.erase(at);
}

MemoryScore MemoryHistory::Score(const Counts& counts, const MetCounts& met, const TokenMap& tokens,
                                 const ModelSource& source, const std::string& role, const std::string& end_user,
                                 const ScoreSettings& settings) {
  const auto model = std::make_shared<const Model>(Model::Parse(source));
  RoleScorer scorer(model, role, settings, &tokens, {}, end_user);
  Profile profile;
  for (const auto& [ngram, count] : counts) profile.Add(ngram, count, scorer);
  EnforcedSum enforced;
  for (const auto& [id, of_id] : met) enforced.Add(id, of_id.sessions, of_id.executions, scorer);
  MemoryScore result;
  result.summary = profile.Summary();
  result.enforced = enforced.value();
  MissingRates missing;
  if (model->PeersOf(role, end_user) != nullptr) {
    RoleScorer peers(model, role, settings, &tokens);
    Profile among_peers;
    for (const auto& [ngram, count] : counts) among_peers.Add(ngram, count, peers);
    result.summary = WithPeers(result.summary, among_peers);
    missing.Add(peers.TakeMissing());
  }
  const NGram* largest = nullptr;
  for (const auto& [ngram, entry] : profile.ngrams()) {
    if (entry.score.score <= result.largest) continue;
    result.largest = entry.score.score;
    largest = &ngram;
  }
  if (largest != nullptr) result.explanation = NGramJson(scorer, *largest, ScoreLevel::kNGram);
  missing.Add(scorer.TakeMissing());
  result.missing = missing.List();
  return result;
}

std::optional<MemoryScore> MemoryHistory::ScoreSession(std::uint64_t key, const ModelSource& source,
                                                       const std::string& role, const std::string& end_user,
                                                       const ScoreSettings& settings) const {
  const auto found = sessions_.find(key);
  if (found == sessions_.end() || !found->second.counted.complete) return std::nullopt;
  return Score(found->second.counted.ngrams, {}, defined_, source, role, end_user, settings);
}

std::optional<MemoryScore> MemoryHistory::ScoreDay(const std::string& role, const std::string& end_user,
                                                   std::int64_t day, const ModelSource& source,
                                                   std::string_view stored_wire, const ScoreSettings& settings) const {
  Counts counts;
  MetCounts met;
  const auto days = days_.find(PrincipalKey(role, end_user));
  if (days != days_.end()) {
    const auto found = days->second.find(day);
    if (found != days->second.end()) {
      if (!found->second.counted.complete) return std::nullopt;
      counts = found->second.counted.ngrams;
      met = found->second.met;
    }
  }
  TokenMap tokens = defined_;
  WireReader reader(stored_wire);
  TokenMap stored;
  reader.EachRow(TokenSection::kColumns, [&](const Row& row) {
    stored[ParseInteger(*row[TokenSection::kId])].emplace_back(*row[TokenSection::kToken]);
  });
  tokens.merge(stored);
  for (const Row& row : reader.Section(RunSection::kColumns)) {
    Sequence sequence;
    AppendStored(sequence, *row[RunSection::kIds], *row[RunSection::kRuns]);
    ForEachNGram(sequence, [&](const NGram& ngram, std::int64_t count, std::int64_t) { counts[ngram] += count; });
    std::unordered_set<AbstractionId> of_session;
    for (const Run& run : sequence) {
      if (run.count <= 0) continue;
      met[run.id].executions += run.count;
      if (of_session.insert(run.id).second) ++met[run.id].sessions;
    }
  }
  return Score(counts, met, tokens, source, role, end_user, settings);
}

}  // namespace privacy_score
