/*
 * subject_joins.cpp - see subject_joins.hpp.
 */
#include "core/scoring/subject_joins.hpp"

#include <map>
#include <string>
#include <utility>

namespace privacy_score {

SubjectJoins::SubjectJoins(const Model& model) {
  std::map<std::int64_t, std::uint32_t> groups;
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> homes;
  for (const ProtectedRelation& relation : model.relations()) {
    group_of_.push_back(
        groups.emplace(relation.subject_group, static_cast<std::uint32_t>(groups.size())).first->second);
    auto join = static_cast<std::uint32_t>(relations_in_.size());
    if (!relation.joint_home.empty())
      join = homes.emplace(std::make_pair(relation.subject_group, relation.joint_home), join).first->second;
    if (join == relations_in_.size()) relations_in_.push_back(0);
    ++relations_in_[join];
    join_of_.push_back(join);
  }
}

std::vector<RateDomain> SubjectJoins::OfRelations(const Model& model) {
  std::vector<RateDomain> domains(model.relations().size());
  for (AttributeId id = 0; id < model.attributes().size(); ++id)
    domains[model.attributes()[id].relation].attributes.push_back(id);
  for (std::uint32_t relation = 0; relation < domains.size(); ++relation) {
    domains[relation].rates = &model.RatesOf(relation);
    domains[relation].sum_bounds = model.relations()[relation].is_row_subject;
  }
  return domains;
}

std::vector<RateDomain> SubjectJoins::OfJoins(const Model& model) const {
  std::vector<RateDomain> domains(relations_in_.size());
  for (AttributeId id = 0; id < model.attributes().size(); ++id) {
    const std::uint32_t relation = model.attributes()[id].relation;
    if (!IsShared(join_of_[relation])) continue;
    RateDomain& domain = domains[join_of_[relation]];
    domain.attributes.push_back(id);
    domain.rates = &model.JointRatesOf(model.relations()[relation].subject_group);
  }
  return domains;
}

}  // namespace privacy_score
