/*
 * fuzz_seeds_test.cpp - the inputs that are kept for the fuzz targets, run without a fuzzer.
 */
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "../fuzz/literals.hpp"
#include "../fuzz/targets.hpp"

namespace privacy_score {
namespace {

class FuzzSeeds : public testing::TestWithParam<fuzz::Target> {};

// A property that does not hold ends the program.
TEST_P(FuzzSeeds, Hold) {
  int seeds = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string("test/fuzz/seeds/") + GetParam().name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string input((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    SCOPED_TRACE(entry.path().string());
    GetParam().run(input);
    ++seeds;
  }
  EXPECT_GT(seeds, 0);
  GetParam().run({});
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzSeeds, testing::ValuesIn(fuzz::Targets()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FuzzLiterals, AreReplacedAndNothingElse) {
  const auto replaced = [](std::string_view sql) { return fuzz::WithLiterals(sql, "x", "7"); };
  EXPECT_EQ(replaced("SELECT 'a''b', 12, a1, $1 FROM \"t'1'\""), "SELECT 'x', 7, a1, $1 FROM \"t'1'\"");
  EXPECT_EQ(replaced("E'a\\'b' X'1F' U&'\\0061' $q$it's 1$q$ $$1$$"), "E'x' X'x' U&'x' $q$x$q$ $$x$$");
  EXPECT_EQ(replaced("1.5e-3 .5 1e 1..2 5a"), "7 7 7e 7..7 7a");
  EXPECT_EQ(replaced("a.5"), "a 7");
  EXPECT_EQ(replaced("-- 'a' 1\n2 /* 'b' /* 3 */ 4 */ 5"), "-- 'a' 1\n7 /* 'b' /* 3 */ 4 */ 7");
  EXPECT_EQ(replaced("'open 1"), "'open 1");
  EXPECT_EQ(fuzz::WithLiterals("'a', 12", "x", ""), "'x', 12");
}

}  // namespace
}  // namespace privacy_score
