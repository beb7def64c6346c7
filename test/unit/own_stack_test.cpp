/*
 * own_stack_test.cpp - what runs on a stack of its own: how deep it can go, and how it comes back.
 */
#include "sqlparse/own_stack.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/base/error.hpp"
#include "core/base/paused.hpp"

namespace privacy_score {
namespace {

// Recurses until the stack comes to its end, and says how often.
int Recurse(int depth, volatile int* deepest) {
  if (depth > 100000000) return 0;
  volatile char frame[1000];
  frame[depth % 1000] = 1;
  RequireStack();
  *deepest = depth;
  return Recurse(depth + 1, deepest) + frame[depth % 1000];
}

int DeepestOn(StackSize size) {
  volatile int deepest = 0;
  EXPECT_THROW(OnOwnStack(size, [&] { Recurse(0, &deepest); }), TooDeep);
  return deepest;
}

// Resident memory in kB.
long Resident() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word)
    if (word == "VmRSS:") break;
  long kilobytes = 0;
  file >> kilobytes;
  return kilobytes;
}

TEST(OwnStack, EndsBeforeItsEnd) {
  const int ordinary = DeepestOn(StackSize::kOrdinary);
  const int deep = DeepestOn(StackSize::kDeep);
  EXPECT_GT(ordinary, 500);
  EXPECT_GT(deep, 10 * ordinary);
  EXPECT_EQ(DeepestOn(StackSize::kOrdinary), ordinary);
  EXPECT_EQ(DeepestOn(StackSize::kDeep), deep);
}

// The deep one has 64 MB.
TEST(OwnStack, KeepsLittle) {
  DeepestOn(StackSize::kDeep);
  const long before = Resident();
  for (int i = 0; i < 3; ++i) {
    DeepestOn(StackSize::kOrdinary);
    DeepestOn(StackSize::kDeep);
  }
  EXPECT_LT(Resident() - before, 16384);
}

TEST(OwnStack, CarriesExceptionsOver) {
  for (const StackSize size : {StackSize::kOrdinary, StackSize::kDeep}) {
    int ran = 0;
    OnOwnStack(size, [&] { ++ran; });
    EXPECT_THROW(OnOwnStack(size, [] { throw Error("54001", "no"); }), Error);
    EXPECT_FALSE(Finishes([&] { OnOwnStack(size, [] { throw Paused{}; }); }));
    try {
      OnOwnStack(size, [&] {
        try {
          throw std::string("caught within");
        } catch (const std::string&) {
          ++ran;
        }
        throw InvalidValue("and told outside");
      });
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "and told outside");
      ++ran;
    }
    EXPECT_EQ(ran, 3);
  }
}

TEST(OwnStack, IsThatOfTheProcessElse) {
  EXPECT_NO_THROW(RequireStack());
  OnOwnStack(StackSize::kOrdinary, [] { EXPECT_LT(StackLeft(), std::size_t{8} << 20); });
  EXPECT_GT(StackLeft(), std::size_t{1} << 30);
}

}  // namespace
}  // namespace privacy_score
