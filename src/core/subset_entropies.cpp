/*
 * subset_entropies.cpp - see subset_entropies.hpp.
 */
#include "subset_entropies.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "entropy.hpp"
#include "error.hpp"

namespace privacy_score {

SubsetEntropies::SubsetEntropies(CodedRows& rows, std::vector<std::vector<std::size_t>> sets)
    : rows_(rows), sets_(std::move(sets)), facts_(sets_.size()) {
  for (auto& set : sets_) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    if (!set.empty() && set.back() >= rows.columns())
      throw InvalidValue("column must be below " + std::to_string(rows.columns()) + ", not " +
                         std::to_string(set.back()));
  }
}

bool SubsetEntropies::Run(const WorkControl& control) {
  if (control.total != nullptr) *control.total = static_cast<std::int64_t>(sets_.size());
  for (; next_ < sets_.size(); ++next_) {
    if (control.done != nullptr) *control.done = static_cast<std::int64_t>(next_);
    if (control.Interrupted()) return false;
    std::map<std::vector<std::uint32_t>, std::int64_t> classes;
    for (const auto& [tuple, weight] : rows_.tuples_) {
      std::vector<std::uint32_t> key;
      for (const std::size_t column : sets_[next_]) key.push_back(tuple[column]);
      classes[key] += weight;
    }
    ClassSizes sizes;
    SubsetFacts& facts = facts_[next_];
    for (const auto& entry : classes) {
      sizes.push_back({entry.second, 1});
      facts.rows += entry.second;
      facts.classes += 1;
      facts.uniques += entry.second == 1;
    }
    facts.entropy = Entropy(sizes);
  }
  if (control.done != nullptr) *control.done = static_cast<std::int64_t>(next_);
  return true;
}

}  // namespace privacy_score
