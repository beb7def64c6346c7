/*
 * token_table.hpp - the tokens of abstractions: in a map, or in a table that is read where it lies.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/lent_list.hpp"
#include "core/base/rows.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

using TokenMap = std::unordered_map<AbstractionId, Tokens>;

// Tokens by abstraction, sorted, from a section (id, token), one row a token. Throws Error XX001 on damaged bytes.
TokenMap ReadTokens(WireReader& reader);

// Of a baseline.
class TokenTable {
 public:
  TokenTable() = default;
  // The bytes that Pack() makes of sections of abstractions (id, token), sorted by id and token; a multiple of 8 of
  // them. Throws Error XX001 on damaged ones.
  static std::string Pack(std::string_view section);
  // A table of these bytes, which must outlive it. Throws Error XX001 on damaged ones.
  static TokenTable At(std::string_view bytes);

  std::size_t size() const { return ids_.size(); }
  // The tokens of an abstraction, sorted; nothing when it is not among them.
  std::optional<Tokens> Find(AbstractionId id) const;
  bool Has(AbstractionId id) const;
  // Calls visit(id, tokens) with each.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (std::size_t place = 0; place < ids_.size(); ++place) visit(ids_[place], TokensAt(place));
  }

 private:
  Tokens TokensAt(std::size_t place) const;

  LentList<AbstractionId> ids_;    // sorted
  LentList<std::uint64_t> begin_;  // of the text of each, and the end of the last
  std::string_view text_;          // their tokens, each with its end
};

}  // namespace privacy_score
