/*
 * packed_rates_test.cpp - the section of packed rates, and damage to it. That rates are the same stands in
 * rates_definition_test.cpp.
 */
#include "core/scoring/packed_rates.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/scoring/rates.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

ModelRows SomeModel() {
  ModelRows rows;
  rows.relations = {{"public.a", "1", "t"}, {"public.b", "1", "t"}};
  for (const char* column : {"public.a.x", "public.a.y", "public.b.z"})
    rows.attributes.push_back({column, std::string(column, 8), std::nullopt, "f"});
  rows.rates.push_back({"public.a", "public.a.x", ".25", std::nullopt, "9.5", std::nullopt});
  rows.rates.push_back({"public.a", std::string("public.a.x") + kAttributeSeparator + "public.a.y", ".5"});
  return rows;
}

TEST(PackedRates, HaveWhatWasPacked) {
  const Model model = Model::Parse(SomeModel().Wire());
  const std::string section = PackedRates::Pack(model);
  WireReader reader(section);
  const PackedRates packed = PackedRates::Read(reader, 2);
  EXPECT_TRUE(reader.AtEnd());
  ASSERT_EQ(packed.subject_entropies.size(), 2U);
  EXPECT_EQ(packed.subject_entropies[0], 9.5);
  EXPECT_EQ(packed.subject_entropies[1], std::nullopt);
  RateIndex index(model, SubjectJoins::OfRelations(model), PackedRates::Bytes(packed.relations));
  const MaskWord both = 3, first = 1, second = 2;
  ASSERT_NE(index.Known(0, &both), nullptr);
  EXPECT_EQ(index.Known(0, &both)->upper, .5);
  EXPECT_EQ(index.Known(0, &first)->upper, .25);
  EXPECT_EQ(index.Known(0, &second), nullptr);
  EXPECT_EQ(index.Known(1, &first), nullptr);
  EXPECT_EQ(index.LeastWith(0, 1), .5);
}

TEST(PackedRates, OfAnotherModelAreRefused) {
  const Model model = Model::Parse(SomeModel().Wire());
  const std::string section = PackedRates::Pack(model);
  WireReader reader(section);
  EXPECT_THROW(PackedRates::Read(reader, 3), Error);
  WireReader again(section);
  const PackedRates packed = PackedRates::Read(again, 2);
  ModelRows other = SomeModel();
  other.relations.push_back({"public.c", "2", "t"});
  for (int i = 0; i < 70; ++i)
    other.attributes.push_back({"public.c.c" + std::to_string(i), "public.c", std::nullopt, "f"});
  const Model wide = Model::Parse(other.Wire());
  EXPECT_THROW(RateIndex(wide, SubjectJoins::OfRelations(wide), PackedRates::Bytes(packed.relations)), Error);
  for (std::size_t length = 0; length < section.size(); ++length) {
    WireReader cut(std::string_view(section).substr(0, length));
    EXPECT_THROW(PackedRates::Read(cut, 2), Error) << length;
  }
}

}  // namespace
}  // namespace privacy_score
