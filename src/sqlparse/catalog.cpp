/*
 * catalog.cpp - reading the answers about names.
 */
#include "sqlparse/catalog.hpp"

#include <algorithm>
#include <set>

#include "core/base/error.hpp"
#include "core/base/names.hpp"
#include "sqlparse/catalog_sections.hpp"

namespace privacy_score {

namespace {

std::string TextOrEmpty(const Field& field) { return std::string(field.value_or(std::string_view())); }

}  // namespace

void Catalog::Feed(WireReader& reader) {
  std::set<std::string> fresh;  // relations whose earlier columns and keys have been dropped
  for (const Row& row : reader.Section(NamedRelationSection::kColumns)) {
    using Column = NamedRelationSection;
    const CatalogRelation*& entry = requested_[{TextOrEmpty(row[Column::kSchema]), TextOrEmpty(row[Column::kName])}];
    entry = nullptr;
    if (!row[Column::kCanonical]) continue;
    const std::string canonical(*row[Column::kCanonical]);
    CatalogRelation& relation = relations_[canonical];
    if (fresh.insert(canonical).second) relation = CatalogRelation();
    relation.canonical = canonical;
    relation.is_view = row[Column::kKind] == "v";
    relation.catalog = row[Column::kCatalog] && ParseBool(*row[Column::kCatalog]);
    relation.own = row[Column::kOwn] && ParseBool(*row[Column::kOwn]);
    relation.view_definition = TextOrEmpty(row[Column::kDefinition]);
    relation.is_protected = row[Column::kProtected] == "t";
    entry = &relation;
  }
  for (const Row& row : reader.Section(NamedColumnSection::kColumns)) {
    const auto found = relations_.find(TextOrEmpty(row[NamedColumnSection::kRelation]));
    const Field& column = row[NamedColumnSection::kColumn];
    if (found == relations_.end() || !column) continue;
    found->second.columns.emplace_back(*column);
    found->second.raw_names.push_back(UnquoteName(*column));
  }
  std::pair<std::string, std::string> open_key;
  for (const Row& row : reader.Section(NamedKeySection::kColumns)) {
    const auto found = relations_.find(TextOrEmpty(row[NamedKeySection::kRelation]));
    const Field& of_key = row[NamedKeySection::kColumn];
    if (found == relations_.end() || !of_key) continue;
    CatalogRelation& relation = found->second;
    std::pair<std::string, std::string> key = {relation.canonical, TextOrEmpty(row[NamedKeySection::kKey])};
    const bool refers = !key.second.empty() && key.second.front() == '-';
    std::vector<std::vector<int>>& keys = refers ? relation.references : relation.keys;
    if (keys.empty() || key != open_key) keys.emplace_back();
    open_key = std::move(key);
    const auto column = std::find(relation.columns.begin(), relation.columns.end(), *of_key);
    if (column != relation.columns.end()) keys.back().push_back(static_cast<int>(column - relation.columns.begin()));
  }
  const auto function_key = [](const Row& row) {
    // Both sections of functions begin with what was asked.
    using Column = NamedFunctionSection;
    return FunctionKey(TextOrEmpty(row[Column::kSchema]), TextOrEmpty(row[Column::kName]),
                       static_cast<int>(ParseInteger(row[Column::kArguments].value_or("0"))));
  };
  for (const Row& row : reader.Section(NamedFunctionSection::kColumns)) {
    CatalogFunction& function = functions_[function_key(row)];
    function = CatalogFunction();
    function.exists = row[NamedFunctionSection::kCanonical].has_value();
    function.canonical = TextOrEmpty(row[NamedFunctionSection::kCanonical]);
    const Field& kind = row[NamedFunctionSection::kKind];
    if (kind && !kind->empty()) function.kind = kind->front();
  }
  for (const Row& row : reader.Section(FunctionColumnSection::kColumns)) {
    if (const Field& column = row[FunctionColumnSection::kColumn])
      functions_[function_key(row)].columns.emplace_back(*column);
  }
  if (reader.AtEnd()) return;
  for (const Row& row : reader.Section(OriginSection::kColumns)) {
    using Column = OriginSection;
    const auto found = relations_.find(TextOrEmpty(row[Column::kRelation]));
    if (found == relations_.end()) continue;
    const std::vector<std::string>& columns = found->second.columns;
    const auto column = std::find(columns.begin(), columns.end(), TextOrEmpty(row[Column::kColumn]));
    if (column == columns.end()) continue;
    found->second.origins.push_back({static_cast<int>(column - columns.begin()),
                                     TextOrEmpty(row[Column::kOriginRelation]), TextOrEmpty(row[Column::kOriginColumn]),
                                     row[Column::kForeign] == "t"});
  }
  if (reader.AtEnd()) return;
  described_.clear();
  using Column = DescribedSection;
  for (const Row& row : reader.Section(Column::kColumns))
    described_.push_back({TextOrEmpty(row[Column::kSchema]), TextOrEmpty(row[Column::kTable]),
                          TextOrEmpty(row[Column::kOid]), TextOrEmpty(row[Column::kColumn]),
                          TextOrEmpty(row[Column::kNumber]), row[Column::kReadable] == "t",
                          TextOrEmpty(row[Column::kRelation]), TextOrEmpty(row[Column::kName])});
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
