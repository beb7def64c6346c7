/*
 * held_out_days.cpp - see held_out_days.hpp.
 *
 * For each repetition: tokens are counted over all roles, day by day; then each role has its index built and its
 * tokens counted, and its parts are taken out one after the other. What a part's sessions are held against is never
 * built: of an abstraction is known in how many parts it is, of a token in how many sessions of the part.
 */
#include "core/detection/held_out_days.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/keyed_hash.hpp"

namespace privacy_score {

namespace {
// What weighing one abstraction costs, in the units of WorkControl.
constexpr std::size_t kWorkOfNovelty = 4096;
}  // namespace

bool IsWithheld(std::string_view role, AbstractionId id, std::size_t repetition, double expected_novelty) {
  const std::uint64_t hash = FoldHash(FoldHash(NameHash(role), static_cast<std::uint64_t>(id)), repetition);
  // 53 bits, as a number in [0,1).
  return static_cast<double>(hash >> 11U) * 0x1p-53 < expected_novelty;
}

HeldOutDays::HeldOutDays(const NumberedSessions& sessions, double expected_novelty)
    : sessions_(sessions),
      expected_novelty_(expected_novelty),
      sums_(sessions.sessions.size() * kRepetitions),
      by_day_(sessions.sessions.size()),
      role_begins_(sessions.roles.size() + 1, 0),
      own_of_(sessions.abstractions.size(), 0),
      role_with_token_(sessions.tokens, 0),
      part_with_token_(sessions.tokens, 0),
      weights_(sessions.tokens),
      last_seen_(sessions.tokens, 0) {
  const auto& all = sessions_.sessions;
  std::iota(by_day_.begin(), by_day_.end(), std::size_t{0});
  std::stable_sort(by_day_.begin(), by_day_.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].day < all[b].day; });
  by_role_day_ = by_day_;
  std::stable_sort(by_role_day_.begin(), by_role_day_.end(),
                   [&](std::size_t a, std::size_t b) { return all[a].role < all[b].role; });
  had_by_.assign(sessions_.abstractions.size(), kSeveralRoles - 1);
  for (const auto& session : all) {
    ++role_begins_[session.role + std::size_t{1}];
    for (const std::uint32_t abstraction : session.abstractions) {
      std::uint32_t& role = had_by_[abstraction];
      role = role == kSeveralRoles - 1 || role == session.role ? session.role : kSeveralRoles;
    }
  }
  std::partial_sum(role_begins_.begin(), role_begins_.end(), role_begins_.begin());
}

bool HeldOutDays::Run(const WorkControl& control) {
  return Finishes([&] {
    const std::size_t roles = sessions_.roles.size();
    for (; repetition_ < kRepetitions; ++repetition_, role_ = 0, next_by_day_ = 0) {
      CountDays(control);
      for (; role_ < roles; ++role_, role_has_begun_ = false) {
        PauseIfInterrupted(control);
        if (!role_has_begun_) BeginRole(role_);
        PauseCounter pauses(control);
        for (; next_part_ < parts_.size(); ++next_part_) {
          PauseIfInterrupted(control);
          HoldAgainstOthers(parts_[next_part_], &pauses);
          control.Show((static_cast<double>(repetition_) +
                        static_cast<double>(parts_[next_part_].end) / static_cast<double>(by_day_.size())) /
                       static_cast<double>(kRepetitions));
        }
      }
    }
  });
}

SessionFigures HeldOutDays::Figures(std::size_t session, std::size_t repetition) const {
  SessionFigures figures;
  const std::uint32_t role = sessions_.sessions[session].role;
  if (role_begins_[role + std::size_t{1}] - role_begins_[role] > 1)
    sums_[session * kRepetitions + repetition].Show(sessions_.roles[role].usual_distinct, &figures);
  return figures;
}

