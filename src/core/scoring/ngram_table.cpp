/*
 * ngram_table.cpp - see ngram_table.hpp.
 */
#include "core/scoring/ngram_table.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/base/error.hpp"
#include "core/base/packed_bytes.hpp"
#include "core/base/rows.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

constexpr const char* kTableName = "a table of n-grams";

// How many starts there are of so many ids.
std::size_t StartsOf(std::size_t ids) { return ids == 0 ? 0 : ids + 1; }

// Whether each is greater than the one before it.
template <typename List, typename Of>
bool Rises(const List& list, Of of) {
  return std::adjacent_find(list.begin(), list.end(), [&](const auto& a, const auto& b) { return !(of(a) < of(b)); }) ==
         list.end();
}

}  // namespace

NGramTable::NGramTable(const std::vector<Counted>& recorded) {
  std::vector<AbstractionId> ids;
  for (const Counted& each : recorded) ids.insert(ids.end(), each.ngram.begin(), each.ngram.end());
  SortUnique(ids);
  std::vector<Row> rows;
  rows.reserve(recorded.size());
  for (const auto& [ngram, count] : recorded) {
    Row row;
    std::transform(ngram.rbegin(), ngram.rend(), row.places.begin(), [&](AbstractionId id) {
      return static_cast<std::uint32_t>(std::lower_bound(ids.begin(), ids.end(), id) - ids.begin());
    });
    row.count = count;
    rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.places < b.places; });
  auto last = rows.begin();
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    if (row == rows.begin()) continue;
    if (row->places == last->places)
      last->count += row->count;
    else
      *++last = *row;
  }
  if (!rows.empty()) rows.erase(last + 1, rows.end());
  std::vector<std::uint64_t> starts(StartsOf(ids.size()));
  for (const Row& row : rows) ++starts[row.places[0] + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  ids_ = std::move(ids);
  starts_ = std::move(starts);
  rows_ = std::move(rows);
}

std::string NGramTable::Packed() const {
  std::string bytes;
  bytes.reserve((2 * ids_.size() + 3) * sizeof(AbstractionId) + rows_.size() * sizeof(Row));
  AppendAll(bytes, std::vector<std::uint64_t>{ids_.size(), rows_.size()});
  AppendAll(bytes, ids_);
  AppendAll(bytes, starts_);
  AppendAll(bytes, rows_);
  return bytes;
}

