/*
 * figures_test.cpp - names and limits of the figures of a session.
 */
#include "core/detection/figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "error_fixture.hpp"

namespace privacy_score {
namespace {

using testing_support::ErrorOf;

TEST(Figures, HaveOneOrderAndNames) {
  std::vector<std::string> names;
  for (const Figure figure : kFigures) {
    EXPECT_EQ(static_cast<std::size_t>(figure), names.size());
    names.emplace_back(NameOf(figure));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"tokens", "tokens_max", "unknown", "filters", "other_roles", "new_columns",
                                             "new_runs", "new_repeats", "addressed", "person", "known", "differ",
                                             "repeats", "volume"}));
}

TEST(Figures, VolumeIsALogarithmFromAHundredRowsOn) {
  EXPECT_EQ(VolumeOf(0), 0);
  EXPECT_EQ(VolumeOf(100), 0);
  EXPECT_EQ(VolumeOf(200), 1);
  EXPECT_EQ(VolumeOf(800), 3);
  EXPECT_NEAR(VolumeOf(101), 0.0143552929770701, 1e-14);
  EXPECT_TRUE(std::isfinite(VolumeOf(std::numeric_limits<std::int64_t>::max())));
}

TEST(Figures, AreFiniteAndNotNegative) {
  SessionFigures figures;
  EXPECT_EQ(ErrorOf([&] { figures.Check(); }), "");
  for (const Figure figure : kFigures) figures[figure] = 0;
  figures[Figure::kVolume] = 1e300;
  EXPECT_EQ(ErrorOf([&] { figures.Check(); }), "");
  for (const double wrong : {-1e-9, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    figures[Figure::kPerson] = wrong;
    EXPECT_EQ(ErrorOf([&] { figures.Check(); }), "XX001 could not read internal data: figures of a session");
  }
}

}  // namespace
}  // namespace privacy_score
