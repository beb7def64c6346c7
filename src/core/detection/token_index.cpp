/*
 * token_index.cpp - see token_index.hpp.
 */
#include "core/detection/token_index.hpp"

#include <algorithm>
#include <cmath>

namespace privacy_score {

namespace {
constexpr double kUnitsPerBit = 4294967296.0;
// What it costs to add up all of one list, in visits to a list that has a token.
constexpr std::size_t kCostOfRival = 16;
constexpr std::size_t kVisitsBetweenTries = 2;  // for each list

}  // namespace

double BitsOf(TokenWeight weight) { return static_cast<double>(weight) / kUnitsPerBit; }

TokenWeight WeightOfBits(double bits) { return std::llround(bits * kUnitsPerBit); }

TokenIndex::List TokenIndex::Add(const std::vector<Token>& tokens) {
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  begins_.push_back(tokens_.size());
  return static_cast<List>(size() - 1);
}

void TokenIndex::Finish() {
  const std::size_t tokens = tokens_.empty() ? 0 : *std::max_element(tokens_.begin(), tokens_.end()) + std::size_t{1};
  postings_from_.assign(tokens + 1, 0);
  for (const Token token : tokens_) ++postings_from_[token + std::size_t{1}];
  for (std::size_t token = 0; token < tokens; ++token) postings_from_[token + 1] += postings_from_[token];
  postings_.resize(tokens_.size());
  std::vector<std::size_t> next(postings_from_.begin(), postings_from_.end() - 1);
  for (List list = 0; list < size(); ++list)
    for (std::size_t i = begins_[list]; i < begins_[list + std::size_t{1}]; ++i) postings_[next[tokens_[i]]++] = list;
  shared_.assign(size(), 0);
  asked_.assign(tokens, 0);
}

// All that a list shares with the tokens that are asked for.
TokenWeight TokenIndex::SharedBy(List list) const {
  TokenWeight shared = 0;
  for (std::size_t i = begins_[list]; i < begins_[list + std::size_t{1}]; ++i) shared += asked_[tokens_[i]];
  return shared;
}

TokenWeight TokenIndex::MostShared(std::vector<Weighed>& tokens, const std::vector<std::uint8_t>& left_out) {
  tokens.erase(std::remove_if(tokens.begin(), tokens.end(),
                              [&](const Weighed& weighed) {
                                return weighed.weight == 0 || weighed.token + std::size_t{1} >= postings_from_.size();
                              }),
               tokens.end());
  std::sort(tokens.begin(), tokens.end(), [](const Weighed& a, const Weighed& b) { return a.weight > b.weight; });
  TokenWeight left = 0;      // of the tokens from `next` on: what a list may still come to share
  std::size_t to_visit = 0;  // lists that have one of these
  for (const Weighed& weighed : tokens) {
    asked_[weighed.token] = weighed.weight;
    left += weighed.weight;
    to_visit += PostingsOf(weighed.token).size();
  }
  TokenWeight best = 0;
  std::size_t next = 0;
  std::size_t visited = kVisitsBetweenTries * size();  // since rivals were last looked for
  while (next < tokens.size()) {
    // Once no list can win that is far behind it is cheaper to look at those alone that can. To look for them costs a
    // pass over all, so other work comes between two tries.
    if (left <= best && visited >= kVisitsBetweenTries * size()) {
      visited = 0;
      CollectRivals(best - left, left_out);
      if (rivals_.size() * kCostOfRival <= to_visit) break;
    }
    const Postings postings = PostingsOf(tokens[next].token);
    left -= tokens[next].weight;
    to_visit -= postings.size();
    visited += postings.size();
    best = std::max(best, Raise(postings, tokens[next].weight, best - left, left_out));
    ++next;
  }
  if (next < tokens.size()) {
    for (const List list : rivals_)
      if (shared_[list] + left > best) best = std::max(best, SharedBy(list));
  }
  for (const Weighed& weighed : tokens) asked_[weighed.token] = 0;
  std::fill(shared_.begin(), shared_.end(), 0);
  return best;
}

// Adds the weight of a token to all that have it, and returns what the one of them that is ahead comes to in the end:
// a high one ends the search early. 0 when none that counts has more than `floor`.
TokenWeight TokenIndex::Raise(const Postings& postings, TokenWeight weight, TokenWeight floor,
                              const std::vector<std::uint8_t>& left_out) {
  TokenWeight most = std::max(floor, TokenWeight{0});
  const List* leader = nullptr;
  for (const List* list = postings.first; list != postings.last; ++list) {
    const TokenWeight shared = shared_[*list] += weight;
    if (shared <= most || (!left_out.empty() && left_out[*list] != 0)) continue;
    most = shared;
    leader = list;
  }
  return leader != nullptr ? SharedBy(*leader) : 0;
}

// The lists that share more than `floor` so far.
void TokenIndex::CollectRivals(TokenWeight floor, const std::vector<std::uint8_t>& left_out) {
  // Without a branch: where many are near the floor it would be foretold wrongly half of the time.
  rivals_.resize(size() + 1);
  std::size_t rivals = 0;
  for (List list = 0; list < size(); ++list) {
    rivals_[rivals] = list;
    rivals += shared_[list] > floor && (left_out.empty() || left_out[list] == 0) ? 1U : 0U;
  }
  rivals_.resize(rivals);
}

}  // namespace privacy_score
