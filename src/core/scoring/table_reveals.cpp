/*
 * table_reveals.cpp - see table_reveals.hpp.
 */
#include "core/scoring/table_reveals.hpp"

#include "core/base/sort_unique.hpp"

namespace privacy_score {

TableReveals::TableReveals(const Model& model, const TokenTable& table, bool where_counts)
    : table_(table), where_counts_(where_counts), tokens_(table.DistinctTokens()) {
  for (std::size_t number = 0; number < tokens_.size(); ++number) {
    const std::string_view text = table.TokenOf(number);
    Token& token = tokens_[number];
    token.part = PartOf(text);
    if (NamesColumn(token.part)) token.column = model.FindAttribute(ColumnOfToken(text));
  }
}

const TableReveals::Revealed* TableReveals::Of(AbstractionId id) {
  RevealingParts parts;
  if (!table_.ForEachNumber(id, [&](TokenTable::Number number) { parts.Add(tokens_[number].part); })) return nullptr;
  revealed_.columns.clear();
  revealed_.has_functions = parts.Has(TokenPart::kFunction);
  revealed_.unparsed = parts.Has(TokenPart::kUnparsed);
  table_.ForEachNumber(id, [&](TokenTable::Number number) {
    const Token& token = tokens_[number];
    if (token.column && parts.Reveals(token.part, where_counts_)) revealed_.columns.push_back(*token.column);
  });
  SortUnique(revealed_.columns);
  return &revealed_;
}

}  // namespace privacy_score
