/*
 * explain.hpp - why a statement or an n-gram scores what it scores, as JSON.
 *
 * Keys in snake_case, "version": 1. Every number is the one that the score itself uses.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"
#include "core/scoring/score.hpp"

namespace privacy_score {

// A JSON text and the rates that must be computed before it is exact.
struct Explained {
  std::string json;
  std::vector<MissingRate> missing;
};

// Explains one statement at n = 1 against what sessions of the role are scored against, or of an end user of it: what
// it reveals, how far that identifies (all columns count: DRSQL), relation by relation, what it is nearest to, delta,
// tau with p(y) of each new column. `model_wire` holds the sections of Model::Read; `problems` says why the tokens may
// not be what was meant. Throws Error 22023 on bad settings, XX001 on damaged bytes.
Explained ExplainQuery(std::string_view model_wire, std::string_view role, const ScoreSettings& settings,
                       const Tokens& tokens, const std::vector<std::string>& problems = {},
                       std::string_view end_user = {});

// The JSON of an n-gram of this level that has been observed: ngram, known, nearest, deltas, attributes, score,
// estimated; rates (the discrimination rate of each of the attributes as far as the model knows it: a number,
// {"at_most": number} or null), combined_rate and combined_rate_exact (of all of them together). Nothing in it is the
// value of a column.
std::string NGramJson(RoleScorer& scorer, const NGram& ngram, ScoreLevel level);

// Notes the rate of each of these columns as wanted.
void WantEach(RateBook& rates, const Model& model, const std::vector<std::string>& columns);
// Writes the keys rates, combined_rate and combined_rate_exact of these columns into an open object.
void WriteRates(JsonWriter& json, RateBook& rates, const Model& model, const std::vector<std::string>& columns);

// DRSQL of the tokens: CDR of all that they reveal, identifiers included, relation by relation combined.
struct Identification {
  RateBounds rate;
  std::vector<MissingRate> missing;
};
Identification IdentificationOf(const Model& model, const Tokens& tokens, const ScoreSettings& settings);

}  // namespace privacy_score
