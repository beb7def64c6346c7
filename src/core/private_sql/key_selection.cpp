/*
 * key_selection.cpp - votes for groups and their threshold (see key_selection.hpp).
 */
#include "core/private_sql/key_selection.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

namespace {

Rational VoteScale(const Rational& epsilon) {
  if (epsilon <= Rational(0))
    throw InvalidValue("epsilon must be greater than zero, not " + TextOf(epsilon),
                       "The smaller it is, the more noise there is.");
  return Rational(kWholeVote) / epsilon;
}

// A number that decides whether a person with many groups votes for this one.
std::uint64_t RankOf(const PersonWord& person, std::uint64_t group_hash, const HashKey& key) {
  SipHash hash(key);
  hash.Add(person.high);
  hash.Add(person.low);
  hash.Add(group_hash);
  return hash.Finish();
}

}  // namespace

std::vector<std::int64_t> CountVotes(const PersonRecords& records, const std::vector<std::uint64_t>& group_hashes,
                                     const HashKey& key) {
  std::vector<std::int64_t> votes(records.groups());
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ranked;
  for (std::size_t person = 0; person < records.persons(); ++person) {
    const std::size_t first = records.FirstOf(person);
    const std::size_t groups = records.FirstOf(person + 1) - first;
    if (groups <= kMostVotedGroups) {
      const std::int64_t vote = kWholeVote / static_cast<std::int64_t>(groups);
      for (std::size_t i = 0; i < groups; ++i) votes[records.GroupOf(first + i)] += vote;
      continue;
    }
    ranked.clear();
    for (std::size_t i = 0; i < groups; ++i) {
      const std::uint32_t group = records.GroupOf(first + i);
      ranked.emplace_back(RankOf(records.PersonOf(person), group_hashes[group], key), group);
    }
    std::nth_element(ranked.begin(), ranked.begin() + kMostVotedGroups, ranked.end());
    for (std::size_t i = 0; i < kMostVotedGroups; ++i)
      votes[ranked[i].second] += kWholeVote / static_cast<std::int64_t>(kMostVotedGroups);
  }
  return votes;
}

// A person who is alone in m groups gives each at most 2^20/m, so each must be shown with probability delta/m at most:
// from 2^20/m + z(m) on, where P(noise >= z) = a^z/(1+a) = delta/m. z grows with scale ln m, so as a function of real m
// the sum falls until m = 2^20/scale and grows from there on: it is greatest at one of the ends.
std::int64_t VoteThreshold(const Rational& epsilon, const Rational& delta) {
  if (delta <= Rational(0) || delta >= Rational(1, 2))
    throw InvalidValue("delta must be greater than 0 and less than 1/2, not " + TextOf(delta),
                       "It is a probability, and should be well below one over the number of persons.");
  const Rational scale = VoteScale(epsilon);
  constexpr auto kMost = static_cast<std::int64_t>(kMostVotedGroups);
  const std::int64_t of_one = kWholeVote + DiscreteLaplaceUpperQuantile(scale, delta);
  const std::int64_t of_many =
      (kWholeVote + kMost - 1) / kMost + DiscreteLaplaceUpperQuantile(scale, delta / Rational(kMost));
  return std::max(of_one, of_many);
}

ShownGroups ShowByVotes(const std::vector<std::int64_t>& votes, const Rational& epsilon, std::int64_t threshold,
                        RandomSource& random) {
  const DiscreteLaplace law(VoteScale(epsilon));
  ShownGroups shown(votes.size());
  for (std::size_t group = 0; group < votes.size(); ++group)
    shown[group] = votes[group] > 0 && SaturatingAdd(votes[group], law.Draw(random)) >= threshold;
  return shown;
}

std::int64_t PresenceThreshold(const ClipGrid& grid) {
  const std::int64_t unit = grid.exponent < 0 ? std::int64_t{1} << -grid.exponent : 1;
  return std::max(unit, DiscreteLaplaceUpperQuantile(grid.scale, Rational(1, 20)));
}

ShownGroups ShowByCounts(const std::vector<Int128>& totals, std::int64_t threshold) {
  ShownGroups shown(totals.size());
  std::transform(totals.begin(), totals.end(), shown.begin(), [=](Int128 total) { return total >= threshold; });
  return shown;
}

}  // namespace privacy_score
