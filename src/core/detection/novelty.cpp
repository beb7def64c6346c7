/*
 * novelty.cpp - see novelty.hpp.
 */
#include "core/detection/novelty.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/keyed_hash.hpp"

namespace privacy_score {

namespace {

constexpr std::string_view kWhole = "whole:";
constexpr TokenWeight kMostFilters = TokenWeight{1} << 62U;

bool BeginsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

}  // namespace

TokenKind KindOf(std::string_view token) {
  if (BeginsWith(token, "p:")) return TokenKind::kShown;
  if (BeginsWith(token, "w:") || BeginsWith(token, kWhole)) return TokenKind::kCondition;
  return BeginsWith(token, "f:") ? TokenKind::kAggregate : TokenKind::kOther;
}

Tokens CountedTokens(const Tokens& tokens) {
  Tokens counted = tokens;
  bool shows = false;
  bool tests = false;
  for (const std::string& token : tokens) {
    const TokenKind kind = KindOf(token);
    shows = shows || kind == TokenKind::kShown;
    // Of an aggregate nobody expects a condition.
    tests = tests || kind == TokenKind::kCondition || kind == TokenKind::kAggregate;
  }
  if (shows && !tests)
    for (const std::string& token : tokens)
      if (BeginsWith(token, "t:")) counted.push_back(std::string(kWhole) + token.substr(2));
  return counted;
}

TokenWeight WeightOf(const SessionCounts& with, const SessionCounts& sessions) {
  // Of the role itself, and of all roles; what nobody has ever used is as if it stood in 1/50 of a session.
  constexpr double kOwnShare = .8;
  constexpr double kUnseen = .02;
  const auto share = [](std::int64_t count, std::int64_t of) {
    return (static_cast<double>(count) + kUnseen) / (static_cast<double>(of) + 1);
  };
  return WeightOfBits(-std::log2(kOwnShare * share(with.of_role, sessions.of_role) +
                                 (1 - kOwnShare) * share(with.of_all, sessions.of_all)));
}

NoveltyProfile::NoveltyProfile(const RoleTokens& tokens, const Abstractions& baseline)
    : weight_of_others_(WeightOf({}, tokens.sessions)), usual_distinct_(tokens.usual_distinct) {
  numbers_.reserve(tokens.with_token.size());
  weights_.reserve(tokens.with_token.size());
  const auto number_of = [&](const std::string& token, TokenWeight weight) {
    const auto [found, is_new] = numbers_.try_emplace(token, static_cast<TokenIndex::Token>(weights_.size()));
    if (is_new) weights_.push_back(weight);
    return found->second;
  };
  for (const auto& [token, with] : tokens.with_token) number_of(token, WeightOf(with, tokens.sessions));
  std::vector<TokenIndex::Token> list;
  for (const auto& [id, texts] : baseline) {
    list.clear();
    for (const std::string& token : CountedTokens(*texts)) {
      list.push_back(number_of(token, weight_of_others_));
      is_of_baseline_.resize(std::max(is_of_baseline_.size(), weights_.size()));
      is_of_baseline_[list.back()] = true;
    }
    index_.Add(list);
    FlatSet::Slot& slot = known_.SlotOf(static_cast<std::uint64_t>(id));
    if (slot.key == 0) known_.Insert(slot, static_cast<std::uint64_t>(id), {});
  }
  is_of_baseline_.resize(weights_.size());
  index_.Finish();
}

Newness NoveltyProfile::NewnessOf(const Tokens& tokens, std::vector<std::uint64_t>* new_columns,
                                  const std::vector<Tokens>& accepted) {
  weighed_.clear();
  conditions_.clear();
  Newness newness;
  bool aggregates = false;
  for (const std::string& token : CountedTokens(tokens)) {
    const TokenKind kind = KindOf(token);
    const auto found = numbers_.find(token);
    const bool is_known = found != numbers_.end();
    const TokenWeight weight = is_known ? weights_[found->second] : weight_of_others_;
    newness.all += weight;
    if (kind == TokenKind::kCondition) newness.filters += weight;
    if (is_known) {
      weighed_.push_back({found->second, weight});
      if (kind == TokenKind::kCondition) conditions_.push_back(weighed_.back());
    }
    aggregates = aggregates || kind == TokenKind::kAggregate;
    if (is_known && is_of_baseline_[found->second]) continue;
    if (std::any_of(accepted.begin(), accepted.end(),
                    [&](const Tokens& others) { return std::binary_search(others.begin(), others.end(), token); }))
      continue;
    newness.is_strange = true;
    if (kind == TokenKind::kShown && new_columns != nullptr) new_columns->push_back(NameHash(token));
  }
  Shared shared = {index_.MostShared(weighed_), index_.MostShared(conditions_)};
  for (const Tokens& others : accepted) {
    const Shared by_one = SharedBy(tokens, others);
    shared.all = std::max(shared.all, by_one.all);
    shared.filters = std::max(shared.filters, by_one.filters);
  }
  newness.all -= shared.all;
  newness.filters -= shared.filters;
  if (aggregates) newness.filters = 0;
  return newness;
}

// The weights of the tokens that two abstractions have.
NoveltyProfile::Shared NoveltyProfile::SharedBy(const Tokens& tokens, const Tokens& others) const {
  Shared shared;
  for (const std::string& token : CountedTokens(tokens)) {
    if (!std::binary_search(others.begin(), others.end(), token)) continue;
    const auto found = numbers_.find(token);
    const TokenWeight weight = found == numbers_.end() ? weight_of_others_ : weights_[found->second];
    shared.all += weight;
    if (KindOf(token) == TokenKind::kCondition) shared.filters += weight;
  }
  return shared;
}

void NoveltySum::Add(const Newness& newness) {
  sum_ += newness.all;
  most_ = std::max(most_, newness.all);
  ++unknown_;
  if (newness.is_of_others) ++of_others_;
}

void NoveltySum::Run(const Newness& newness, std::int64_t executions, std::int64_t all) {
  if (newness.filters > 0)
    filters_ = executions > (kMostFilters - filters_) / newness.filters ? kMostFilters
                                                                        : filters_ + newness.filters * executions;
  if (newness.is_strange) runs_ += executions;
  repeats_ = std::max(repeats_, all);
}

void NoveltySum::Show(double usual_distinct, SessionFigures* figures) const {
  (*figures)[Figure::kTokens] = BitsOf(sum_);
  (*figures)[Figure::kTokensMax] = BitsOf(most_);
  (*figures)[Figure::kUnknown] =
      static_cast<double>(unknown_) / std::max(static_cast<double>(unknown_), usual_distinct);
  (*figures)[Figure::kFilters] = BitsOf(filters_);
  (*figures)[Figure::kOtherRoles] = static_cast<double>(of_others_);
  (*figures)[Figure::kNewColumns] = static_cast<double>(columns_);
  (*figures)[Figure::kNewRuns] = static_cast<double>(runs_);
  (*figures)[Figure::kNewRepeats] = static_cast<double>(repeats_);
}

// What is accepted, as novelty is counted of it, each sorted; made when it is first asked for.
const std::vector<Tokens>& SessionNovelty::AcceptedTokens() {
  if (accepted_ == nullptr || !accepted_tokens_.empty()) return accepted_tokens_;
  std::vector<Tokens> all;
  for (const auto& [id, tokens] : accepted_->statements()) {
    all.push_back(CountedTokens(tokens));
    std::sort(all.back().begin(), all.back().end());
  }
  accepted_tokens_ = std::move(all);
  return accepted_tokens_;
}

bool SessionNovelty::Add(AbstractionId id, const Tokens& tokens, std::int64_t executions, bool is_of_others) {
  const auto key = static_cast<std::uint64_t>(id);
  const std::uint32_t* place = seen_.Find(key);
  if (place == nullptr) {
    // Weighed before it is remembered: what runs out of memory is weighed the next time.
    if (IsKnown(id)) {
      seen_.Insert(key, 0);
      return false;
    }
    std::vector<std::uint64_t> columns;
    Unknown unknown;
    unknown.newness = profile_.NewnessOf(tokens, &columns, AcceptedTokens());
    unknown.newness.is_of_others = is_of_others;
    unknown_.push_back(unknown);
    place = seen_.Insert(key, static_cast<std::uint32_t>(unknown_.size()));
    sum_.Add(unknown.newness);
    for (const std::uint64_t column : columns) {
      FlatSet::Slot& slot = columns_.SlotOf(column);
      if (slot.key != 0) continue;
      columns_.Insert(slot, column, {});
      sum_.AddColumn();
    }
  }
  if (*place == 0) return false;
  Unknown& unknown = unknown_[*place - 1];
  unknown.executions += executions;
  sum_.Run(unknown.newness, executions, unknown.executions);
  return true;
}

}  // namespace privacy_score
