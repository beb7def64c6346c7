/*
 * rates.hpp - combined discrimination rates of attribute sets, exact or bounded.
 *
 * Scoring never scans data: a set whose rate nobody has computed yet, or whose relation has changed much since, gets
 * bounds, and is reported as missing so that the caller computes it and comes again. For a relation whose subject tells
 * the rows apart max over known subsets <= CDR <= min(1, sum of the single rates); the sum does not bound it for
 * another subject (two columns may say nothing each and everything together), where only 1 does. A known subset with
 * rate 1 settles it. An object belongs to one scorer and holds no lock.
 */
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model.hpp"

namespace privacy_score {

class RateBook {
 public:
  // The model must outlive the object.
  explicit RateBook(const Model& model) : model_(&model) {}

  // The attributes of a set, relation by relation.
  std::vector<AttributeSet> ByRelation(const AttributeSet& set) const;
  // CDR of attributes of one relation against its subject.
  RateBounds OfRelation(const AttributeSet& set) const;
  // CDR over several relations (ours): the joint rate within a subject group, else min(1, sum); the greatest of the
  // groups.
  RateBounds Combined(const AttributeSet& set);
  // What `added` tells beyond `known`: CDR(added u known) - CDR(known), never negative. The rows of different
  // statements are not linked: where joint rates count it is no more than `added` tells by itself, or, if that is
  // greater, than the sum of what it tells beyond `known` in each relation.
  RateBounds Difference(const AttributeSet& added, const AttributeSet& known);

  // Notes the sets that must be computed before Combined(set) is exact, and those of Difference.
  void Want(const AttributeSet& set);
  void WantDifference(const AttributeSet& added, const AttributeSet& known);
  // What was noted since the last call, each set once in the life of the object. Sorted.
  std::vector<MissingRate> TakeMissing();
  bool IsMissing() const { return !untaken_.empty(); }

 private:
  // Attributes of relations about the same subjects.
  struct Group {
    AttributeSet set;
    std::vector<AttributeSet> parts;  // by relation
    bool joint = false;               // of several relations, and with a joint rate
  };
  std::vector<Group> ByGroup(const AttributeSet& set) const;
  bool HasJointGroup(const AttributeSet& set) const;
  RateBounds OfGroup(const Group& group) const;
  RateBounds BeyondInRelation(const AttributeSet& set, const AttributeSet& known) const;
  RateBounds BeyondByRelation(const AttributeSet& set, const AttributeSet& known) const;
  void WantOne(const AttributeSet& set);

  const Model* model_;
  std::unordered_map<AttributeSet, RateBounds, AttributeSetHash> combined_;
  std::set<AttributeSet> wanted_;
  std::vector<AttributeSet> untaken_;
};

// The sets that the statements of the model by themselves need to be identified and scored exactly, as TakeMissing.
std::vector<MissingRate> MissingOfStatements(const Model& model, bool where_counts);

}  // namespace privacy_score
