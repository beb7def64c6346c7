/*
 * profile.cpp - the profile of a session, a day or several days, and its score.
 */
#include "core/scoring/profile.hpp"

namespace privacy_score {

namespace {

bool Counts(const NGram& ngram, const ScoreSettings& settings) {
  return settings.pad || !HasPadding(ngram, settings.ngram_length);
}

}  // namespace

Profile::Place* Profile::Prepare(const NGram& recorded, RoleScorer& scorer) {
  const ScoreSettings& settings = scorer.settings();
  const NGram ngram = Suffix(recorded, settings.ngram_length);
  Place& statement = statements_.PlaceOf(Suffix(recorded, 1), scorer, ScoreLevel::kStatement);
  Place& place = Counts(ngram, settings) ? ngrams_.PlaceOf(ngram, scorer, ScoreLevel::kNGram)
                                         : *too_short_.try_emplace(ngram).first;
  place.second.statement = &statement.second;
  return &place;
}

Profile::Place* Profile::Add(const NGram& recorded, std::int64_t count, RoleScorer& scorer) {
  const ScoreSettings& settings = scorer.settings();
  Place* place = Prepare(recorded, scorer);
  statements_.Add(*place->second.statement, count, settings);
  if (Counts(place->first, settings))
    ngrams_.Add(place->second, count, settings);
  else
    place->second.count += count;
  queries_ += count;
  return place;
}

Profile::Place* Profile::Find(const NGram& ngram) {
  for (Entries* entries : {&ngrams_.entries, &too_short_}) {
    const auto found = entries->find(ngram);
    if (found != entries->end()) return found->second.count > 0 ? &*found : nullptr;
  }
  return nullptr;
}

void Profile::AddSequence(const Sequence& sequence, RoleScorer& scorer, GivesUp gives_up) {
  ForEachNGram(sequence, [&](const NGram& ngram, std::int64_t count, std::int64_t) {
    GiveUpIfAsked(gives_up);
    if (count > 0) Add(ngram, count, scorer);
  });
}

void Profile::CountAgain(const Place& place, const ScoreSettings& settings) {
  statements_.Count(place.second.statement->score, 1, false);
  if (Counts(place.first, settings)) ngrams_.Count(place.second.score, 1, false);
}

bool Profile::HasStatement(AbstractionId id) const {
  NGram statement{};
  statement.back() = id;
  const auto found = statements_.entries.find(statement);
  return found != statements_.entries.end() && found->second.count > 0;
}

double Profile::StatementScoreWith(double score) const {
  ScoreSum sum = statements_.score;
  sum.Add(score, 1);
  return sum.value();
}

SessionSummary Profile::Summary() const {
  SessionSummary summary;
  summary.queries = queries_;
  summary.ngrams = ngrams_.total;
  summary.mismatched = ngrams_.mismatched;
  summary.score = ngrams_.score.value();
  summary.max_score = static_cast<double>(ngrams_.most) * static_cast<double>(ngrams_.total);
  summary.tight_max = ngrams_.tight.value();
  summary.normalised = summary.max_score > 0 ? summary.score / summary.max_score : 0;
  summary.statement_score = statements_.score.value();
  summary.estimated = ngrams_.estimated + statements_.estimated > 0;
  summary.statement_estimated = statements_.score_estimated > 0;
  return summary;
}

SessionSummary WithPeers(SessionSummary own, const Profile& peers) {
  const SessionSummary summary = peers.Summary();
  own.peer_score = summary.score;
  own.peer_estimated = summary.estimated;
  return own;
}

Profile::Place& Profile::Tally::PlaceOf(const NGram& ngram, RoleScorer& scorer, ScoreLevel level) {
  const auto found = entries.find(ngram);
  if (found != entries.end()) return *found;
  const NGramScore score = scorer.Score(ngram, level);
  most = scorer.MostPerNGram(level);
  return *entries.emplace(ngram, Entry{0, score, nullptr, 0}).first;
}

void Profile::Tally::Add(Entry& entry, std::int64_t count, const ScoreSettings& settings) {
  const bool is_new = entry.count == 0;
  entry.count += count;
  const bool once = settings.counting == ScoreSettings::kSet;
  Count(entry.score, once ? (is_new ? 1 : 0) : count, is_new);
}

void Profile::Tally::Count(const NGramScore& entry, std::int64_t counted, bool is_new) {
  total += counted;
  if (!entry.matched) mismatched += counted;
  score.Add(entry.score, counted);
  tight.Add(entry.tight, counted);
  if (is_new && entry.estimated) ++estimated;
  if (is_new && entry.score_estimated) ++score_estimated;
}

}  // namespace privacy_score
