/*
 * rates_joint_test.cpp - rates of columns of several relations about the same subjects: what they are bounded by, and
 * what must hold on random relations.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/entropy/entropy.hpp"
#include "core/scoring/rates.hpp"
#include "sanitizers.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ModelRows;
using testing_support::RowRate;
using testing_support::TestTable;

// public.p (z) with one row a subject, public.v (w, x) with any number, public.o (u) about others.
ModelRows Rows() {
  ModelRows rows;
  rows.relations = {{"public.p", "1", "t", "public.p"}, {"public.v", "1", "f", "public.p"}, {"public.o", "2", "t"}};
  for (const char* name : {"p.z", "v.w", "v.x", "o.u"}) {
    const std::string column = std::string("public.") + name;
    rows.attributes.push_back({column, column.substr(0, 8), std::nullopt, "f"});
  }
  return rows;
}
constexpr AttributeId kZ = 0, kW = 1, kX = 2, kU = 3, kS = 4;

TEST(JointRates, BoundsUntilItIsKnown) {
  ModelRows rows = Rows();
  rows.rates = {{"public.p", "public.p.z", "0.5"}, {"public.v", "public.v.w", "0.25"}};
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  // Many rows of a subject may say together what none does, so the sum of the rates is no bound.
  EXPECT_EQ(book.Combined({kZ, kW}).lower, .5);
  EXPECT_EQ(book.Combined({kZ, kW}).upper, 1);
  // But a statement that adds z alone tells what z does: nothing links its rows to those with w.
  EXPECT_EQ(book.Difference({kZ}, {kW}).upper, .5);
  EXPECT_EQ(book.Difference({kW}, {kZ}).upper, .25);
  book.WantDifference({kZ}, {kW});
  EXPECT_FALSE(book.IsMissing());
  book.WantDifference({kZ, kW}, {});
  const auto missing = book.TakeMissing();
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].relation, "public.p");
  EXPECT_EQ(missing[0].attributes, "public.p.z\x01public.v.w");
}

TEST(JointRates, TakeThePlaceOfTheSum) {
  ModelRows rows = Rows();
  rows.rates = {{"public.p", "public.p.z", "0.5"},
                {"public.v", "public.v.w", "0.25"},
                {"public.p", "public.p.z\x01public.v.w", "0.625"},
                {"public.o", "public.o.u", "0.125"}};
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_TRUE(book.Combined({kZ, kW}).exact());
  EXPECT_EQ(book.Combined({kZ, kW}).upper, .625);
  EXPECT_EQ(book.Combined({kZ, kW, kU}).upper, .625);
  EXPECT_EQ(book.Combined({kW}).upper, .25);  // one relation by itself stays as it is
  EXPECT_EQ(book.Difference({kW}, {kZ}).upper, .25);
  EXPECT_EQ(book.Difference({kZ}, {kW}).upper, .5);
  EXPECT_EQ(book.Difference({kZ, kW}, {}).upper, .625);
  EXPECT_EQ(book.Difference({kZ, kW}, {kW}).upper, .5);
  EXPECT_EQ(book.Difference({kZ, kW}, {kZ}).upper, .25);
  EXPECT_EQ(book.Difference({kZ, kW}, {kZ, kW}).upper, 0);
  book.Want({kZ, kW, kU});
  EXPECT_TRUE(book.TakeMissing().empty());
  // A wider set is at least as much.
  EXPECT_EQ(book.Combined({kZ, kW, kX}).lower, .625);
}

TEST(JointRates, NeverBelowTheRateOfARelation) {
  ModelRows rows = Rows();
  rows.rates = {{"public.p", "public.p.z", "0.5"},
                {"public.v", "public.v.w", "0.75"},  // its few subjects are told apart well
                {"public.p", "public.p.z\x01public.v.w", "0.625"}};
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.Combined({kZ, kW}).upper, .75);
}

TEST(JointRates, ARelationThatIdentifiesSettlesIt) {
  ModelRows rows = Rows();
  rows.rates = {{"public.p", "public.p.z", "1"}};
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  EXPECT_EQ(book.Combined({kZ, kW}).lower, 1);
  book.Want({kZ, kW});
  const auto missing = book.TakeMissing();
  ASSERT_EQ(missing.size(), 1U);  // w by itself is not known, the two together are
  EXPECT_EQ(missing[0].attributes, "public.v.w");
}

TEST(JointRates, WithoutAHomeTheRatesAddUp) {
  for (const std::optional<std::string>& other :
       {std::optional<std::string>(), std::optional<std::string>("public.q")}) {
    ModelRows rows = Rows();
    rows.relations[1][3] = other;
    rows.rates = {{"public.p", "public.p.z", "0.5"},
                  {"public.v", "public.v.w", "0.25"},
                  {"public.p", "public.p.z\x01public.v.w", "0.625"}};
    const Model model = Model::Parse(rows.Wire());
    RateBook book(model);
    EXPECT_TRUE(book.Combined({kZ, kW}).exact());
    EXPECT_EQ(book.Combined({kZ, kW}).upper, .75);
    book.Want({kZ, kW});
    EXPECT_TRUE(book.TakeMissing().empty());
  }
}

TEST(JointRates, OutOfDateTheyAreBounds) {
  ModelRows rows = Rows();
  rows.rates = {{"public.p", "public.p.z", "0.5"},
                {"public.v", "public.v.w", "0.25"},
                {"public.p", "public.p.z\x01public.v.w", "0.625", "1000", "9.965784284662087", "20"}};
  const Model model = Model::Parse(rows.Wire());
  RateBook book(model);
  // Each modified row may concern two subjects.
  const RateBounds expected = AfterModifications(.625, 9.965784284662087, 1000, 40);
  EXPECT_EQ(book.Combined({kZ, kW}).lower, std::max(.5, expected.lower));
  EXPECT_EQ(book.Combined({kZ, kW}).upper, expected.upper);
  book.Want({kZ, kW});
  EXPECT_EQ(book.TakeMissing().size(), 1U);
}

// Subjects 0 to n-1 with a row in p(z), and rows of v(subject, w, x).
struct World {
  std::vector<int> z;
  std::vector<std::vector<int>> visits;

  double JointRate(unsigned mask) const {
    std::map<std::pair<int, std::multiset<std::vector<int>>>, std::int64_t> classes;
    std::vector<std::multiset<std::vector<int>>> said(z.size());
    for (const auto& visit : visits) {
      std::vector<int> row;
      if ((mask & 2U) != 0) row.push_back(visit[1]);
      if ((mask & 4U) != 0) row.push_back(visit[2]);
      if (!row.empty()) said[static_cast<std::size_t>(visit[0])].insert(row);
    }
    for (std::size_t subject = 0; subject < z.size(); ++subject)
      ++classes[{(mask & 1U) != 0 ? z[subject] : 0, said[subject]}];
    ClassSizes sizes;
    for (const auto& [value, count] : classes) sizes.push_back({count, 1});
    return RowRate(sizes);
  }
  double VisitRate(unsigned mask) const {
    const TestTable table{"public.v", {"subject", "w", "x"}, visits};
    std::vector<std::size_t> by;
    if ((mask & 2U) != 0) by.push_back(1);
    if ((mask & 4U) != 0) by.push_back(2);
    std::vector<std::size_t> with = by;
    with.insert(with.begin(), 0);
    return DiscriminationRate(Entropy(table.SizesBy({0})), Entropy(table.SizesBy(with)), Entropy(table.SizesBy(by)));
  }
  double PatientRate() const {
    const TestTable table{"public.p", {"z"}, [this] {
                            std::vector<std::vector<int>> rows;
                            for (const int value : z) rows.push_back({value});
                            return rows;
                          }()};
    return table.Rate({0});
  }
};

// A mask has a bit for z, w, x, and for the only column of public.s, which cannot be joined.
constexpr unsigned kOfPatient = 1, kOfVisit = 6, kOfOther = 8, kMasks = 16;

AttributeSet SetOf(unsigned mask) {
  AttributeSet set;
  for (const AttributeId id : {kZ, kW, kX}) {
    if ((mask >> id & 1U) != 0) set.push_back(id);
  }
  if ((mask & kOfOther) != 0) set.push_back(kS);
  return set;
}

TEST(JointRates, WhatHoldsOnRandomRelations) {
  const char* const kNames[] = {"public.p.z", "public.v.w", "public.v.x"};
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int round = 0; round < testing_support::Instances(100); ++round) {
    World world;
    const int subjects = 2 + below(12);
    for (int i = 0; i < subjects; ++i) world.z.push_back(below(1 + below(4)));
    for (int i = below(4 * subjects); i >= 0; --i) world.visits.push_back({below(subjects), below(3), below(2)});
    ModelRows rows = Rows();
    rows.relations.push_back({"public.s", "1", "t"});
    rows.attributes.push_back({"public.s.t", "public.s", std::nullopt, "f"});
    rows.rates.push_back({"public.s", "public.s.t", TextOf(below(100) / 100.0)});
    ModelRows parts_only = rows;
    for (unsigned mask = 1; mask < kOfOther; ++mask) {
      std::string names;
      for (unsigned c = 0; c < 3; ++c)
        if ((mask >> c & 1U) != 0) names += (names.empty() ? "" : "\x01") + std::string(kNames[c]);
      const bool joint = (mask & kOfPatient) != 0 && mask != kOfPatient;
      const double rate = joint                ? world.JointRate(mask)
                          : mask == kOfPatient ? world.PatientRate()
                                               : world.VisitRate(mask);
      const testing_support::TextRow row = {(mask & kOfPatient) != 0 ? "public.p" : "public.v", names, TextOf(rate)};
      rows.rates.push_back(row);
      if (!joint) parts_only.rates.push_back(row);
    }
    const Model model = Model::Parse(rows.Wire());
    const Model without = Model::Parse(parts_only.Wire());
    RateBook book(model);
    RateBook bounded(without);
    for (unsigned a = 0; a < kMasks; ++a) {
      const RateBounds of_a = book.Combined(SetOf(a));
      ASSERT_TRUE(of_a.exact());
      for (const unsigned part : {kOfPatient, kOfVisit, kOfOther})
        ASSERT_GE(of_a.upper, book.OfRelation(SetOf(a & part)).upper);
      ASSERT_NEAR(of_a.upper,
                  std::min(1.0, book.Combined(SetOf(a & ~kOfOther)).upper + book.Combined(SetOf(a & kOfOther)).upper),
                  1e-12);
      ASSERT_LE(bounded.Combined(SetOf(a)).lower, of_a.lower);
      ASSERT_GE(bounded.Combined(SetOf(a)).upper, of_a.upper);
      for (unsigned b = 0; b < kMasks; ++b) {
        ASSERT_LE(of_a.upper, book.Combined(SetOf(a | b)).upper + 1e-12);  // more columns tell no less
        const RateBounds beyond = book.Difference(SetOf(a), SetOf(b));
        ASSERT_TRUE(beyond.exact());
        ASSERT_GE(beyond.upper, 0);
        ASSERT_LE(beyond.upper, 1);
        if ((a & ~b) == 0) {
          ASSERT_EQ(beyond.upper, 0);
        }
        const auto grown = [&](unsigned in) {
          return book.Combined(SetOf((a | b) & in)).upper - book.Combined(SetOf(b & in)).upper;
        };
        // What b has of other relations makes nothing of a relation free.
        double most = 0;
        for (const unsigned part : {kOfPatient, kOfVisit, kOfOther})
          if ((a & part) != 0) most = std::max(most, grown(part));
        ASSERT_GE(beyond.upper, most - 1e-12);
        const bool joins = (a & kOfPatient) != 0 && (a & kOfVisit) != 0;
        if (!joins) {
          ASSERT_NEAR(beyond.upper, most, 1e-12);
        } else if ((a & b) == b) {  // what is known is part of the statement
          ASSERT_GE(beyond.upper, grown(kOfPatient | kOfVisit) - 1e-12);
        }
        ASSERT_LE(bounded.Difference(SetOf(a), SetOf(b)).lower, beyond.lower + 1e-12);
        ASSERT_GE(bounded.Difference(SetOf(a), SetOf(b)).upper, beyond.upper - 1e-12);
        for (unsigned c = 0; c < kMasks; ++c)  // nor does a statement that reveals more tell less beyond b
          ASSERT_LE(beyond.upper, book.Difference(SetOf(a | c), SetOf(b)).upper + 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace privacy_score
