/*
 * catalog.cpp - reading the answers about names.
 */
#include "sqlparse/catalog.hpp"

#include <algorithm>
#include <set>

#include "core/base/error.hpp"
#include "core/base/names.hpp"

namespace privacy_score {

namespace {

std::string TextOrEmpty(const Field& field) { return std::string(field.value_or(std::string_view())); }

}  // namespace

void Catalog::Feed(WireReader& reader) {
  std::set<std::string> fresh;  // relations whose earlier columns and keys have been dropped
  for (const Row& row : reader.Section(8)) {
    const CatalogRelation*& entry = requested_[{TextOrEmpty(row[0]), TextOrEmpty(row[1])}];
    entry = nullptr;
    if (!row[2]) continue;
    CatalogRelation& relation = relations_[std::string(*row[2])];
    if (fresh.insert(std::string(*row[2])).second) relation = CatalogRelation();
    relation.canonical = TextOrEmpty(row[2]);
    relation.is_view = row[3] == "v";
    relation.catalog = row[4] && ParseBool(*row[4]);
    relation.own = row[5] && ParseBool(*row[5]);
    relation.view_definition = TextOrEmpty(row[6]);
    relation.is_protected = row[7] == "t";
    entry = &relation;
  }
  for (const Row& row : reader.Section(2)) {
    const auto found = relations_.find(TextOrEmpty(row[0]));
    if (found == relations_.end() || !row[1]) continue;
    found->second.columns.emplace_back(*row[1]);
    found->second.raw_names.push_back(UnquoteName(*row[1]));
  }
  std::pair<std::string, std::string> open_key;
  for (const Row& row : reader.Section(3)) {
    const auto found = relations_.find(TextOrEmpty(row[0]));
    if (found == relations_.end() || !row[2]) continue;
    CatalogRelation& relation = found->second;
    std::pair<std::string, std::string> key = {relation.canonical, TextOrEmpty(row[1])};
    const bool refers = !key.second.empty() && key.second.front() == '-';
    std::vector<std::vector<int>>& keys = refers ? relation.references : relation.keys;
    if (keys.empty() || key != open_key) keys.emplace_back();
    open_key = std::move(key);
    const auto column = std::find(relation.columns.begin(), relation.columns.end(), *row[2]);
    if (column != relation.columns.end()) keys.back().push_back(static_cast<int>(column - relation.columns.begin()));
  }
  const auto function_key = [](const Row& row) {
    return FunctionKey(TextOrEmpty(row[0]), TextOrEmpty(row[1]), static_cast<int>(ParseInteger(row[2].value_or("0"))));
  };
  for (const Row& row : reader.Section(5)) {
    CatalogFunction& function = functions_[function_key(row)];
    function = CatalogFunction();
    function.exists = row[3].has_value();
    function.canonical = TextOrEmpty(row[3]);
    if (row[4] && !row[4]->empty()) function.kind = row[4]->front();
  }
  for (const Row& row : reader.Section(4)) {
    if (row[3]) functions_[function_key(row)].columns.emplace_back(*row[3]);
  }
  if (reader.AtEnd()) return;
  for (const Row& row : reader.Section(5)) {
    const auto found = relations_.find(TextOrEmpty(row[0]));
    if (found == relations_.end()) continue;
    const std::vector<std::string>& columns = found->second.columns;
    const auto column = std::find(columns.begin(), columns.end(), TextOrEmpty(row[1]));
    if (column == columns.end()) continue;
    found->second.origins.push_back(
        {static_cast<int>(column - columns.begin()), TextOrEmpty(row[2]), TextOrEmpty(row[3]), row[4] == "t"});
  }
  if (reader.AtEnd()) return;
  described_.clear();
  for (const Row& row : reader.Section(8))
    described_.push_back({TextOrEmpty(row[0]), TextOrEmpty(row[1]), TextOrEmpty(row[2]), TextOrEmpty(row[3]),
                          TextOrEmpty(row[4]), row[5] == "t", TextOrEmpty(row[6]), TextOrEmpty(row[7])});
}

const CatalogRelation* const* Catalog::FindRelation(std::string_view schema, std::string_view name) const {
  const auto found = requested_.find({std::string(schema), std::string(name)});
  return found == requested_.end() ? nullptr : &found->second;
}

const CatalogFunction* Catalog::FindFunction(std::string_view schema, std::string_view name, int arguments) const {
  const auto found = functions_.find(FunctionKey(schema, name, arguments));
  return found == functions_.end() ? nullptr : &found->second;
}

}  // namespace privacy_score
