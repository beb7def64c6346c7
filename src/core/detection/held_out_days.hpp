/*
 * held_out_days.hpp - how much of each session of the baselines is new to the other days (calibrator.hpp).
 *
 * One role's index of abstractions is in memory at a time, and of each day how many sessions have each token.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/paused.hpp"
#include "core/base/work_control.hpp"
#include "core/detection/figures.hpp"
#include "core/detection/novelty.hpp"
#include "core/detection/token_index.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

inline constexpr std::size_t kRepetitions = 4;

// Whether an abstraction of a role is withheld in a repetition: a share `expected_novelty` of them is.
bool IsWithheld(std::string_view role, AbstractionId id, std::size_t repetition, double expected_novelty);

// Sessions with roles, days, abstractions and tokens numbered from 0.
struct NumberedSessions {
  struct Role {
    std::string name;
    double usual_distinct = 1;
  };
  struct Abstraction {
    AbstractionId id = 0;
    std::vector<TokenIndex::Token> tokens;  // distinct
  };
  struct Session {
    std::uint32_t role = 0;
    std::uint32_t day = 0;
    std::vector<std::uint32_t> abstractions;  // distinct
    std::vector<std::uint32_t> executions;    // of each
  };
  std::vector<Role> roles;
  std::vector<Abstraction> abstractions;
  std::vector<Session> sessions;
  std::size_t days = 0;
  std::size_t tokens = 0;
  std::vector<TokenKind> kinds;  // of each token
};

class HeldOutDays {
 public:
  // `sessions` must outlive it.
  HeldOutDays(const NumberedSessions& sessions, double expected_novelty);

  // Works until all is known (true) or `control` interrupts it (false); the next call goes on from there.
  [[nodiscard]] bool Run(const WorkControl& control);

  // What is new of a session, complete after Run() has returned true; unknown of a role's only one.
  SessionFigures Figures(std::size_t session, std::size_t repetition) const;

 private:
  using Token = TokenIndex::Token;
  using Counted = std::vector<std::pair<Token, std::uint32_t>>;  // sessions with a token, by token

  // What is known of an abstraction of the role that is being worked on.
  struct Own {
    std::uint32_t abstraction = 0;
    bool is_withheld = false;
    std::uint32_t parts = 0;  // that have it
    std::uint32_t last_part = 0;
    TokenIndex::List list = 0;     // in index_, unless it is withheld
    std::uint32_t weighed_in = 0;  // the part for which `novelty` holds
    Newness newness;
  };
  static constexpr std::uint32_t kSeveralRoles = 0xFFFFFFFF;
  // Sessions of a role that are left out together: those of a day, or each by itself.
  struct Part {
    std::size_t begin = 0;  // in by_role_day_
    std::size_t end = 0;
  };

  void CountDays(const WorkControl& control);
  void BeginRole(std::size_t role);
  void HoldAgainstOthers(const Part& part, PauseCounter* pauses);
  void AddColumns(const Own& own, NoveltySum* sum);
  Newness NewnessOf(const Own& own, const SessionCounts& sessions);
  bool IsStrange(Token token) const { return role_with_token_[token] == part_with_token_[token]; }
  template <typename Visit>
  void ForEachToken(const NumberedSessions::Session& session, const Visit& visit);
  std::uint32_t WithinOthers(Token token) const;

  const NumberedSessions& sessions_;
  double expected_novelty_;
  std::vector<NoveltySum> sums_;          // by session and repetition
  std::vector<std::size_t> by_day_;       // sessions in the order of days
  std::vector<std::size_t> by_role_day_;  // and in that of roles and their days
  std::vector<std::size_t> role_begins_;  // in by_role_day_
  std::vector<std::uint32_t> had_by_;     // the role that has an abstraction, or kSeveralRoles

  // Where the work is.
  std::size_t repetition_ = 0;
  std::size_t next_by_day_ = 0;
  std::size_t role_ = 0;  // that is worked on, where role_has_begun_
  bool role_has_begun_ = false;
  std::size_t next_part_ = 0;

  // Of the repetition: sessions with a token, of all and of each day.
  std::vector<std::uint32_t> with_token_;
  std::vector<Counted> of_day_;
  std::vector<std::uint32_t> sessions_of_day_;

  // Of the role.
  std::vector<Part> parts_;
  bool parts_are_days_ = true;
  std::vector<std::uint32_t> own_of_;  // place in own_ plus 1 of an abstraction; 0: the role does not have it
  std::vector<Own> own_;
  std::vector<std::uint32_t> role_with_token_;
  TokenIndex index_;

  // Of the part: sessions with a token, and what its abstractions are weighed by.
  std::uint32_t part_ = 0;  // number of the part among all that were worked on, from 1
  std::vector<std::uint32_t> part_with_token_;
  std::vector<Token> part_tokens_;
  std::vector<std::uint8_t> left_out_;  // lists that only the part has
  std::vector<TokenIndex::List> left_out_lists_;
  const Counted* day_of_part_ = nullptr;
  struct Weight {
    std::uint32_t part = 0;  // for which it holds
    TokenWeight weight = 0;
  };
  std::vector<Weight> weights_;
  std::vector<TokenIndex::Weighed> weighed_, conditions_;
  std::vector<std::uint64_t> last_seen_;  // of a token, in ForEachToken and AddColumns
  std::uint64_t seen_ = 0;
};

}  // namespace privacy_score
