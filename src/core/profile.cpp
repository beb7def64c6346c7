/*
 * profile.cpp - the profile of a session, a day or several days, and its score.
 */
#include "profile.hpp"

#include <cmath>

namespace privacy_score {

namespace {

constexpr int kFractionBits = 60;  // a score of at most 6 fits 63 bits

// Powers of two change an exponent and nothing else.
constexpr double kUnits = static_cast<double>(std::int64_t{1} << kFractionBits);

std::int64_t ToFixed(double score) { return std::llround(score * kUnits); }

}  // namespace

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

void Profile::Remove(const NGram& recorded, std::int64_t count, RoleScorer& scorer) {
  const ScoreSettings& settings = scorer.settings();
  if (settings.pad || !HasPadding(recorded, settings.ngram_length)) {
    ngrams_.Remove(Suffix(recorded, settings.ngram_length), count, scorer);
  }
  statements_.Remove(Suffix(recorded, 1), count, scorer);
  queries_ -= count;
}

SessionSummary Profile::Summary() const {
  const auto number = [](Sum sum) {
    return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(kUnits));
  };
  SessionSummary summary;
  summary.queries = queries_;
  summary.ngrams = ngrams_.total;
  summary.mismatched = ngrams_.mismatched;
  summary.score = number(ngrams_.score);
  summary.max_score = static_cast<double>(ngrams_.most) * static_cast<double>(ngrams_.total);
  summary.tight_max = number(ngrams_.tight);
  summary.normalised = summary.max_score > 0 ? summary.score / summary.max_score : 0;
  summary.statement_score = number(statements_.score);
  summary.estimated = ngrams_.estimated + statements_.estimated > 0;
  return summary;
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

void Profile::Tally::Remove(const NGram& ngram, std::int64_t count, RoleScorer& scorer) {
  const auto found = entries.find(ngram);
  found->second.count -= count;
  const bool gone = found->second.count == 0;
  const bool once = scorer.settings().counting == ScoreSettings::kSet;
  Count(found->second.score, once ? (gone ? -1 : 0) : -count, false);
  if (!gone) return;
  if (found->second.score.estimated) --estimated;
  entries.erase(found);
}

void Profile::Tally::Count(const NGramScore& entry, std::int64_t counted, bool is_new) {
  total += counted;
  if (!entry.matched) mismatched += counted;
  score += static_cast<Sum>(ToFixed(entry.score)) * counted;
  tight += static_cast<Sum>(ToFixed(entry.tight)) * counted;
  if (is_new && entry.estimated) ++estimated;
}

}  // namespace privacy_score
