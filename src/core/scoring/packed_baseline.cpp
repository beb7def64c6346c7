/*
 * packed_baseline.cpp - see packed_baseline.hpp.
 */
#include "core/scoring/packed_baseline.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/packed_bytes.hpp"
#include "core/base/rows.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

constexpr const char* kPackedName = "a baseline";
constexpr std::size_t kSizes = 3;  // of the n-grams, of the sessions, and of the n-grams that are left out

struct Parts {
  std::string_view ngrams, sets, tokens;
  std::uint64_t left_out;
};

Parts PartsOf(std::string_view bytes) {
  const LentList<std::uint64_t> sizes = LendAll<std::uint64_t>(bytes, kSizes, kPackedName);
  const auto take = [&](std::uint64_t size) {
    if (size > bytes.size()) throw DamagedData("a baseline that is cut short");
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  };
  const std::string_view ngrams = take(sizes[0]);
  const std::string_view sets = take(sizes[1]);
  return {ngrams, sets, bytes, sizes[2]};
}

}  // namespace

std::string PackedBaseline::Pack(std::string_view ngrams, std::string_view sets, std::string_view tokens) {
  std::vector<NGramTable::Counted> recorded;
  WireReader(ngrams).EachRow(BaselineNGramSection::kColumns, [&](const Row& row) {
    recorded.push_back({ParseNGram(Required(row[BaselineNGramSection::kNgram])),
                        ParseCount(Required(row[BaselineNGramSection::kCount]))});
  });
  SessionSets sessions;
  WireReader(sets).EachRow(BaselineSessionSection::kColumns, [&](const Row& row) {
    sessions.Add(ParseCount(Required(row[BaselineSessionSection::kCount])),
                 ParseIntegers(Required(row[BaselineSessionSection::kIds])));
  });
  const std::string table = NGramTable(recorded).Packed();
  const std::string texts = TokenTable::Pack(tokens);
  std::string bytes;
  AppendAll(bytes, std::vector<std::uint64_t>{table.size(), sessions.Words().size() * sizeof(std::int64_t), 0});
  bytes += table;
  AppendAll(bytes, sessions.Words());
  return bytes += texts;
}

std::string PackedBaseline::WithoutNGrams(std::string_view bytes) {
  const LentList<std::uint64_t> sizes = LendAll<std::uint64_t>(bytes, kSizes, kPackedName);
  if (sizes[0] > bytes.size()) throw DamagedData("a baseline that is cut short");
  const std::string none = NGramTable().Packed();
  std::string rest;
  AppendAll(rest, std::vector<std::uint64_t>{none.size(), sizes[1], sizes[2] > 0 ? sizes[2] : sizes[0]});
  return rest.append(none).append(bytes.substr(sizes[0]));
}

PackedBaseline PackedBaseline::At(std::string_view bytes) {
  const Parts parts = PartsOf(bytes);
  return {NGramTable::At(parts.ngrams), SessionSets::At(parts.sets), TokenTable::At(parts.tokens), parts.left_out};
}

PackedBaseline PackedBaseline::OfOwn(std::string_view bytes) {
  const Parts parts = PartsOf(bytes);
  return {NGramTable::OfOwn(parts.ngrams), SessionSets::OfOwn(parts.sets), TokenTable::OfOwn(parts.tokens),
          parts.left_out};
}

bool PackedBaseline::HasAllTokens() const {
  bool has_all = true;
  sets.ForEach([&](std::int64_t, const AbstractionId* first, const AbstractionId* last) {
    has_all = has_all && std::all_of(first, last, [&](AbstractionId id) { return tokens.Has(id); });
  });
  return has_all;
}

}  // namespace privacy_score
