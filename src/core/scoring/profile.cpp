/*
 * profile.cpp - the profile of a session, a day or several days, and its score.
 */
#include "core/scoring/profile.hpp"

namespace privacy_score {

Profile::Places Profile::Add(const NGram& recorded, std::int64_t count, RoleScorer& scorer) {
  const ScoreSettings& settings = scorer.settings();
  Places places;
  if (settings.pad || !HasPadding(recorded, settings.ngram_length)) {
    places.ngram = ngrams_.Add(Suffix(recorded, settings.ngram_length), count, scorer, ScoreLevel::kNGram);
  }
  places.statement = statements_.Add(Suffix(recorded, 1), count, scorer, ScoreLevel::kStatement);
  queries_ += count;
  return places;
}

void Profile::AddSequence(const Sequence& sequence, RoleScorer& scorer, GivesUp gives_up) {
  ForEachNGram(sequence, [&](const NGram& ngram, std::int64_t count, std::int64_t) {
    GiveUpIfAsked(gives_up);
    if (count > 0) Add(ngram, count, scorer);
  });
}

void Profile::CountAgain(const Places& places) {
  statements_.Count(places.statement->score, 1, false);
  if (places.ngram != nullptr) ngrams_.Count(places.ngram->score, 1, false);
}

bool Profile::HasStatement(AbstractionId id) const {
  NGram statement{};
  statement.back() = id;
  return statements_.entries.count(statement) > 0;
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

Profile::Entry* Profile::Tally::Add(const NGram& ngram, std::int64_t count, RoleScorer& scorer, ScoreLevel level) {
  auto found = entries.find(ngram);
  const bool is_new = found == entries.end();
  if (is_new) {
    // Scored first: an unknown abstraction throws before anything has changed.
    const NGramScore score = scorer.Score(ngram, level);
    found = entries.emplace(ngram, Entry{0, score}).first;
    most = scorer.MostPerNGram(level);
  }
  found->second.count += count;
  const bool once = scorer.settings().counting == ScoreSettings::kSet;
  Count(found->second.score, once ? (is_new ? 1 : 0) : count, is_new);
  return &found->second;
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
