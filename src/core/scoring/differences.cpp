/*
 * differences.cpp - see differences.hpp.
 */
#include "core/scoring/differences.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/joined.hpp"
#include "core/base/keyed_hash.hpp"
#include "core/base/sort_unique.hpp"
#include "core/statement/touched_relations.hpp"

namespace privacy_score {

namespace {

constexpr double kOneRecord = 1;

// The sums of the constants that one has and the other has not, if it has all of the other's.
ConstantSums Without(const ConstantSums& one, const ConstantSums& other) {
  ConstantSums rest;
  for (std::size_t power = 0; power < rest.powers.size(); ++power)
    rest.powers[power] = one.powers[power] - other.powers[power];
  rest.count = one.count - other.count;
  return rest;
}

bool AreSame(const ConstantSums& one, const ConstantSums& other) {
  return one.count == other.count && one.powers == other.powers;
}

// Newton's identities: with one constant x the sums are x, x^2, x^3; with two, 2 p3 = 3 p1 p2 - p1^3.
bool AreOneOrTwo(const ConstantSums& sums) {
  const auto [first, second, third] = sums.powers;
  if (sums.count == 1) return second == first * first && third == second * first;
  return sums.count == 2 && 2 * third == 3 * first * second - first * first * first;
}

bool IsNear(double one, double other) { return std::abs(one - other) <= kOneRecord; }

// Whether the constants of `whole` are those of the two parts together, and their answers that of the whole and one
// more: the record that both count.
bool ShareOne(const AskedAggregate& whole, const AskedAggregate& part, const AskedAggregate& other) {
  return part.constants.count > 0 && other.constants.count > 0 &&
         AreSame(Without(whole.constants, part.constants), other.constants) &&
         part.answer + other.answer - whole.answer == kOneRecord;
}

}  // namespace

std::uint64_t ShapeOfAggregate(const Tokens& tokens) {
  std::vector<std::string_view> names;
  for (const std::string& token : tokens) {
    if (token.compare(0, 2, "f:") != 0) continue;
    const std::string_view name = std::string_view(token).substr(2, token.find('(') - 2);
    if (HidesColumns(name)) names.push_back(name);
  }
  if (names.empty()) return 0;
  SortUnique(names);
  constexpr char kTokenEnd = '\n';
  const std::string joined = Joined(tokens, std::string(1, kTokenEnd));
  std::vector<std::string_view> relations = RelationsNamedBy(joined, kTokenEnd);
  SortUnique(relations);
  std::uint64_t shape = names.size();
  for (const auto* list : {&names, &relations})
    for (const std::string_view name : *list) shape = FoldHash(shape, NameHash(name));
  return shape == 0 ? 1 : shape;
}

bool IsNearly(const AskedAggregate& one, const AskedAggregate& other) {
  if (AreSame(one.constants, other.constants)) return one.form != other.form;
  return one.constants.count > other.constants.count ? AreOneOrTwo(Without(one.constants, other.constants))
                                                     : AreOneOrTwo(Without(other.constants, one.constants));
}

AskedBefore CompareWithAsked(const AskedAggregate& asked, const AskedAggregate* before, std::size_t count) {
  bool differs = false;
  for (std::size_t i = 0; i < count; ++i) {
    const AskedAggregate& one = before[i];
    if (one.shape != asked.shape) continue;
    if (one.form == asked.form && one.answer == asked.answer && AreSame(one.constants, asked.constants))
      return AskedBefore::kSame;
    differs = differs || (IsNear(one.answer, asked.answer) && IsNearly(one, asked));
  }
  for (std::size_t i = 0; i < count && !differs; ++i) {
    if (before[i].shape != asked.shape) continue;
    for (std::size_t k = 0; k < i && !differs; ++k) {
      if (before[k].shape != asked.shape) continue;
      differs = ShareOne(asked, before[i], before[k]) || ShareOne(before[i], asked, before[k]) ||
                ShareOne(before[k], asked, before[i]);
    }
  }
  return differs ? AskedBefore::kDiffers : AskedBefore::kNo;
}

}  // namespace privacy_score
