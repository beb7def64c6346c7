/*
 * rate_index.cpp - see rate_index.hpp.
 */
#include "core/scoring/rate_index.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/base/packed_bytes.hpp"
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

std::uint64_t HashOf(std::uint32_t domain, const MaskWord* mask, std::size_t words) {
  std::uint64_t hash = domain + 1;
  for (std::size_t w = 0; w < words; ++w) hash = FoldHash(hash, mask[w]);
  return hash;
}

bool IsMaskOf(std::uint32_t domain, const MaskWord* mask, const MaskWord* candidate, std::size_t words) {
  return candidate[words] == domain && std::equal(mask, mask + words, candidate);
}

// Of a known rate in a table of `slots`, a power of two.
std::size_t FirstSlot(std::uint64_t hash, std::size_t slots) {
  return static_cast<std::size_t>((hash * 0x9e3779b97f4a7c15U) >> 32U) & (slots - 1);
}

}  // namespace

std::uint32_t MaskTable::Find(std::uint32_t domain, const MaskWord* mask) {
  const std::uint32_t* last = by_hash_.Find(HashOf(domain, mask, words_));
  for (std::uint32_t at = last == nullptr ? kNone : *last; at != kNone; at = next_[at])
    if (IsMaskOf(domain, mask, MaskOf(at), words_)) return at;
  return kNone;
}

std::uint32_t MaskTable::Add(std::uint32_t domain, const MaskWord* mask) {
  const auto number = static_cast<std::uint32_t>(next_.size());
  masks_.insert(masks_.end(), mask, mask + words_);
  masks_.push_back(domain);
  const std::uint64_t hash = HashOf(domain, mask, words_);
  auto& slot = by_hash_.SlotOf(hash);
  next_.push_back(slot.key == 0 ? kNone : slot.value);
  if (slot.key == 0)
    by_hash_.Insert(slot, hash, number);
  else
    slot.value = number;
  return number;
}

void MaskTable::Clear() { *this = MaskTable(words_); }

RateIndex::RateIndex(const Model& model, const std::vector<RateDomain>& domains, std::string_view packed)
    : words_(WordsFor(domains)), bit_of_(model.attributes().size()), subset_(words_) {
  for (const RateDomain& source : domains) {
    for (std::size_t bit = 0; bit < source.attributes.size(); ++bit)
      bit_of_[source.attributes[bit]] = static_cast<std::uint32_t>(bit);
    domains_.push_back({source.attributes, places_, source.sum_bounds});
    places_ += source.attributes.size();
  }
  if (packed.empty())
    Index(model, domains);
  else
    Lend(packed);
}

void RateIndex::Index(const Model& model, const std::vector<RateDomain>& domains) {
  std::vector<RateBounds> rates;
  std::vector<MaskWord> masks;
  std::vector<std::uint32_t> all;
  std::vector<std::uint64_t> all_begin = {0};
  std::vector<std::vector<std::uint32_t>> containing(places_);
  std::vector<double> single_upper;
  for (std::uint32_t number = 0; number < domains.size(); ++number) {
    const RateDomain& domain = domains[number];
    for (const AttributeId attribute : domain.attributes) {
      const RateBounds* single = model.FindRate({attribute});
      single_upper.push_back(single == nullptr ? 1 : single->upper);
    }
    for (std::size_t i = 0; domain.rates != nullptr && i < domain.rates->size(); ++i) {
      all.push_back(static_cast<std::uint32_t>(rates.size()));
      rates.push_back((*domain.rates)[i].rate);
      masks.resize(masks.size() + words_ + 1);
      MaskWord* mask = &masks[masks.size() - words_ - 1];
      for (const AttributeId id : (*domain.rates)[i].set) SetBit(id, mask);
      mask[words_] = number;
    }
    std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(all_begin.back()), all.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return rates[a].lower > rates[b].lower; });
    for (std::size_t at = all_begin.back(); at < all.size(); ++at)
      ForEachBit(&masks[all[at] * (words_ + 1)], words_, [&](std::size_t bit) {
        containing[domains_[number].first + bit].push_back(all[at]);
        return true;
      });
    all_begin.push_back(all.size());
  }
  std::vector<std::uint32_t> flat;
  std::vector<std::uint64_t> flat_begin = {0};
  for (const auto& list : containing) {
    flat.insert(flat.end(), list.begin(), list.end());
    flat_begin.push_back(flat.size());
  }
  std::size_t size = 1;
  while (size < 2 * rates.size()) size *= 2;
  std::vector<std::uint32_t> slots(size);
  for (std::uint32_t rate = 0; rate < rates.size(); ++rate) {
    const MaskWord* mask = &masks[rate * (words_ + 1)];
    std::size_t at = FirstSlot(HashOf(static_cast<std::uint32_t>(mask[words_]), mask, words_), size);
    while (slots[at] != 0) at = (at + 1) & (size - 1);
    slots[at] = rate + 1;
  }
  rates_ = std::move(rates);
  masks_ = std::move(masks);
  slots_ = std::move(slots);
  all_ = std::move(all);
  all_begin_ = std::move(all_begin);
  containing_ = std::move(flat);
  containing_begin_ = std::move(flat_begin);
  single_upper_ = std::move(single_upper);
}