// Calls `visit` once with each token of a session's abstractions that are not withheld.
template <typename Visit>
void HeldOutDays::ForEachToken(const NumberedSessions::Session& session, const Visit& visit) {
  ++seen_;
  const std::string& role = sessions_.roles[session.role].name;
  for (const std::uint32_t i : session.abstractions) {
    const NumberedSessions::Abstraction& abstraction = sessions_.abstractions[i];
    if (IsWithheld(role, abstraction.id, repetition_, expected_novelty_)) continue;
    for (const Token token : abstraction.tokens) {
      if (last_seen_[token] == seen_) continue;
      last_seen_[token] = seen_;
      visit(token);
    }
  }
}

void HeldOutDays::CountDays(const WorkControl& control) {
  if (next_by_day_ == 0) {
    with_token_.assign(sessions_.tokens, 0);
    of_day_.assign(sessions_.days, {});
    sessions_of_day_.assign(sessions_.days, 0);
  }
  std::vector<std::uint32_t> counts(sessions_.tokens, 0);
  std::vector<Token> tokens;
  while (next_by_day_ < by_day_.size()) {
    PauseIfInterrupted(control);
    const std::uint32_t day = sessions_.sessions[by_day_[next_by_day_]].day;
    std::size_t end = next_by_day_;
    for (; end < by_day_.size() && sessions_.sessions[by_day_[end]].day == day; ++end)
      ForEachToken(sessions_.sessions[by_day_[end]], [&](Token token) {
        if (counts[token]++ == 0) tokens.push_back(token);
      });
    std::sort(tokens.begin(), tokens.end());
    of_day_[day].reserve(tokens.size());
    for (const Token token : tokens) {
      of_day_[day].emplace_back(token, counts[token]);
      with_token_[token] += counts[token];
      counts[token] = 0;
    }
    tokens.clear();
    sessions_of_day_[day] = static_cast<std::uint32_t>(end - next_by_day_);
    next_by_day_ = end;
  }
}

void HeldOutDays::BeginRole(std::size_t role) {
  const std::size_t begin = role_begins_[role];
  const std::size_t end = role_begins_[role + 1];
  const auto session_at = [&](std::size_t i) -> const NumberedSessions::Session& {
    return sessions_.sessions[by_role_day_[i]];
  };
  for (const Own& own : own_) own_of_[own.abstraction] = 0;
  own_.clear();
  parts_.clear();
  next_part_ = 0;
  parts_are_days_ = begin < end && session_at(begin).day != session_at(end - 1).day;
  for (std::size_t i = begin; i < end; ++i) {
    if (i == begin || !parts_are_days_ || session_at(i).day != session_at(i - 1).day) parts_.push_back({i, i});
    parts_.back().end = i + 1;
  }
  if (parts_.size() == 1) parts_.clear();  // held against nothing

  std::fill(role_with_token_.begin(), role_with_token_.end(), 0);
  index_ = TokenIndex();
  for (std::uint32_t number = 1; number <= parts_.size(); ++number) {
    for (std::size_t i = parts_[number - 1].begin; i < parts_[number - 1].end; ++i) {
      ForEachToken(session_at(i), [&](Token token) { ++role_with_token_[token]; });
      for (const std::uint32_t abstraction : session_at(i).abstractions) {
        if (own_of_[abstraction] == 0) {
          Own own;
          own.abstraction = abstraction;
          own.is_withheld = IsWithheld(sessions_.roles[role].name, sessions_.abstractions[abstraction].id, repetition_,
                                       expected_novelty_);
          if (!own.is_withheld) own.list = index_.Add(sessions_.abstractions[abstraction].tokens);
          own_.push_back(own);
          own_of_[abstraction] = static_cast<std::uint32_t>(own_.size());
        }
        Own& own = own_[own_of_[abstraction] - 1];
        if (own.last_part != number) ++own.parts;
        own.last_part = number;
      }
    }
  }
  index_.Finish();
  left_out_.assign(index_.size(), 0);
  left_out_lists_.clear();
  role_has_begun_ = true;
}

