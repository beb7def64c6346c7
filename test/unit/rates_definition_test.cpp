/*
 * rates_definition_test.cpp - the rates of a book against what rates.hpp says of them, worked out set by set.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/scoring/rates.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ModelRows;

RateBounds Least(const RateBounds& a, const RateBounds& b) {
  return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
}
RateBounds Greatest(const RateBounds& a, const RateBounds& b) {
  return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
}
RateBounds Sum(const RateBounds& a, const RateBounds& b) { return {a.lower + b.lower, a.upper + b.upper}; }
RateBounds Grown(const RateBounds& both, const RateBounds& before) {
  return {std::max(0.0, both.lower - before.upper), std::max(0.0, both.upper - before.lower)};
}

class ByDefinition {
 public:
  explicit ByDefinition(const Model& model) : model_(model) {}

  RateBounds OfRelation(const AttributeSet& set) const {
    if (set.empty()) return {0, 0};
    RateBounds bounds{0, 1};
    if (const RateBounds* known = model_.FindRate(set)) {
      if (known->exact()) return *known;
      bounds = *known;
    }
    const std::uint32_t relation = model_.attributes()[set.front()].relation;
    for (const auto& known : model_.RatesOf(relation))
      if (IsSubset(known.set, set)) bounds.lower = std::max(bounds.lower, known.rate.lower);
    if (bounds.lower >= 1 - 1e-12) return {1, 1};
    double sum = 0;
    for (const AttributeId id : set) sum += model_.FindRate({id}) == nullptr ? 1 : model_.FindRate({id})->upper;
    if (RelationOf(set).is_row_subject) bounds.upper = std::min(bounds.upper, sum);
    return {bounds.lower, std::max(bounds.lower, bounds.upper)};
  }

  RateBounds Combined(const AttributeSet& set) const {
    RateBounds result;
    for (const auto& [group, attributes] : Groups(set)) result = Greatest(result, OfGroup(attributes));
    return result;
  }

  RateBounds Difference(const AttributeSet& added, const AttributeSet& known) const {
    if (IsSubset(added, known)) return {0, 0};
    RateBounds bounds;
    for (const AttributeSet& part : Parts(added))
      bounds = Greatest(bounds, InRelation(UnionOf(part, OfRelationsOf(part, known)), known));
    for (const AttributeSet& joined : Joins(added)) {
      if (Parts(joined).size() == 1) continue;
      const AttributeSet before = OfJoinOf(joined, known);
      RateBounds by_relation;
      for (const AttributeSet& part : Parts(UnionOf(joined, before)))
        by_relation = Sum(by_relation, InRelation(part, known));
      const RateBounds beyond = Grown(OfJoin(UnionOf(joined, before)), before.empty() ? RateBounds{} : OfJoin(before));
      bounds = Greatest(bounds, Least(beyond, Greatest(OfJoin(joined), by_relation)));
    }
    return bounds.upper < 1e-12 ? RateBounds{0, 0} : bounds;
  }

  std::set<std::string> Missing(const AttributeSet& set) const {
    std::set<std::string> missing;
    for (const AttributeSet& part : Parts(set))
      if (!OfRelation(part).exact()) missing.insert(Named(part));
    for (const AttributeSet& joined : Joins(set))
      if (Parts(joined).size() > 1 && !OfJoin(joined).exact() && !IsKnown(joined)) missing.insert(Named(joined));
    return missing;
  }
  std::set<std::string> MissingOfDifference(const AttributeSet& added, const AttributeSet& known) const {
    if (Difference(added, known).exact()) return {};
    std::set<std::string> missing;
    for (const AttributeSet& part : Parts(added)) {
      const AttributeSet before = OfRelationsOf(part, known);
      missing.merge(Missing(UnionOf(part, before)));
      missing.merge(Missing(before));
    }
    for (const AttributeSet& joined : Joins(added)) {
      if (Parts(joined).size() == 1) continue;
      const AttributeSet before = OfJoinOf(joined, known);
      missing.merge(Missing(UnionOf(joined, before)));
      missing.merge(Missing(before));
      missing.merge(Missing(joined));
    }
    return missing;
  }

 private:
  const ProtectedRelation& RelationOf(const AttributeSet& set) const {
    return model_.relations()[model_.attributes()[set.front()].relation];
  }
  std::vector<AttributeSet> Parts(const AttributeSet& set) const {
    std::map<std::uint32_t, AttributeSet> parts;
    for (const AttributeId id : set) parts[model_.attributes()[id].relation].push_back(id);
    std::vector<AttributeSet> list;
    for (const auto& [relation, part] : parts) list.push_back(part);
    return list;
  }
  std::map<std::int64_t, AttributeSet> Groups(const AttributeSet& set) const {
    std::map<std::int64_t, AttributeSet> groups;
    for (const AttributeId id : set) groups[RelationOf({id}).subject_group].push_back(id);
    return groups;
  }
  // Attributes whose relations can be joined, side by side.
  std::vector<AttributeSet> Joins(const AttributeSet& set) const {
    std::vector<AttributeSet> joins;
    for (const auto& [group, attributes] : Groups(set)) {
      std::map<std::string, AttributeSet> by_home;
      for (const AttributeSet& part : Parts(attributes)) {
        const std::string& home = RelationOf(part).joint_home;
        if (home.empty())
          joins.push_back(part);
        else
          by_home[home] = UnionOf(by_home[home], part);
      }
      for (const auto& [home, joined] : by_home) joins.push_back(joined);
    }
    return joins;
  }
  // The attributes of `of` whose relation is one of the set's; whose relation can be joined with these.
  AttributeSet OfRelationsOf(const AttributeSet& set, const AttributeSet& of) const {
    return Chosen(of, [&](AttributeId id) {
      return std::any_of(set.begin(), set.end(), [&](AttributeId other) {
        return model_.attributes()[id].relation == model_.attributes()[other].relation;
      });
    });
  }
  AttributeSet OfJoinOf(const AttributeSet& set, const AttributeSet& of) const {
    const ProtectedRelation& home = RelationOf(set);
    return Chosen(of, [&](AttributeId id) {
      const ProtectedRelation& relation = RelationOf({id});
      return relation.subject_group == home.subject_group && relation.joint_home == home.joint_home;
    });
  }
  template <typename Condition>
  static AttributeSet Chosen(const AttributeSet& of, Condition condition) {
    AttributeSet chosen;
    std::copy_if(of.begin(), of.end(), std::back_inserter(chosen), condition);
    return chosen;
  }
  bool IsByRow(const AttributeSet& set) const {
    return std::all_of(set.begin(), set.end(), [this](AttributeId id) { return RelationOf({id}).is_row_subject; });
  }
  bool IsKnown(const AttributeSet& set) const {
    return model_.FindRate(set) != nullptr && model_.FindRate(set)->exact();
  }

  RateBounds OfJoin(const AttributeSet& joined) const {
    RateBounds greatest;
    for (const AttributeSet& part : Parts(joined)) greatest = Greatest(greatest, OfRelation(part));
    if (Parts(joined).size() == 1) return greatest;
    if (greatest.lower >= 1 - 1e-12) return {1, 1};
    RateBounds joint = model_.FindRate(joined) == nullptr ? RateBounds{0, 1} : *model_.FindRate(joined);
    if (!joint.exact()) {
      for (const auto& subset : model_.JointRatesOf(RelationOf(joined).subject_group))
        if (IsSubset(subset.set, joined)) joint.lower = std::max(joint.lower, subset.rate.lower);
      if (joint.lower >= 1 - 1e-12) return {1, 1};
      joint.upper = std::max(joint.lower, joint.upper);
    }
    return Greatest(joint, greatest);
  }
  RateBounds OfGroup(const AttributeSet& set) const {
    RateBounds sum;
    for (const AttributeSet& joined : Joins(set)) sum = Least({1, 1}, Sum(sum, OfJoin(joined)));
    return sum;
  }
  RateBounds InRelation(const AttributeSet& part, const AttributeSet& known) const {
    const AttributeSet before = DifferenceOf(part, DifferenceOf(part, known));
    if (before == part) return {0, 0};
    RateBounds bounds = Grown(OfRelation(part), OfRelation(before));
    if (!bounds.exact() && IsByRow(part))
      bounds.upper = std::max(bounds.lower, std::min(bounds.upper, OfRelation(DifferenceOf(part, before)).upper));
    return bounds;
  }
  std::string Named(const AttributeSet& set) const {
    std::string names;
    for (const AttributeId id : set)
      names += (names.empty() ? "" : std::string(1, kAttributeSeparator)) + model_.attributes()[id].name;
    return names;
  }

  const Model& model_;
};

// Six relations about two kinds of subjects. With `homes` most of them have one where they can be joined.
class RandomModel {
 public:
  RandomModel(unsigned seed, bool homes) : random_(seed) {
    ModelRows rows;
    for (std::size_t relation = 0; relation < 6; ++relation) {
      const std::string name = "public.r" + std::to_string(relation);
      std::optional<std::string> home;
      if (homes && relation != 2 && random_() % 4 != 0) home = relation < 4 ? "public.r0" : "public.r4";
      rows.relations.push_back({name, relation < 4 ? "1" : "2", random_() % 3 == 0 ? "f" : "t", home});
      const std::size_t wide = relation == 1 && seed % 4 == 0 ? 70 : 5;
      for (std::size_t c = 0; c < wide; ++c) {
        columns_.push_back(name + ".c" + std::to_string(100 + c));
        rows.attributes.push_back({columns_.back(), name, std::nullopt, "f"});
      }
    }
    for (int i = 0; i < 120; ++i) AddRate(rows, homes && i % 3 == 0);
    model_ = Model::Parse(rows.Wire());
    std::vector<MissingRate> missing;
    const std::string definitions = rows.Wire(false);
    const std::string sections = CountRevealing(model_, ScoreSettings(), &missing) + PackedRates::Pack(model_);
    ModelSource source(definitions);
    source.published = sections;
    published_ = Model::Parse(source);
  }

  const Model& model() const { return model_; }
  // The same with its rates packed.
  const Model& published() const { return published_; }
  AttributeSet Set(std::size_t most) {
    AttributeSet set;
    for (std::size_t k = 1 + random_() % most; k > 0; --k)
      set.push_back(static_cast<AttributeId>(random_() % columns_.size()));
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    return set;
  }

 private:
  // Also ones that contradict each other, ones out of date, ones of relations that cannot be joined.
  void AddRate(ModelRows& rows, bool joint) {
    const AttributeSet set = Set(joint ? 4 : 5);
    const std::string first = columns_[set[0]].substr(0, 9);
    const auto together = [&](const std::string& relation) {
      return joint ? (relation < "public.r4") == (first < "public.r4") : relation == first;
    };
    std::string names;
    for (const AttributeId id : set)
      if (together(columns_[id].substr(0, 9)))
        names += (names.empty() ? "" : std::string(1, kAttributeSeparator)) + columns_[id];
    const std::string relation = !joint ? first : first < "public.r4" ? "public.r0" : "public.r4";
    if (random_() % 4 == 0)
      rows.rates.push_back({relation, names, Rate(), "1000", "9.9", std::to_string(random_() % 300)});
    else
      rows.rates.push_back({relation, names, random_() % 12 == 0 ? "1" : Rate()});
  }
  std::string Rate() { return "0." + std::to_string(random_() % 1000); }

  std::mt19937 random_;
  std::vector<std::string> columns_;
  Model model_;
  Model published_;
};

std::string Described(const RateBounds& bounds) {
  return "[" + std::to_string(bounds.lower) + ", " + std::to_string(bounds.upper) + "]";
}

// Groups and joins are summed in another order than here, which may differ in the last place.
bool SameBounds(const RateBounds& a, const RateBounds& b) {
  return std::abs(a.lower - b.lower) < 1e-14 && std::abs(a.upper - b.upper) < 1e-14;
}

class RatesByDefinition : public ::testing::TestWithParam<bool> {};

TEST_P(RatesByDefinition, OfRandomModels) {
  std::size_t joined = 0;
  for (unsigned seed = 0; seed < testing_support::Instances(60u); ++seed) {
    RandomModel random(seed, GetParam());
    const ByDefinition expected(random.model());
    RateBook book(random.model());
    std::set<std::string> all_missing;
    const auto note = [&](std::set<std::string> missing) { all_missing.merge(missing); };
    for (int i = 0; i < 300; ++i) {
      const AttributeSet a = random.Set(7);
      const AttributeSet b = i % 10 == 0 ? AttributeSet() : random.Set(7);
      const RatedSet rated_a = book.Rate(a);
      const RatedSet rated_b = book.Rate(b);
      joined += rated_a.joined ? 1 : 0;
      ASSERT_TRUE(SameBounds(rated_a.combined, expected.Combined(a)))
          << seed << ": " << Described(rated_a.combined) << Described(expected.Combined(a));
      const RateBounds difference = book.Difference(rated_a, rated_b);
      ASSERT_TRUE(SameBounds(difference, expected.Difference(a, b)))
          << seed << ": " << Described(difference) << Described(expected.Difference(a, b));
      book.WantDifference(rated_a, rated_b);
      note(expected.MissingOfDifference(a, b));
      if (i % 5 != 0) continue;
      book.Want(a);
      note(expected.Missing(a));
    }
    std::set<std::string> noted;
    for (const MissingRate& rate : book.TakeMissing()) {
      EXPECT_TRUE(noted.insert(rate.attributes).second);
      EXPECT_FALSE(rate.relation.empty());
    }
    ASSERT_EQ(noted, all_missing) << seed;
  }
  EXPECT_EQ(joined > testing_support::Instances(1000u), GetParam()) << joined;
}

// A session copies the index that whoever published the model has made: nothing is another, to the last bit.
TEST_P(RatesByDefinition, PackedOnesAreTheSame) {
  const auto same = [](const RateBounds& a, const RateBounds& b) { return a.lower == b.lower && a.upper == b.upper; };
  for (unsigned seed = 200; seed < 200 + testing_support::Instances(40u); ++seed) {
    RandomModel random(seed, GetParam());
    RateBook one_by_one(random.model()), packed(random.published());
    ASSERT_NE(random.published().packed_rates(), nullptr);
    for (AttributeId id = 0; id < random.model().attributes().size(); ++id) {
      const RateBounds* known = one_by_one.KnownOf(id);
      ASSERT_EQ(known == nullptr, packed.KnownOf(id) == nullptr) << seed;
      if (known != nullptr) ASSERT_TRUE(same(*known, *packed.KnownOf(id))) << seed;
      ASSERT_EQ(one_by_one.LeastWith(id), packed.LeastWith(id)) << seed;
    }
    for (std::uint32_t relation = 0; relation < random.model().relations().size(); ++relation)
      ASSERT_EQ(random.model().SubjectEntropyOf(relation), random.published().SubjectEntropyOf(relation)) << seed;
    for (int i = 0; i < 200; ++i) {
      const AttributeSet a = random.Set(7), b = random.Set(7);
      ASSERT_TRUE(same(one_by_one.Combined(a), packed.Combined(a))) << seed;
      ASSERT_TRUE(same(one_by_one.Difference(a, b), packed.Difference(a, b))) << seed;
      one_by_one.WantDifference(a, b);
      packed.WantDifference(a, b);
    }
    ASSERT_TRUE(one_by_one.TakeMissing() == packed.TakeMissing()) << seed;
    EXPECT_THROW(random.published().FindRate({0}), Error);
  }
}

// What does not meet a set takes nothing from it, to the last bit.
TEST_P(RatesByDefinition, WhatDoesNotMeetIsBeyondNothing) {
  std::size_t apart = 0, together = 0;
  for (unsigned seed = 100; seed < 100 + testing_support::Instances(30u); ++seed) {
    RandomModel random(seed, GetParam());
    RateBook beyond_all(random.model()), beyond_nothing(random.model());
    const RatedSet nothing = beyond_all.Rate({});
    for (int i = 0; i < 300; ++i) {
      const RatedSet added = beyond_all.Rate(random.Set(3));
      const RatedSet known = beyond_all.Rate(random.Set(4));
      const bool meet = beyond_all.Meet(added, known);
      ++(meet ? together : apart);
      if (meet) continue;
      const RateBounds difference = beyond_all.Difference(added, known);
      const RateBounds alone = beyond_nothing.Difference(added, nothing);
      ASSERT_EQ(difference.lower, alone.lower) << seed;
      ASSERT_EQ(difference.upper, alone.upper) << seed;
      beyond_all.WantDifference(added, known);
      beyond_nothing.WantDifference(added, nothing);
    }
    std::vector<std::string> missing, missing_alone;
    for (const MissingRate& rate : beyond_all.TakeMissing()) missing.push_back(rate.attributes);
    for (const MissingRate& rate : beyond_nothing.TakeMissing()) missing_alone.push_back(rate.attributes);
    ASSERT_EQ(missing, missing_alone) << seed;
  }
  EXPECT_GT(apart, testing_support::Instances(500u));
  EXPECT_GT(together, testing_support::Instances(500u));
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutJoins, RatesByDefinition, ::testing::Bool());

}  // namespace
}  // namespace privacy_score
