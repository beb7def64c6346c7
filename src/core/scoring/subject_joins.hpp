/*
 * subject_joins.hpp - which relations of a model are about the same subjects, and which of these can be joined.
 *
 * Groups and joins are numbered from 0. A join is a relation by itself, or those relations of a group whose rows can be
 * joined at one home; rates of sets that span several of them are kept apart from those of one relation.
 */
#pragma once

#include <cstdint>
#include <vector>

#include "core/scoring/model.hpp"
#include "core/scoring/rate_index.hpp"

namespace privacy_score {

class SubjectJoins {
 public:
  explicit SubjectJoins(const Model& model);

  std::uint32_t GroupOf(std::uint32_t relation) const { return group_of_[relation]; }
  std::uint32_t JoinOf(std::uint32_t relation) const { return join_of_[relation]; }
  // Whether the join has several relations.
  bool IsShared(std::uint32_t join) const { return relations_in_[join] > 1; }

  // What rates are known of: each relation by itself, and each join. The model must outlive what is made of them.
  static std::vector<RateDomain> OfRelations(const Model& model);
  std::vector<RateDomain> OfJoins(const Model& model) const;

 private:
  std::vector<std::uint32_t> group_of_;      // of each relation
  std::vector<std::uint32_t> join_of_;       // likewise
  std::vector<std::uint32_t> relations_in_;  // of each join
};

}  // namespace privacy_score
