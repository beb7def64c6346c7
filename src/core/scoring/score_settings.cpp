/*
 * score_settings.cpp - see score_settings.hpp.
 */
#include "core/scoring/score_settings.hpp"

#include <string>

#include "core/base/error.hpp"
#include "core/base/rows.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

bool operator==(const ScoreSettings& a, const ScoreSettings& b) {
  return a.ngram_length == b.ngram_length && a.counting == b.counting && a.compare == b.compare && a.alpha == b.alpha &&
         a.where_counts == b.where_counts && a.pad == b.pad && a.identifiers_count == b.identifiers_count &&
         a.aggregate_least == b.aggregate_least;
}

bool RevealAlike(const ScoreSettings& a, const ScoreSettings& b) {
  return a.where_counts == b.where_counts && a.aggregate_least == b.aggregate_least;
}

void CheckSettings(const ScoreSettings& settings) {
  if (settings.ngram_length < 1 || settings.ngram_length > kRecordedLength) {
    throw InvalidValue("n-gram length must be between 1 and " + std::to_string(kRecordedLength) + ", not " +
                           std::to_string(settings.ngram_length),
                       "2 compares pairs of statements that follow each other, 1 single ones.");
  }
  if (!(settings.alpha >= 0 && settings.alpha <= 1)) {
    throw InvalidValue("alpha must be between 0 and 1, not " + TextOf(settings.alpha),
                       "1 counts the rate alone, 0 the surprise of new columns alone.");
  }
  if (settings.aggregate_least < 0) {
    throw InvalidValue("aggregate_least must be at least 0, not " + std::to_string(settings.aggregate_least),
                       "0 lets aggregates hide their columns over however few subjects.");
  }
}

}  // namespace privacy_score
