/*
 * novelty.hpp - how much of a session is new to its role's baseline: the figures from tokens to new_repeats.
 *
 *   w(t) = -lg p(t), p(t) = .8 (s(t) + .02)/(s + 1) + .2 (S(t) + .02)/(S + 1)
 *   N(a) = min over h of the baseline and the empty one of the sum of w(t) over the tokens t of a that h lacks
 *
 * s counts the sessions of the role's baseline, s(t) those with token t; S and S(t) the same over all roles. Where a
 * statement shows columns under no condition at all, a token more says so of each relation: what is left out is new as
 * well. Over the abstractions that the baseline lacks, once each or with each execution:
 *   tokens, tokens_max  sum and greatest of N(a)
 *   unknown             their number / max(it, usual distinct abstractions of a session)
 *   filters             sum of N(a) with the tokens of conditions alone over the executions of those without aggregates
 *   other_roles         number of those that another role's baseline has
 *   new_columns         number of columns that one shows and no abstraction of the baseline
 *   new_runs            executions of those with a token that no abstraction of the baseline has
 *   new_repeats         most executions of one
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
#include "core/detection/accepted.hpp"
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

// What a token says that counts in a way of its own.
enum class TokenKind : std::uint8_t { kOther, kShown, kCondition, kAggregate };
TokenKind KindOf(std::string_view token);
// The tokens that novelty is counted of: an abstraction's, and "whole:" and the name of each relation where it shows
// columns under no condition.
Tokens CountedTokens(const Tokens& tokens);

// What is new of an abstraction that the baseline lacks.
struct Newness {
  TokenWeight all = 0;        // N(a)
  TokenWeight filters = 0;    // the same of its conditions; 0 with an aggregate
  bool is_strange = false;    // it has a token that no abstraction of the baseline has
  bool is_of_others = false;  // another role's baseline has it
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
  TokenWeight Novelty(const Tokens& tokens) { return NewnessOf(tokens, nullptr).all; }
  // Of one that the baseline lacks, but for is_of_others; appends hashes of the columns that it shows and no
  // abstraction of the baseline (null: not wanted). `accepted` are known beside the baseline's: CountedTokens() of
  // each, sorted.
  Newness NewnessOf(const Tokens& tokens, std::vector<std::uint64_t>* new_columns,
                    const std::vector<Tokens>& accepted = {});
  double usual_distinct() const { return usual_distinct_; }

 private:
  struct Shared {
    TokenWeight all = 0;
    TokenWeight filters = 0;
  };
  Shared SharedBy(const Tokens& tokens, const Tokens& others) const;

  FlatSet known_;
  std::unordered_map<std::string, TokenIndex::Token> numbers_;
  std::vector<TokenWeight> weights_;  // by number
  std::vector<bool> is_of_baseline_;  // that an abstraction of it has the token, by number
  TokenWeight weight_of_others_;
  TokenIndex index_;
  std::vector<TokenIndex::Weighed> weighed_, conditions_;  // while NewnessOf() runs
  double usual_distinct_;
};

// The figures from what is new in a session. Kept apart from the profile so that calibration uses the same.
class NoveltySum {
 public:
  // Of one more distinct abstraction that the baseline lacks.
  void Add(const Newness& newness);
  // Of one more column that it shows.
  void AddColumn() { ++columns_; }
  // More executions of such an abstraction, which come to `all`.
  void Run(const Newness& newness, std::int64_t executions, std::int64_t all);
  // Sets the figures of what is new.
  void Show(double usual_distinct, SessionFigures* figures) const;

 private:
  TokenWeight sum_ = 0;
  TokenWeight most_ = 0;
  TokenWeight filters_ = 0;  // stays where it is beyond 2^62
  std::int64_t runs_ = 0;
  std::int64_t repeats_ = 0;
  std::uint32_t unknown_ = 0;
  std::uint32_t of_others_ = 0;
  std::uint32_t columns_ = 0;
};

// A session as it goes on. One that is recorded is taken in the same way: Add() for each of its abstractions.
class SessionNovelty {
 public:
  // The profile must outlive it, and so must what is accepted (null: nothing), which may not change.
  explicit SessionNovelty(NoveltyProfile& profile, const Accepted* accepted = nullptr)
      : profile_(profile), accepted_(accepted) {}

  // Takes in executions of an abstraction; its tokens, and whether another role's baseline has it, are looked at when
  // it comes for the first time. Returns whether figures may have changed: for one that the baseline has that is false
  // after one or two look-ups.
  bool Add(AbstractionId id, const Tokens& tokens, std::int64_t executions = 1, bool is_of_others = false);
  // Whether it is new to neither the baseline nor what is accepted.
  bool IsKnown(AbstractionId id) { return profile_.Has(id) || (accepted_ != nullptr && accepted_->Has(id)); }
  void Show(SessionFigures* figures) const { sum_.Show(profile_.usual_distinct(), figures); }

 private:
  const std::vector<Tokens>& AcceptedTokens();

  struct Unknown {
    Newness newness;
    std::int64_t executions = 0;
  };

  NoveltyProfile& profile_;
  const Accepted* accepted_;
  std::vector<Tokens> accepted_tokens_;
  FlatMap<std::uint32_t> seen_;  // 0 for what the baseline has, else the place in unknown_ plus 1
  std::vector<Unknown> unknown_;
  FlatSet columns_;
  NoveltySum sum_;
};

}  // namespace privacy_score
