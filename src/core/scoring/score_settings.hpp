/*
 * score_settings.hpp - the modes of the score (docs/scoring.md, sections 5 and 6).
 */
#pragma once

namespace privacy_score {

struct ScoreSettings {
  enum Counting { kSet, kMultiset };       // each mismatched n-gram once, or as often as it stands there
  enum Compare { kPositionwise, kUnion };  // position by position, or all positions together
  int ngram_length = 2;                    // 1 to kRecordedLength
  Counting counting = kSet;
  Compare compare = kPositionwise;
  double alpha = .5;               // share of delta against tau; 1 is the published form
  bool where_counts = true;        // columns of WHERE are revealed
  bool pad = true;                 // empty abstractions in front of a session
  bool identifiers_count = false;  // identifiers take part in delta; on is the published form
  int aggregate_least = 10;        // an aggregate over fewer subjects reveals its columns; 0: none does
};

// Whether scores under both are the same.
bool operator==(const ScoreSettings& a, const ScoreSettings& b);
// Whether statements reveal the same under both.
bool RevealAlike(const ScoreSettings& a, const ScoreSettings& b);

// Throws Error 22023 when a value is out of its range.
void CheckSettings(const ScoreSettings& settings);

}  // namespace privacy_score
