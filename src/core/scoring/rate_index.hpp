/*
 * rate_index.hpp - sets of attributes as bit masks, and the known rates found by them.
 *
 * A statement that nobody has seen is compared with every statement of a baseline, and each comparison asks for the
 * rate of a set that stands nowhere as such. The attributes of a set are of one domain: a relation, or the relations of
 * a join (subject_joins.hpp). A mask has one bit for each attribute of its domain, in the order of their ids, and as
 * many words as the widest domain needs. Known rates are found by mask, and, greatest first, by an attribute that they
 * contain. An object belongs to one scorer and holds no lock; the model must outlive it.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/flat_map.hpp"
#include "core/base/lent_list.hpp"
#include "core/scoring/model.hpp"

namespace privacy_score {

using MaskWord = std::uint64_t;

// Numbers masks of domains in the order in which they are added.
class MaskTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  explicit MaskTable(std::size_t words) : words_(words) {}

  // kNone when it was not added.
  std::uint32_t Find(std::uint32_t domain, const MaskWord* mask);
  // Adds one that is not there.
  std::uint32_t Add(std::uint32_t domain, const MaskWord* mask);
  std::size_t size() const { return next_.size(); }
  const MaskWord* MaskOf(std::uint32_t number) const { return masks_.data() + number * (words_ + 1); }
  void Clear();

 private:
  std::size_t words_;
  std::vector<MaskWord> masks_;      // each followed by its domain
  std::vector<std::uint32_t> next_;  // of equal hash
  FlatMap<std::uint32_t> by_hash_;   // the last of that hash
};

// What the attributes of a set are of. `sum_bounds`: the rate of a set is at most the sum of those of its attributes.
struct RateDomain {
  std::vector<AttributeId> attributes;  // sorted
  const std::vector<Model::KnownRate>* rates = nullptr;
  bool sum_bounds = false;
};

class RateIndex {
 public:
  // No attribute is of two domains. `packed`: what Packed() has made of an index of the same domains, at a multiple of
  // 8 bytes, which must outlive this; then their rates are not looked at. Throws Error XX001 on what cannot be that.
  RateIndex(const Model& model, const std::vector<RateDomain>& domains, std::string_view packed = {});
  // As bytes for the same machine; a multiple of 8 of them.
  std::string Packed() const;

  std::size_t words() const { return words_; }

  void SetBit(AttributeId attribute, MaskWord* mask) const;
  // Adds the attributes of a mask to a set of lesser ones.
  void AppendTo(AttributeSet& set, std::uint32_t domain, const MaskWord* mask) const;

  // The greatest lower bound of a known rate of a subset; 0 when none is known.
  double BestSubset(std::uint32_t domain, const MaskWord* mask);
  // The same when all subsets without any attribute of `fresh` are known to have at most `best`.
  double BestSubsetWith(std::uint32_t domain, const MaskWord* mask, const MaskWord* fresh, double best) const;
  // The rate of a set of which the greatest of its subsets is given.
  RateBounds BoundsOf(std::uint32_t domain, const MaskWord* mask, double best_subset) const;
  // The least upper bound of a known rate of a set with this attribute of the domain; 1 when none is known.
  double LeastWith(std::uint32_t domain, AttributeId attribute) const;
  // What is known of just this set; null when nothing is.
  const RateBounds* Known(std::uint32_t domain, const MaskWord* mask) const;
  bool IsExact(std::uint32_t domain, const MaskWord* mask) const {
    const RateBounds* known = Known(domain, mask);
    return known != nullptr && known->exact();
  }

 private:
  struct Domain {
    std::vector<AttributeId> attributes;
    std::size_t first = 0;  // the place of the first of these among those of all domains
    bool sum_bounds = false;
  };

  void Index(const Model& model, const std::vector<RateDomain>& domains);
  void Lend(std::string_view packed);
  const MaskWord* MaskOf(std::uint32_t rate) const { return masks_.data() + rate * (words_ + 1); }
  bool IsSubset(const MaskWord* a, const MaskWord* b) const;

  std::size_t words_ = 1;
  std::vector<Domain> domains_;
  std::size_t places_ = 0;             // attributes of all domains
  std::vector<std::uint32_t> bit_of_;  // of each attribute in its domain
  // Known rates, in lists that lie one after the other, of all domains.
  LentList<RateBounds> rates_;
  LentList<MaskWord> masks_;       // of each, followed by its domain
  LentList<std::uint32_t> slots_;  // by hash of mask and domain, each a rate's number plus 1; a power of two of them
  LentList<std::uint32_t> all_;    // of a domain, greatest first
  LentList<std::uint64_t> all_begin_;
  LentList<std::uint32_t> containing_;  // of an attribute's place: those that contain it, greatest first
  LentList<std::uint64_t> containing_begin_;
  LentList<double> single_upper_;  // of an attribute's place
  // In the making.
  std::vector<MaskWord> subset_;
  std::vector<std::size_t> bits_;
};

}  // namespace privacy_score
