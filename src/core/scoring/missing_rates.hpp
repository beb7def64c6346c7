/*
 * missing_rates.hpp - rates that several scorers have wanted, each once.
 */
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/scoring/model.hpp"

namespace privacy_score {

class MissingRates {
 public:
  void Add(std::vector<MissingRate> rates) {
    for (MissingRate& rate : rates) all_.emplace(std::move(rate.relation), std::move(rate.attributes));
  }
  // Sorted.
  std::vector<MissingRate> List() const {
    std::vector<MissingRate> list;
    for (const auto& [relation, attributes] : all_) list.push_back({relation, attributes});
    return list;
  }

 private:
  std::set<std::pair<std::string, std::string>> all_;
};

}  // namespace privacy_score
