/*
 * key_selection.hpp - which groups of a private query are shown.
 *
 * That a group exists tells of whoever is in it. Where the possible keys are public a group is shown when its noisy
 * count says that somebody is there. Where they are unknown, only groups that occur can be shown, and each person has
 * one vote, which she divides over her groups: a group is shown when its noisy votes pass a threshold that a group of
 * one person passes with probability delta at most [Korolova, Kenthapadi, Mishra, Ntoulas 2009; Gopi et al. 2020].
 * Votes are whole numbers, so the noise is exact.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/base/random_source.hpp"
#include "core/base/rational.hpp"
#include "core/private_sql/clipped_sums.hpp"

namespace privacy_score {

// A vote, and how many groups it is divided over at most: of more a keyed hash picks that many.
constexpr std::int64_t kWholeVote = std::int64_t{1} << 20;
constexpr std::size_t kMostVotedGroups = 1000;

// The votes of each group: a person in m groups, or in more than kMostVotedGroups = m, gives each floor(2^20/m).
// `group_hashes` are keyed hashes of the keys of the groups: which groups a person votes for then depends on her rows
// only, not on how groups are numbered. One person moves the votes by at most 2^20.
std::vector<std::int64_t> CountVotes(const PersonRecords& records, const std::vector<std::uint64_t>& group_hashes,
                                     const HashKey& key);

// The least number of noisy votes from which a group is shown: whatever number m of groups a person is alone in, any of
// them is shown with probability at most delta. Throws Error 22023 unless 0 < delta < 1/2, and when epsilon makes no
// law.
std::int64_t VoteThreshold(const Rational& epsilon, const Rational& delta);

// Adds noise of scale 2^20/epsilon to the votes, and shows the groups that reach the threshold. Groups without votes do
// not occur: none is shown. (epsilon, delta)-differentially private with VoteThreshold(epsilon, delta).
ShownGroups ShowByVotes(const std::vector<std::int64_t>& votes, const Rational& epsilon, std::int64_t threshold,
                        RandomSource& random);

// From how many steps of its grid on a noisy count says that somebody is there: one unit, and no less than what noise
// alone reaches with probability 1/20.
std::int64_t PresenceThreshold(const ClipGrid& grid);

// The groups whose noisy totals reach a threshold in steps: PresenceThreshold for public keys; for unknown keys
// KeyThreshold(grid.scale, grid.bound, delta), where no person adds more than the grid's bound to groups that she is
// alone in. A group that does not occur is to be left out by the caller then.
ShownGroups ShowByCounts(const std::vector<Int128>& totals, std::int64_t threshold);

}  // namespace privacy_score
