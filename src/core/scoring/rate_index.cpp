/*
 * rate_index.cpp - see rate_index.hpp.
 */
#include "core/scoring/rate_index.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/keyed_hash.hpp"
#include "core/scoring/equivalence.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kBits = 64;

// Calls `visit` with the number of each bit, in order, until it returns false.
template <typename Visit>
void ForEachBit(const MaskWord* mask, std::size_t words, Visit visit) {
  for (std::size_t w = 0; w < words; ++w)
    for (MaskWord rest = mask[w]; rest != 0; rest &= rest - 1)
      if (!visit(w * kBits + static_cast<std::size_t>(__builtin_ctzll(rest)))) return;
}

// The words that the widest domain needs.
std::size_t WordsFor(const std::vector<RateDomain>& domains) {
  std::size_t most = 1;
  for (const RateDomain& domain : domains) most = std::max(most, domain.attributes.size());
  return (most + kBits - 1) / kBits;
}

}  // namespace

std::uint64_t MaskTable::HashOf(std::uint32_t domain, const MaskWord* mask) const {
  std::uint64_t hash = domain + 1;
  for (std::size_t w = 0; w < words_; ++w) hash = FoldHash(hash, mask[w]);
  return hash;
}

std::uint32_t MaskTable::Find(std::uint32_t domain, const MaskWord* mask) {
  const std::uint32_t* last = by_hash_.Find(HashOf(domain, mask));
  for (std::uint32_t at = last == nullptr ? kNone : *last; at != kNone; at = next_[at]) {
    const MaskWord* candidate = MaskOf(at);
    if (candidate[words_] == domain && std::equal(mask, mask + words_, candidate)) return at;
  }
  return kNone;
}

std::uint32_t MaskTable::Add(std::uint32_t domain, const MaskWord* mask) {
  const auto number = static_cast<std::uint32_t>(next_.size());
  masks_.insert(masks_.end(), mask, mask + words_);
  masks_.push_back(domain);
  const std::uint64_t hash = HashOf(domain, mask);
  auto& slot = by_hash_.SlotOf(hash);
  next_.push_back(slot.key == 0 ? kNone : slot.value);
  if (slot.key == 0)
    by_hash_.Insert(slot, hash, number);
  else
    slot.value = number;
  return number;
}

void MaskTable::Shrink() {
  masks_.shrink_to_fit();
  next_.shrink_to_fit();
}

void MaskTable::Clear() { *this = MaskTable(words_); }

RateIndex::RateIndex(const Model& model, const std::vector<RateDomain>& domains)
    : words_(WordsFor(domains)), bit_of_(model.attributes().size()), known_(words_), subset_(words_) {
  std::vector<MaskWord> mask(words_);
  for (const RateDomain& source : domains) {
    const auto number = static_cast<std::uint32_t>(domains_.size());
    Domain domain;
    domain.attributes = source.attributes;
    domain.sum_bounds = source.sum_bounds;
    domain.containing.resize(domain.attributes.size());
    for (std::size_t bit = 0; bit < domain.attributes.size(); ++bit) {
      bit_of_[domain.attributes[bit]] = static_cast<std::uint32_t>(bit);
      const RateBounds* single = model.FindRate({domain.attributes[bit]});
      domain.single_upper.push_back(single == nullptr ? 1 : single->upper);
    }
    for (std::size_t i = 0; source.rates != nullptr && i < source.rates->size(); ++i) {
      std::fill(mask.begin(), mask.end(), 0);
      for (const AttributeId id : (*source.rates)[i].set) SetBit(id, mask.data());
      domain.all.push_back(known_.Add(number, mask.data()));
      rates_.push_back((*source.rates)[i].rate);
    }
    std::stable_sort(domain.all.begin(), domain.all.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return rates_[a].lower > rates_[b].lower; });
    for (const std::uint32_t rate : domain.all)
      ForEachBit(known_.MaskOf(rate), words_, [&](std::size_t bit) {
        domain.containing[bit].push_back(rate);
        return true;
      });
    domain.all.shrink_to_fit();
    for (std::vector<std::uint32_t>& rates : domain.containing) rates.shrink_to_fit();
    domains_.push_back(std::move(domain));
  }
  known_.Shrink();
  rates_.shrink_to_fit();
}

void RateIndex::SetBit(AttributeId attribute, MaskWord* mask) const {
  const std::size_t bit = bit_of_[attribute];
  mask[bit / kBits] |= MaskWord{1} << bit % kBits;
}

void RateIndex::AppendTo(AttributeSet& set, std::uint32_t domain, const MaskWord* mask) const {
  ForEachBit(mask, words_, [&](std::size_t bit) {
    set.push_back(domains_[domain].attributes[bit]);
    return true;
  });
}

bool RateIndex::IsSubset(const MaskWord* a, const MaskWord* b) const {
  for (std::size_t w = 0; w < words_; ++w)
    if ((a[w] & ~b[w]) != 0) return false;
  return true;
}

double RateIndex::BestSubset(std::uint32_t domain, const MaskWord* mask) {
  const std::vector<std::uint32_t>& all = domains_[domain].all;
  bits_.clear();
  ForEachBit(mask, words_, [&](std::size_t bit) {
    bits_.push_back(bit);
    return true;
  });
  if (bits_.size() >= kBits || (std::uint64_t{1} << bits_.size()) > all.size()) {
    for (const std::uint32_t rate : all)
      if (IsSubset(known_.MaskOf(rate), mask)) return rates_[rate].lower;
    return 0;
  }
  // Fewer subsets than known rates: each differs from the one before in one attribute.
  double best = 0;
  std::fill(subset_.begin(), subset_.end(), 0);
  for (std::uint64_t number = 1; number < std::uint64_t{1} << bits_.size(); ++number) {
    const std::size_t bit = bits_[static_cast<std::size_t>(__builtin_ctzll(number))];
    subset_[bit / kBits] ^= MaskWord{1} << bit % kBits;
    if (const RateBounds* known = Known(domain, subset_.data())) best = std::max(best, known->lower);
  }
  return best;
}

double RateIndex::BestSubsetWith(std::uint32_t domain, const MaskWord* mask, const MaskWord* fresh, double best) const {
  ForEachBit(fresh, words_, [&](std::size_t bit) {
    for (const std::uint32_t rate : domains_[domain].containing[bit]) {
      if (rates_[rate].lower <= best) break;
      if (!IsSubset(known_.MaskOf(rate), mask)) continue;
      best = rates_[rate].lower;
      break;
    }
    return true;
  });
  return best;
}

const RateBounds* RateIndex::Known(std::uint32_t domain, const MaskWord* mask) {
  const std::uint32_t found = known_.Find(domain, mask);
  return found == MaskTable::kNone ? nullptr : &rates_[found];
}

RateBounds RateIndex::BoundsOf(std::uint32_t domain, const MaskWord* mask, double best_subset) {
  RateBounds bounds{0, 1};
  if (const RateBounds* known = Known(domain, mask)) {
    if (known->exact()) return *known;
    bounds = *known;
  }
  bounds.lower = std::max(bounds.lower, best_subset);
  if (bounds.lower >= 1 - kRateTolerance) return {1, 1};
  const Domain& of = domains_[domain];
  if (!of.sum_bounds) return {bounds.lower, std::max(bounds.lower, bounds.upper)};
  double sum = 0;
  ForEachBit(mask, words_, [&](std::size_t bit) {
    sum += of.single_upper[bit];
    return true;
  });
  bounds.upper = std::max(bounds.lower, std::min(bounds.upper, sum));
  return bounds;
}

}  // namespace privacy_score
