/*
 * accepted.hpp - what a person has accepted of the sessions of a role, or of one of its principals: it raises no alarm.
 *
 * Statements that were accepted are known as those of the baseline are: they are nothing new, and what another
 * statement holds is held against theirs, too (novelty.hpp). Of a figure that says how far a session goes a height is
 * accepted: only what is higher is unusual. The baseline and what was learnt of it stay as they are.
 */
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/rows.hpp"
#include "core/detection/figures.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

class Accepted {
 public:
  void Add(AbstractionId id, Tokens tokens);
  // The greatest of several heights counts.
  void Add(Figure figure, double height);
  void Add(const Accepted& other);

  bool Has(AbstractionId id) const { return statements_.find(id) != statements_.end(); }
  const std::unordered_map<AbstractionId, Tokens>& statements() const { return statements_; }
  // The figures without those that are accepted at their height.
  SessionFigures Beyond(const SessionFigures& figures) const;
  bool empty() const { return statements_.empty() && !has_heights_; }

 private:
  std::unordered_map<AbstractionId, Tokens> statements_;  // tokens sorted
  std::array<std::optional<double>, kFigureCount> heights_;
  bool has_heights_ = false;
};

// What is accepted of one role and of its end users.
class AcceptedOfRole {
 public:
  AcceptedOfRole() = default;
  // Reads two sections: heights (end user, name, height), by the names of figures that are no novelty, and statements
  // (end user, id, token), one row a token; end user NULL: of all who work under the role. Throws Error XX001 on
  // anything else.
  explicit AcceptedOfRole(WireReader& reader);

  // What is accepted of an end user, empty for none, and of all; null for nothing.
  const Accepted* Of(std::string_view end_user) const;

 private:
  Accepted of_all_;
  std::map<std::string, Accepted, std::less<>> of_end_users_;  // with that of all
};

}  // namespace privacy_score
