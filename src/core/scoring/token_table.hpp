/*
 * token_table.hpp - the tokens of abstractions: in a map, or in a table that is read where it lies.
 */
#pragma once

#include <cstddef>
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

// Of a baseline. Each distinct token stands there once, under a number; the numbers rise with the tokens.
class TokenTable {
 public:
  using Number = std::uint32_t;

  TokenTable() = default;
  // The bytes that Pack() makes of sections of abstractions (id, token), sorted by id and token; a multiple of 8 of
  // them. Throws Error XX001 on damaged ones.
  static std::string Pack(std::string_view section);
  // A table of these bytes, which must outlive it. Throws Error XX001 on damaged ones; OfOwn, for bytes that Pack has
  // made, does not look at each abstraction.
  static TokenTable At(std::string_view bytes);
  static TokenTable OfOwn(std::string_view bytes);

  std::size_t size() const { return ids_.size(); }
  // The tokens of an abstraction, sorted; nothing when it is not among them.
  std::optional<Tokens> Find(AbstractionId id) const;
  bool Has(AbstractionId id) const { return PlaceOf(id).has_value(); }
  // Calls visit(id, tokens) with each.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (std::size_t place = 0; place < ids_.size(); ++place) visit(ids_[place], TokensAt(place));
  }

  std::size_t DistinctTokens() const { return begin_.empty() ? 0 : begin_.size() - 1; }
  std::string_view TokenOf(std::size_t number) const {
    return text_.substr(begin_[number], begin_[number + 1] - begin_[number]);
  }
  // Calls visit(number) with that of each token of an abstraction, in their order; false when it is not among them.
  template <typename Visit>
  bool ForEachNumber(AbstractionId id, Visit visit) const {
    const std::optional<std::size_t> place = PlaceOf(id);
    if (!place) return false;
    for (std::uint64_t at = first_[*place]; at < first_[*place + 1]; ++at) visit(numbers_[at]);
    return true;
  }

 private:
  std::optional<std::size_t> PlaceOf(AbstractionId id) const;
  Tokens TokensAt(std::size_t place) const;

  LentList<AbstractionId> ids_;    // sorted
  LentList<std::uint64_t> first_;  // where the numbers of each begin, and the end of the last
  LentList<std::uint64_t> begin_;  // where the text of each token begins, and the end of the last
  LentList<Number> numbers_;
  std::string_view text_;
};

}  // namespace privacy_score
