/*
 * differences.hpp - aggregates whose answers tell of one record by their difference: the figure `differ`.
 *
 * Who may ask only for aggregates asks for one of all patients of a ward, and for another of all but one. Neither tells
 * anything; the difference tells all. Such pairs are known by their constants: those of one are among those of the
 * other, but for two at most, as conditions are added or elements left out; and by their answers, which differ by at
 * most 1. So are three of them, where the constants of one are those of the two others together, and the answers say
 * that exactly one record is in both.
 *
 * Constants are keyed hashes. Of each aggregate the sums of their first three powers are kept, modulo 2^64: a set that
 * is another with one or two more is told by the differences of these sums, however many constants there are, and
 * whichever came first. With keyed hashes nobody finds others that have the same sums but by chance, of some 2^-58.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/statement/abstraction.hpp"

namespace privacy_score {

// A multiset of constants.
struct ConstantSums {
  std::array<std::uint64_t, 3> powers{};
  std::uint32_t count = 0;

  void Add(std::uint64_t constant) {
    std::uint64_t power = constant;
    for (std::uint64_t& sum : powers) {
      sum += power;
      power *= constant;
    }
    ++count;
  }
};

// One that was asked and answered by one row. Plain data.
struct AskedAggregate {
  std::uint64_t shape = 0;  // ShapeOfAggregate
  ConstantSums constants;
  std::uint32_t form = 0;  // tells abstractions apart
  double answer = 0;
};

// What aggregates must have in common to be compared: the relations and the functions that aggregate. 0: it has none
// that hides single values.
std::uint64_t ShapeOfAggregate(const Tokens& tokens);

// Whether the constants of one are those of the other and one or two more; or the same, under other conditions.
bool IsNearly(const AskedAggregate& one, const AskedAggregate& other);

enum class AskedBefore {
  kSame,     // with the same answer
  kNo,       // and it differs from none by one record
  kDiffers,  // it does
};
// What an aggregate is to those that were asked before, of which nothing is ever changed. Order does not matter.
AskedBefore CompareWithAsked(const AskedAggregate& asked, const AskedAggregate* before, std::size_t count);

}  // namespace privacy_score
