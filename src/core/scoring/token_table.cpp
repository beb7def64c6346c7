/*
 * token_table.cpp - see token_table.hpp.
 */
#include "core/scoring/token_table.hpp"

#include <algorithm>
#include <map>

#include "core/base/error.hpp"
#include "core/base/packed_bytes.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

constexpr const char* kTokensName = "the abstractions of a baseline";
constexpr std::size_t kTokenSizes = 3;  // of the abstractions, of their tokens, and of the distinct ones

bool RisesOrStays(const LentList<std::uint64_t>& list) { return std::is_sorted(list.begin(), list.end()); }

}  // namespace

TokenMap ReadTokens(WireReader& reader) {
  TokenMap all;
  reader.EachRow(TokenSection::kColumns, [&](const Row& row) {
    all[ParseInteger(Required(row[TokenSection::kId]))].emplace_back(Required(row[TokenSection::kToken]));
  });
  for (auto& [id, tokens] : all) std::sort(tokens.begin(), tokens.end());
  return all;
}

std::string TokenTable::Pack(std::string_view section) {
  WireReader reader(section);
  const TokenMap all = ReadTokens(reader);
  std::vector<AbstractionId> ids;
  std::map<std::string_view, Number> distinct;
  for (const auto& [id, tokens] : all) {
    ids.push_back(id);
    for (const std::string& token : tokens) distinct.emplace(token, 0);
  }
  std::sort(ids.begin(), ids.end());
  std::string text;
  std::vector<std::uint64_t> begin = {0};
  for (auto& [token, number] : distinct) {
    number = static_cast<Number>(begin.size() - 1);
    begin.push_back(text.append(token).size());
  }
  std::vector<std::uint64_t> first = {0};
  std::vector<Number> numbers;
  for (const AbstractionId id : ids) {
    for (const std::string& token : all.at(id)) numbers.push_back(distinct.at(token));
    first.push_back(numbers.size());
  }
  std::string bytes;
  AppendAll(bytes, std::vector<std::uint64_t>{ids.size(), numbers.size(), distinct.size()});
  AppendAll(bytes, ids);
  AppendAll(bytes, first);
  AppendAll(bytes, begin);
  AppendAll(bytes, numbers);
  bytes.append(text);
  FillUp(bytes);
  return bytes;
}

TokenTable TokenTable::OfOwn(std::string_view bytes) {
  TokenTable table;
  const LentList<std::uint64_t> sizes = LendAll<std::uint64_t>(bytes, kTokenSizes, kTokensName);
  table.ids_ = LendAll<AbstractionId>(bytes, sizes[0], kTokensName);
  table.first_ = LendAll<std::uint64_t>(bytes, sizes[0] + 1, kTokensName);
  if (sizes[2] > bytes.size()) throw DamagedData(kTokensName);
  table.begin_ = LendAll<std::uint64_t>(bytes, sizes[2] + 1, kTokensName);
  table.numbers_ = LendAll<Number>(bytes, sizes[1], kTokensName);
  table.text_ = bytes;
  return table;
}

TokenTable TokenTable::At(std::string_view bytes) {
  TokenTable table = OfOwn(bytes);
  const std::size_t before_text = bytes.size() - table.text_.size();
  const std::size_t distinct = table.DistinctTokens();
  const auto is_number = [distinct](Number number) { return number < distinct; };
  if (!std::is_sorted(table.ids_.begin(), table.ids_.end()) || !RisesOrStays(table.first_) ||
      !RisesOrStays(table.begin_) || table.first_[table.size()] != table.numbers_.size() ||
      table.begin_[distinct] > table.text_.size() || FilledUp(before_text + table.begin_[distinct]) != bytes.size() ||
      !std::all_of(table.numbers_.begin(), table.numbers_.end(), is_number))
    throw DamagedData(kTokensName);
  return table;
}

std::optional<std::size_t> TokenTable::PlaceOf(AbstractionId id) const {
  const AbstractionId* found = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (found == ids_.end() || *found != id) return std::nullopt;
  return static_cast<std::size_t>(found - ids_.begin());
}

std::optional<Tokens> TokenTable::Find(AbstractionId id) const {
  const std::optional<std::size_t> place = PlaceOf(id);
  if (!place) return std::nullopt;
  return TokensAt(*place);
}

Tokens TokenTable::TokensAt(std::size_t place) const {
  Tokens tokens;
  tokens.reserve(first_[place + 1] - first_[place]);
  for (std::uint64_t at = first_[place]; at < first_[place + 1]; ++at) tokens.emplace_back(TokenOf(numbers_[at]));
  return tokens;
}

}  // namespace privacy_score