NGramTable NGramTable::Unpack(std::string_view bytes) {
  // A field of a section may lie anywhere.
  std::vector<std::uint64_t> aligned((bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(aligned.data()));
  NGramTable table = At({reinterpret_cast<const char*>(aligned.data()), bytes.size()});
  table.ids_.Keep();
  table.starts_.Keep();
  table.rows_.Keep();
  return table;
}

NGramTable NGramTable::OfOwn(std::string_view bytes) {
  NGramTable table;
  const LentList<std::uint64_t> sizes = LendAll<std::uint64_t>(bytes, 2, kTableName);
  table.ids_ = LendAll<AbstractionId>(bytes, sizes[0], kTableName);
  table.starts_ = LendAll<std::uint64_t>(bytes, StartsOf(sizes[0]), kTableName);
  table.rows_ = LendAll<Row>(bytes, sizes[1], kTableName);
  if (!bytes.empty()) throw DamagedData(kTableName);
  return table;
}

NGramTable NGramTable::At(std::string_view bytes) {
  NGramTable table = OfOwn(bytes);
  const bool places_stand = std::all_of(table.rows_.begin(), table.rows_.end(), [&](const Row& row) {
    return row.count >= 0 && row.count <= kMostCounted &&
           std::all_of(row.places.begin(), row.places.end(), [&](auto place) { return place < table.ids_.size(); });
  });
  if (!places_stand || !table.StartsStand() || !Rises(table.ids_, [](AbstractionId id) { return id; }) ||
      !Rises(table.rows_, [](const Row& row) { return row.places; }))
    throw DamagedData(kTableName);
  return table;
}

// Whether each row is where its last statement begins to stand, and all are.
bool NGramTable::StartsStand() const {
  if (ids_.empty()) return rows_.empty();
  if (starts_[0] != 0 || starts_[ids_.size()] != rows_.size()) return false;
  for (std::size_t statement = 0; statement < ids_.size(); ++statement) {
    if (starts_[statement] > starts_[statement + 1] || starts_[statement + 1] > rows_.size()) return false;
    for (std::size_t row = starts_[statement]; row < starts_[statement + 1]; ++row)
      if (rows_[row].places[0] != statement) return false;
  }
  return true;
}

bool NGramTable::Has(const NGram& ngram, int length) const {
  Row end;
  for (int k = 0; k < length; ++k) {
    const AbstractionId id = ngram[static_cast<std::size_t>(kRecordedLength - 1 - k)];
    const auto* found = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (found == ids_.end() || *found != id) return false;
    end.places[static_cast<std::size_t>(k)] = static_cast<std::uint32_t>(found - ids_.begin());
  }
  // The rest of `end` is 0, so nothing that ends alike is before it.
  const auto* row =
      std::lower_bound(rows_.begin(), rows_.end(), end, [](const Row& a, const Row& b) { return a.places < b.places; });
  return row != rows_.end() && EndAlike(*row, end, length);
}

std::vector<AbstractionId> NGramTable::IdsWithin(int length) const {
  std::vector<AbstractionId> within(ids_.size());
  bool all = true;  // of what sessions have had, each statement stands last in one
  for (std::size_t statement = 0; statement < ids_.size(); ++statement)
    if (starts_[statement] < starts_[statement + 1])
      within[statement] = ids_[statement];
    else
      all = all && ids_[statement] == 0;
  if (all) return within;
  for (const Row& row : rows_)
    for (auto place = row.places.begin() + 1; place < row.places.begin() + length; ++place)
      within[*place] = ids_[*place];
  return within;
}

std::vector<NGramTable::Counted> NGramTable::List() const {
  std::vector<Counted> all;
  all.reserve(rows_.size());
  for (const Row& row : rows_) all.push_back({EndOf(row, kRecordedLength), row.count});
  return all;
}

bool NGramTable::EndAlike(const Row& a, const Row& b, int length) {
  return std::equal(a.places.begin(), a.places.begin() + length, b.places.begin());
}

NGramTable::Counted NGramTable::At(std::size_t row, int length) const {
  Counted counted = {EndOf(rows_[row], length), 0};
  for (std::size_t each = row; each < rows_.size() && EndAlike(rows_[row], rows_[each], length); ++each)
    counted.count += rows_[each].count;
  return counted;
}

NGram NGramTable::EndOf(const Row& row, int length) const {
  NGram ngram{};
  std::transform(row.places.begin(), row.places.begin() + length, ngram.rbegin(),
                 [&](std::uint32_t place) { return ids_[place]; });
  return ngram;
}

std::string PackNGrams(std::string_view section) {
  using Column = BaselineNGramSection;
  std::vector<std::string> order;
  std::unordered_map<std::string, std::vector<NGramTable::Counted>> baselines;
  WireReader reader(section);
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    const std::string id = RequiredText(row[Column::kBaselineId]);
    std::vector<NGramTable::Counted>& of_baseline = baselines[id];
    if (of_baseline.empty()) order.push_back(id);
    of_baseline.push_back({ParseNGram(Required(row[Column::kNgram])), ParseCount(Required(row[Column::kCount]))});
  });
  std::vector<std::vector<std::optional<std::string>>> rows;
  for (const std::string& id : order) {
    rows.push_back({id, NGramTable(baselines[id]).Packed()});
    baselines[id] = {};
  }
  WireWriter writer;
  writer.Section(PackedNGramSection::kColumns, rows);
  return writer.bytes();
}

}  // namespace privacy_score
