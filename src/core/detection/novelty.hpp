/*
 * novelty.hpp - how much of a session is new to its role's baseline: the figures tokens, tokens_max and unknown.
 *
 *   w(t) = -lg p(t), p(t) = .8 (s(t) + .02)/(s + 1) + .2 (S(t) + .02)/(S + 1)
 *   N(a) = min over h of the baseline and the empty one of the sum of w(t) over the tokens t of a that h lacks
 *
 * s counts the sessions of the role's baseline, s(t) those with token t; S and S(t) the same over all roles.
 *   unknown = abstractions that the baseline lacks / max(their number, usual distinct abstractions of a session)
 *
 * The denominator of unknown is not the number of abstractions so far: that would let the figure fall when known ones
 * follow. So it is the greatest that this share may have been, in whatever order they came; in a session that is longer
 * than usual it is a share of a usual one.
 *
 * Weights are whole numbers of 2^-32 bits, so that sums do not depend on the order of their terms: the figures of a
 * session are the same to the last bit in whatever order its abstractions come, live or from history.
 *
 * N(a) is found by lists of the abstractions that have a token (token_index.hpp), not by comparing a with each.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/flat_map.hpp"
#include "core/detection/figures.hpp"
#include "core/detection/token_index.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

// In how many sessions of a role and of all roles a token, or anything, stands.
struct SessionCounts {
  std::int64_t of_role = 0;
  std::int64_t of_all = 0;
};

// w(t) of a token in `with` of `sessions`.
TokenWeight WeightOf(const SessionCounts& with, const SessionCounts& sessions);

// What is known of the tokens of one role's baseline.
struct RoleTokens {
  SessionCounts sessions;
  std::unordered_map<std::string, SessionCounts> with_token;  // of any role's; one that is not here has none
  double usual_distinct = 1;  // median of the distinct abstractions of the role's baseline sessions, at least 1
};

// One role's baseline, to hold sessions against. Building it costs some milliseconds for 10,000 abstractions, Novelty()
// some microseconds. Not for several threads at once.
class NoveltyProfile {
 public:
  // The distinct abstractions of the baseline, in any order, with their tokens, which need not outlive the call.
  using Abstractions = std::vector<std::pair<AbstractionId, const Tokens*>>;
  NoveltyProfile(const RoleTokens& tokens, const Abstractions& baseline);

  bool Has(AbstractionId id) { return known_.Find(static_cast<std::uint64_t>(id)) != nullptr; }
  // N(a) of any abstraction.
  TokenWeight Novelty(const Tokens& tokens);
  double usual_distinct() const { return usual_distinct_; }

 private:
  FlatSet known_;
  std::unordered_map<std::string, TokenIndex::Token> numbers_;
  std::vector<TokenWeight> weights_;  // by number
  TokenWeight weight_of_others_;
  TokenIndex index_;
  std::vector<TokenIndex::Weighed> weighed_;  // while Novelty() runs
  double usual_distinct_;
};

// The three figures from what is new in a session. Kept apart from the profile so that calibration uses the same.
class NoveltySum {
 public:
  void Add(TokenWeight novelty);  // of one more distinct abstraction that the baseline lacks
  // Sets tokens, tokens_max and unknown.
  void Show(double usual_distinct, SessionFigures* figures) const;

 private:
  TokenWeight sum_ = 0;
  TokenWeight most_ = 0;
  std::int64_t unknown_ = 0;
};

// A session as it goes on. One that is recorded is taken in the same way: Add() for each of its abstractions.
class SessionNovelty {
 public:
  // The profile must outlive it.
  explicit SessionNovelty(NoveltyProfile& profile) : profile_(profile) {}

  // Takes in an abstraction. Returns whether figures may have changed: for one that the session has had, or that the
  // baseline has, that is false after one or two look-ups.
  bool Add(AbstractionId id, const Tokens& tokens);
  void Show(SessionFigures* figures) const { sum_.Show(profile_.usual_distinct(), figures); }

 private:
  NoveltyProfile& profile_;
  FlatSet seen_;
  NoveltySum sum_;
};

}  // namespace privacy_score
