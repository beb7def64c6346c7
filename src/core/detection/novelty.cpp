/*
 * novelty.cpp - see novelty.hpp.
 */
#include "core/detection/novelty.hpp"

#include <algorithm>
#include <cmath>

namespace privacy_score {

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
    for (const std::string& token : *texts) list.push_back(number_of(token, weight_of_others_));
    index_.Add(list);
    FlatSet::Slot& slot = known_.SlotOf(static_cast<std::uint64_t>(id));
    if (slot.key == 0) known_.Insert(slot, static_cast<std::uint64_t>(id), {});
  }
  index_.Finish();
}

TokenWeight NoveltyProfile::Novelty(const Tokens& tokens) {
  weighed_.clear();
  TokenWeight all = 0;
  for (const std::string& token : tokens) {
    const auto found = numbers_.find(token);
    if (found == numbers_.end()) {
      all += weight_of_others_;
      continue;
    }
    all += weights_[found->second];
    weighed_.push_back({found->second, weights_[found->second]});
  }
  return all - index_.MostShared(weighed_);
}

void NoveltySum::Add(TokenWeight novelty) {
  sum_ += novelty;
  most_ = std::max(most_, novelty);
  ++unknown_;
}

void NoveltySum::Show(double usual_distinct, SessionFigures* figures) const {
  (*figures)[Figure::kTokens] = BitsOf(sum_);
  (*figures)[Figure::kTokensMax] = BitsOf(most_);
  (*figures)[Figure::kUnknown] =
      static_cast<double>(unknown_) / std::max(static_cast<double>(unknown_), usual_distinct);
}

bool SessionNovelty::Add(AbstractionId id, const Tokens& tokens) {
  const auto key = static_cast<std::uint64_t>(id);
  FlatSet::Slot& slot = seen_.SlotOf(key);
  if (slot.key != 0) return false;
  // Weighed before it is remembered: what runs out of memory is weighed the next time.
  const bool is_known = profile_.Has(id);
  const TokenWeight novelty = is_known ? 0 : profile_.Novelty(tokens);
  seen_.Insert(slot, key, {});
  if (!is_known) sum_.Add(novelty);
  return !is_known;
}

}  // namespace privacy_score