// Holds the sessions of a part against all others. Whatever a call that was left has begun, the next one begins anew.
void HeldOutDays::HoldAgainstOthers(const Part& part, PauseCounter* pauses) {
  ++part_;
  for (const Token token : part_tokens_) part_with_token_[token] = 0;
  part_tokens_.clear();
  for (const TokenIndex::List list : left_out_lists_) left_out_[list] = 0;
  left_out_lists_.clear();

  const auto& first = sessions_.sessions[by_role_day_[part.begin]];
  const auto size = static_cast<std::int64_t>(part.end - part.begin);
  day_of_part_ = parts_are_days_ ? &of_day_[first.day] : nullptr;
  const SessionCounts sessions = {
      static_cast<std::int64_t>(role_begins_[first.role + std::size_t{1}] - role_begins_[first.role]) - size,
      static_cast<std::int64_t>(by_day_.size()) - (parts_are_days_ ? sessions_of_day_[first.day] : size)};
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const auto& session = sessions_.sessions[by_role_day_[i]];
    ForEachToken(session, [&](Token token) {
      if (part_with_token_[token]++ == 0) part_tokens_.push_back(token);
    });
    for (const std::uint32_t abstraction : session.abstractions) {
      const Own& own = own_[own_of_[abstraction] - 1];
      if (own.is_withheld || own.parts > 1) continue;
      left_out_[own.list] = 1;
      left_out_lists_.push_back(own.list);
    }
  }
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const auto& session = sessions_.sessions[by_role_day_[i]];
    NoveltySum& sum = sums_[by_role_day_[i] * kRepetitions + repetition_];
    sum = {};
    ++seen_;
    for (std::size_t k = 0; k < session.abstractions.size(); ++k) {
      Own& own = own_[own_of_[session.abstractions[k]] - 1];
      pauses->Add(1);
      if (!own.is_withheld && own.parts > 1) continue;
      if (own.weighed_in != part_) {
        pauses->Add(kWorkOfNovelty);
        own.newness = NewnessOf(own, sessions);
        own.newness.is_of_others = had_by_[own.abstraction] == kSeveralRoles;
        own.weighed_in = part_;
      }
      sum.Add(own.newness);
      AddColumns(own, &sum);
      sum.Run(own.newness, session.executions[k], session.executions[k]);
    }
  }
}

// Adds the columns that an abstraction shows and nothing of the role's else, each once a session.
void HeldOutDays::AddColumns(const Own& own, NoveltySum* sum) {
  if (!own.newness.is_strange) return;
  for (const Token token : sessions_.abstractions[own.abstraction].tokens) {
    if (sessions_.kinds[token] != TokenKind::kShown || !IsStrange(token) || last_seen_[token] == seen_) continue;
    last_seen_[token] = seen_;
    sum->AddColumn();
  }
}

Newness HeldOutDays::NewnessOf(const Own& own, const SessionCounts& sessions) {
  Newness newness;
  bool aggregates = false;
  weighed_.clear();
  conditions_.clear();
  for (const Token token : sessions_.abstractions[own.abstraction].tokens) {
    Weight& weight = weights_[token];
    if (weight.part != part_) {
      weight.part = part_;
      weight.weight = WeightOf({static_cast<std::int64_t>(role_with_token_[token] - part_with_token_[token]),
                                static_cast<std::int64_t>(WithinOthers(token))},
                               sessions);
    }
    newness.all += weight.weight;
    weighed_.push_back({token, weight.weight});
    newness.is_strange = newness.is_strange || IsStrange(token);
    aggregates = aggregates || sessions_.kinds[token] == TokenKind::kAggregate;
    if (sessions_.kinds[token] != TokenKind::kCondition) continue;
    newness.filters += weight.weight;
    conditions_.push_back(weighed_.back());
  }
  newness.all -= index_.MostShared(weighed_, left_out_);
  newness.filters -= index_.MostShared(conditions_, left_out_);
  if (aggregates) newness.filters = 0;
  return newness;
}

// Sessions of all roles with a token, without those that are held out.
std::uint32_t HeldOutDays::WithinOthers(Token token) const {
  if (day_of_part_ == nullptr) return with_token_[token] - part_with_token_[token];
  const auto found = std::lower_bound(day_of_part_->begin(), day_of_part_->end(), token,
                                      [](const auto& counted, Token wanted) { return counted.first < wanted; });
  const bool has = found != day_of_part_->end() && found->first == token;
  return with_token_[token] - (has ? found->second : 0);
}

}  // namespace privacy_score
