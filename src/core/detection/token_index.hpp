/*
 * token_index.hpp - which of many lists of tokens shares most weight with a given one.
 *
 * For each token there is the list of the lists that have it. Weights are added up list by list, those of the heaviest
 * tokens first; once what is left could not lift a list above the best one any more, only those that still may win are
 * looked at.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace privacy_score {

// In units of 2^-32 bits: up to 100,000 tokens of 60 bits each are summed without loss, and shown as a double exactly.
using TokenWeight = std::int64_t;
double BitsOf(TokenWeight weight);
TokenWeight WeightOfBits(double bits);

class TokenIndex {
 public:
  using Token = std::uint32_t;
  using List = std::uint32_t;
  struct Weighed {
    Token token = 0;
    TokenWeight weight = 0;  // at least 0
  };

  // Adds a list of distinct tokens; lists are numbered from 0 in the order in which they are added.
  List Add(const std::vector<Token>& tokens);
  // To be called after the last Add.
  void Finish();

  // The greatest weight that a list shares with these distinct tokens, which it sorts by weight; 0 when none does.
  // Lists for which `left_out` has a value other than 0 do not count; it is empty or has one value a list.
  TokenWeight MostShared(std::vector<Weighed>& tokens, const std::vector<std::uint8_t>& left_out = {});

  std::size_t size() const { return begins_.size() - 1; }

 private:
  struct Postings {
    const List* first;
    const List* last;
    std::size_t size() const { return static_cast<std::size_t>(last - first); }
  };
  Postings PostingsOf(Token token) const {
    return {postings_.data() + postings_from_[token], postings_.data() + postings_from_[token + std::size_t{1}]};
  }
  TokenWeight SharedBy(List list) const;
  TokenWeight Raise(const Postings& postings, TokenWeight weight, TokenWeight floor,
                    const std::vector<std::uint8_t>& left_out);
  void CollectRivals(TokenWeight floor, const std::vector<std::uint8_t>& left_out);

  std::vector<std::size_t> begins_ = {0};  // of each list in tokens_
  std::vector<Token> tokens_;
  std::vector<std::size_t> postings_from_;  // of each token in postings_
  std::vector<List> postings_;
  std::vector<TokenWeight> asked_;   // of each token while MostShared() runs, else 0
  std::vector<TokenWeight> shared_;  // of each list while MostShared() runs, else 0
  std::vector<List> rivals_;         // that may still win, likewise
};

}  // namespace privacy_score
