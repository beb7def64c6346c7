/*
 * packed_baseline.hpp - what a baseline holds, in a form that is read where it lies: n-grams, sessions, tokens.
 *
 * A baseline takes far more than all else that a model says. So a model in shared memory comes without the contents of
 * its baselines, and these lie beside it, each once, for as long as somebody reads them: no process has a copy.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/scoring/ngram_table.hpp"
#include "core/scoring/session_sets.hpp"
#include "core/scoring/token_table.hpp"

namespace privacy_score {

struct PackedBaseline {
  NGramTable ngrams;
  SessionSets sets;
  TokenTable tokens;
  std::uint64_t left_out = 0;  // bytes of its n-grams that it comes without; 0: it has them

  // Makes the bytes, for the same machine, of three sections: BaselineNGramSection, BaselineSessionSection (both of one
  // baseline) and TokenSection, of its abstractions. Throws Error XX001 on damaged ones.
  static std::string Pack(std::string_view ngrams, std::string_view sets, std::string_view tokens);
  // The bytes without the n-grams, which are most of them, where there is no room for these.
  static std::string WithoutNGrams(std::string_view bytes);
  // Of such bytes, which must lie at a multiple of 8 and outlive it. Throws Error XX001 on damaged ones; OfOwn, for
  // those that stand in shared memory, does not look at each n-gram, set and abstraction, of which a session would
  // otherwise pay for all as it begins.
  static PackedBaseline At(std::string_view bytes);
  static PackedBaseline OfOwn(std::string_view bytes);

  // Whether it has the tokens of each statement of its sessions.
  bool HasAllTokens() const;
};

// The contents of a baseline that lie elsewhere.
struct LentBaseline {
  std::int64_t id = 0;
  std::string_view bytes;
};

// What a model is read from: its sections, and the contents of its baselines, all of which lie elsewhere or stand in
// the sections.
struct ModelSource {
  ModelSource(std::string_view whole) : wire(whole) {}
  ModelSource(const std::string& whole) : wire(whole) {}
  ModelSource(std::string_view rest, std::vector<LentBaseline> beside, std::shared_ptr<const void> keeps)
      : wire(rest), is_lent(true), baselines(std::move(beside)), holder(std::move(keeps)) {}

  std::string_view wire;
  // RevealingSection and PackedRateSection, where whoever published the model has made them: then `wire` ends before
  // the rates.
  std::string_view published;
  bool is_lent = false;
  std::vector<LentBaseline> baselines;  // sorted by id
  // Keeps the contents where they are, for as long as the model has it. Its end must neither raise nor throw.
  std::shared_ptr<const void> holder;
};

}  // namespace privacy_score
