/*
 * token_table.cpp - see token_table.hpp.
 */
#include "core/scoring/token_table.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/packed_bytes.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

constexpr char kEnd = '\0';  // of a token

// The size that a text has with what fills it up.
std::uint64_t PaddedTo(std::uint64_t size) { return (size + kPackedUnit - 1) / kPackedUnit * kPackedUnit; }

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
  std::vector<std::uint64_t> begin = {0};
  std::string text;
  for (const auto& [id, tokens] : all) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const AbstractionId id : ids) {
    for (const std::string& token : all.at(id)) text.append(token).append(1, kEnd);
    begin.push_back(text.size());
  }
  std::string bytes;
  AppendAll(bytes, std::vector<std::uint64_t>{ids.size()});
  AppendAll(bytes, ids);
  AppendAll(bytes, begin);
  text.append(PaddedTo(text.size()) - text.size(), kEnd);
  return bytes.append(text);
}

TokenTable TokenTable::At(std::string_view bytes) {
  constexpr const char* kWhat = "the abstractions of a baseline";
  TokenTable table;
  const std::size_t size = static_cast<std::size_t>(LendAll<std::uint64_t>(bytes, 1, kWhat)[0]);
  table.ids_ = LendAll<AbstractionId>(bytes, size, kWhat);
  table.begin_ = LendAll<std::uint64_t>(bytes, size + 1, kWhat);
  table.text_ = bytes;
  const auto falls = [](const auto& list) {
    return std::adjacent_find(list.begin(), list.end(), [](auto a, auto b) { return a > b; }) != list.end();
  };
  if (falls(table.ids_) || falls(table.begin_) || table.begin_[size] > bytes.size() ||
      PaddedTo(table.begin_[size]) != bytes.size())
    throw DamagedData(kWhat);
  for (std::size_t place = 0; place < size; ++place)
    if (table.begin_[place + 1] > 0 && bytes[table.begin_[place + 1] - 1] != kEnd) throw DamagedData(kWhat);
  return table;
}

bool TokenTable::Has(AbstractionId id) const { return std::binary_search(ids_.begin(), ids_.end(), id); }

std::optional<Tokens> TokenTable::Find(AbstractionId id) const {
  const AbstractionId* found = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (found == ids_.end() || *found != id) return std::nullopt;
  return TokensAt(static_cast<std::size_t>(found - ids_.begin()));
}

Tokens TokenTable::TokensAt(std::size_t place) const {
  Tokens tokens;
  std::string_view rest = text_.substr(begin_[place], begin_[place + 1] - begin_[place]);
  while (!rest.empty()) {
    const std::size_t end = rest.find(kEnd);
    tokens.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return tokens;
}

}  // namespace privacy_score
