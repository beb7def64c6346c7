/*
 * rates.hpp - combined discrimination rates of attribute sets, exact or bounded.
 *
 * Scoring never scans data: a set whose rate nobody has computed yet, or whose relation has changed much since, gets
 * bounds, and is reported as missing so that the caller computes it and comes again. For a relation whose subject tells
 * the rows apart max over known subsets <= CDR <= min(1, sum of the single rates); the sum does not bound it for
 * another subject (two columns may say nothing each and everything together), where only 1 does. A known subset with
 * rate 1 settles it.
 *
 * Over several relations (ours): those of a subject group whose rows can be joined count by their joint rate, never
 * below that of one of them; what cannot be joined adds up, to 1 at most; of several groups the greatest counts.
 *
 * An object belongs to one scorer and holds no lock.
 */
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/rate_index.hpp"
#include "core/scoring/subject_joins.hpp"

namespace privacy_score {

// A set of attributes, ready to be compared with others.
struct RatedSet {
  // The attributes of one relation. `best_subset`: the greatest lower bound of a known rate of a subset.
  struct Part {
    std::uint32_t relation = 0;
    RateBounds bounds;
    double best_subset = 0;
  };
  // Relations whose rows can be joined, or one by itself. `best_subset`: as that of a part, of joint rates.
  struct Join {
    std::uint32_t number = 0;
    std::uint32_t group = 0;
    std::size_t parts = 0;
    RateBounds bounds;
    double best_subset = 0;
  };
  // Relations about the same subjects. `joined`: some of them are.
  struct Group {
    std::uint32_t number = 0;
    RateBounds bounds;
    bool joined = false;
  };
  // Most are of one relation with few columns: each session keeps those of its baseline, without a block for each list.
  template <typename Item>
  using List = boost::container::small_vector<Item, 1>;
  List<Part> parts;      // by relation
  List<MaskWord> masks;  // of the parts, one after the other
  List<Join> joins;
  List<MaskWord> join_masks;  // likewise, of the joins
  List<Group> groups;
  RateBounds combined;
  bool joined = false;  // some relations are
};

class RateBook {
 public:
  // The model must outlive the object.
  explicit RateBook(const Model& model)
      : model_(&model),
        joins_(model),
        index_(model, SubjectJoins::OfRelations(model), PackedOf(&PackedRates::relations)),
        joint_(model, joins_.OfJoins(model), PackedOf(&PackedRates::joins)),
        wanted_(index_.words()),
        wanted_joint_(joint_.words()),
        fresh_rates_(index_.words()) {}

  // The attributes of a set, relation by relation.
  std::vector<AttributeSet> ByRelation(const AttributeSet& set) const;
  RatedSet Rate(const AttributeSet& set);
  // CDR of attributes of one relation against its subject.
  RateBounds OfRelation(const AttributeSet& set) { return set.empty() ? RateBounds{} : Rate(set).parts[0].bounds; }
  // CDR over several relations.
  RateBounds Combined(const AttributeSet& set) { return Rate(set).combined; }
  // What is known of the rate of one attribute by itself; null when nothing is.
  const RateBounds* KnownOf(AttributeId id) const;
  // An upper bound of it: the least of a known rate of a set of its relation that holds it. 1 when there is none.
  double LeastWith(AttributeId id) const { return index_.LeastWith(model_->attributes()[id].relation, id); }
  // What `added` tells beyond `known`, never negative: the greatest over its relations r of CDR(added|r u known|r) -
  // CDR(known|r). What `known` has of another relation makes nothing of r free: nothing links its rows to those of
  // `added`. Relations that `added` joins count together, too: as far as their joint rate with `known` exceeds that of
  // `known`, but no more than `added` tells by itself or, if that is greater, the sum of what it tells beyond `known`
  // in each of them. More columns in `added` never tell less. Allocates nothing but to remember.
  RateBounds Difference(const RatedSet& added, const RatedSet& known);
  RateBounds Difference(const AttributeSet& added, const AttributeSet& known) {
    return Difference(Rate(added), Rate(known));
  }

  // Whether `known` has a column of a relation of `added`, or of one that `added` joins: else Difference() and
  // WantDifference() are those beyond nothing.
  bool Meet(const RatedSet& added, const RatedSet& known) const;

  // Notes the sets that must be computed before Combined(set) is exact, and those of Difference.
  void Want(const RatedSet& set) { WantOf(set, nullptr, false); }
  void Want(const AttributeSet& set) { Want(Rate(set)); }
  void WantDifference(const RatedSet& added, const RatedSet& known);
  void WantDifference(const AttributeSet& added, const AttributeSet& known) {
    WantDifference(Rate(added), Rate(known));
  }
  // What was noted since the last call, each set once in the life of the object. Sorted.
  std::vector<MissingRate> TakeMissing();
  bool IsMissing() const { return !untaken_.empty(); }

 private:
  std::string_view PackedOf(std::vector<std::uint64_t> PackedRates::*index) const {
    const PackedRates* packed = model_->packed_rates();
    return packed == nullptr ? std::string_view() : PackedRates::Bytes(packed->*index);
  }
  const MaskWord* MaskOf(const RatedSet& set, std::size_t part) const { return &set.masks[part * index_.words()]; }
  const MaskWord* MaskOfJoin(const RatedSet& set, std::size_t join) const {
    return &set.join_masks[join * joint_.words()];
  }
  void Combine(RatedSet& set, const RatedSet* a = nullptr, const RatedSet* b = nullptr);
  void FindJoins(RatedSet& set);
  RateBounds OfJoin(RatedSet& set, std::size_t join, const RatedSet* a, const RatedSet* b);
  double BestOfJoin(const RatedSet& set, std::size_t join, const RatedSet& a, const RatedSet& b);
  void Unite(const RatedSet& a, const RatedSet& b);
  void AddUnion(const RatedSet& a, std::size_t part_of_a, const RatedSet& b, std::size_t part_of_b);
  bool FindFresh(const MaskWord* added, const MaskWord* known);
  bool Adds(const RatedSet& added, const RatedSet& known);
  RateBounds OfFresh(std::uint32_t relation);
  RateBounds BeyondInRelation(std::size_t part, const RatedSet& known, std::size_t part_of_known);
  void WantOf(const RatedSet& set, const RatedSet* touched, bool by_relation);
  RateBounds BeyondInJoin(const RatedSet::Join& both, const RatedSet& added, const RatedSet& known);

  const Model* model_;
  SubjectJoins joins_;
  RateIndex index_;  // of relations
  RateIndex joint_;  // of joins
  MaskTable wanted_;
  MaskTable wanted_joint_;
  std::vector<AttributeSet> untaken_;
  MaskTable fresh_rates_;  // sets that add to others
  std::vector<RateBounds> fresh_bounds_;
  // In the making, kept for their memory: the union of two sets, what one adds to the other.
  RatedSet union_;
  std::vector<MaskWord> fresh_mask_;
  std::vector<MaskWord> fresh_join_mask_;
  AttributeSet attributes_;
};

}  // namespace privacy_score