std::string RateIndex::Packed() const {
  std::string bytes;
  AppendAll(bytes, std::vector<std::uint64_t>{words_, rates_.size(), containing_.size(), slots_.size()});
  AppendAll(bytes, rates_);
  AppendAll(bytes, masks_);
  AppendAll(bytes, all_begin_);
  AppendAll(bytes, containing_begin_);
  AppendAll(bytes, single_upper_);
  AppendAll(bytes, all_);
  AppendAll(bytes, containing_);
  AppendAll(bytes, slots_);
  FillUp(bytes);
  return bytes;
}

void RateIndex::Lend(std::string_view packed) {
  constexpr const char* kRatesName = "known rates";
  enum { kWords, kRates, kContaining, kSlots, kNumbers };
  const LentList<std::uint64_t> numbers = LendAll<std::uint64_t>(packed, kNumbers, kRatesName);
  if (numbers[kWords] != words_ || numbers[kRates] > packed.size()) throw DamagedData(kRatesName);
  rates_ = LendAll<RateBounds>(packed, numbers[kRates], kRatesName);
  masks_ = LendAll<MaskWord>(packed, numbers[kRates] * (words_ + 1), kRatesName);
  all_begin_ = LendAll<std::uint64_t>(packed, domains_.size() + 1, kRatesName);
  containing_begin_ = LendAll<std::uint64_t>(packed, places_ + 1, kRatesName);
  single_upper_ = LendAll<double>(packed, places_, kRatesName);
  all_ = LendAll<std::uint32_t>(packed, numbers[kRates], kRatesName);
  containing_ = LendAll<std::uint32_t>(packed, numbers[kContaining], kRatesName);
  slots_ = LendAll<std::uint32_t>(packed, numbers[kSlots], kRatesName);
  if (packed.size() >= kPackedUnit || slots_.empty()) throw DamagedData(kRatesName);
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
  const std::uint32_t* const first = all_.data() + all_begin_[domain];
  const std::uint32_t* const last = all_.data() + all_begin_[domain + 1];
  bits_.clear();
  ForEachBit(mask, words_, [&](std::size_t bit) {
    bits_.push_back(bit);
    return true;
  });
  if (bits_.size() >= kBits || (std::uint64_t{1} << bits_.size()) > static_cast<std::uint64_t>(last - first)) {
    for (const std::uint32_t* rate = first; rate != last; ++rate)
      if (IsSubset(MaskOf(*rate), mask)) return rates_[*rate].lower;
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
    const std::size_t place = domains_[domain].first + bit;
    for (std::uint64_t at = containing_begin_[place]; at < containing_begin_[place + 1]; ++at) {
      const std::uint32_t rate = containing_[at];
      if (rates_[rate].lower <= best) break;
      if (!IsSubset(MaskOf(rate), mask)) continue;
      best = rates_[rate].lower;
      break;
    }
    return true;
  });
  return best;
}

double RateIndex::LeastWith(std::uint32_t domain, AttributeId attribute) const {
  const std::size_t place = domains_[domain].first + bit_of_[attribute];
  double least = 1;
  for (std::uint64_t at = containing_begin_[place]; at < containing_begin_[place + 1]; ++at)
    least = std::min(least, rates_[containing_[at]].upper);
  return least;
}

const RateBounds* RateIndex::Known(std::uint32_t domain, const MaskWord* mask) const {
  std::size_t at = FirstSlot(HashOf(domain, mask, words_), slots_.size());
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1))
    if (IsMaskOf(domain, mask, MaskOf(slots_[at] - 1), words_)) return &rates_[slots_[at] - 1];
  return nullptr;
}

RateBounds RateIndex::BoundsOf(std::uint32_t domain, const MaskWord* mask, double best_subset) const {
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
    sum += single_upper_[of.first + bit];
    return true;
  });
  bounds.upper = std::max(bounds.lower, std::min(bounds.upper, sum));
  return bounds;
}

}  // namespace privacy_score
