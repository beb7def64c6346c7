/*
 * person_sums.cpp - sorting rows by person and adding up what each has in each group (see person_sums.hpp).
 *
 * A word of 128 bits holds all that a row is sorted by, and where its values are: 64 bits of the person, 32 of the
 * group, 32 of the row. Where persons, groups and rows are few enough, as they are in most tables, that is packed into
 * 64 bits, which are sorted in half the time. Persons that are hashes have 64 bits more; those are looked at only among
 * rows whose words agree in the first 64, which two persons share hardly ever.
 */
#include "core/private_sql/person_sums.hpp"

#include <algorithm>
#include <string>

#include "core/base/error.hpp"
#include "core/base/word_sort.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kMostColumns = 1000;
constexpr Int128 kMostSquares = Int128{1} << 126;
// Rows between two questions whether anybody waits for the answer.
constexpr std::size_t kRowsBetweenQuestions = std::size_t{1} << 16;
// How long before a row's values are added they are asked for from memory.
constexpr std::size_t kRowsAhead = 16;
// Pairs of a person and a group that may be counted for each row: clearing them costs less than sorting.
constexpr std::size_t kCellsOfRow = 4;
constexpr std::size_t kRowsOfSummedCell = 4;

unsigned BitsOf(std::uint64_t value) { return value == 0 ? 0 : 64 - static_cast<unsigned>(__builtin_clzll(value)); }

Error NoSuchGroup(std::uint32_t group, std::size_t groups) {
  return DamagedData("group " + std::to_string(group) + " of " + std::to_string(groups) + " of a private query");
}

}  // namespace

PersonSums::PersonSums(std::size_t columns, bool persons_are_hashes, bool with_squares)
    : columns_(columns), persons_are_hashes_(persons_are_hashes), with_squares_(with_squares) {
  if (columns > kMostColumns)
    throw Error("54000", "a private query cannot aggregate more than " + std::to_string(kMostColumns) + " columns",
                "Ask for some of them at a time.");
}

void PersonSums::Expect(std::size_t rows) {
  words_.Reserve(rows);
  if (persons_are_hashes_) lows_.Reserve(rows);
  values_.Reserve(rows * columns_);
}

void PersonSums::AddRows(const PersonWord* persons, const std::uint32_t* groups, const std::int64_t* values,
                         std::size_t count) {
  const std::size_t first = words_.size();
  if (count > kMostRows - first)
    throw Error("54000", "a private query cannot read more than " + std::to_string(kMostRows) + " rows at a time",
                "Ask for some of the rows at a time.");
  Word* const words = words_.Extend(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t person = persons[i].high;
    const std::uint32_t group = groups[i];
    words[i] = static_cast<Word>(person) << kPersonBit | static_cast<Word>(group) << kGroupBit | (first + i);
    least_person_ = std::min(least_person_, person);
    greatest_person_ = std::max(greatest_person_, person);
    greatest_group_ = std::max(greatest_group_, group);
    groups_rise_ = groups_rise_ && group >= last_group_;
    last_group_ = group;
  }
  if (persons_are_hashes_) {
    std::uint64_t* const lows = lows_.Extend(count);
    for (std::size_t i = 0; i < count; ++i) lows[i] = persons[i].low;
  }
  if (columns_ > 0) std::copy_n(values, count * columns_, values_.Extend(count * columns_));
  is_sorted_ = false;
}

// Rows in order, as a person, a group and a number of a row in 64 bits.
struct PersonSums::ShortWords {
  PlainBuffer<std::uint64_t> words;
  std::uint64_t least_person = 0;
  unsigned row_bits = 0;
  unsigned person_bit = 0;

  std::size_t size() const { return words.size(); }
  std::size_t RowOf(std::size_t i) const {
    return static_cast<std::size_t>(words[i] & ((std::uint64_t{1} << row_bits) - 1));
  }
  std::uint32_t GroupOf(std::size_t i) const {
    return static_cast<std::uint32_t>(words[i] >> row_bits & ((std::uint64_t{1} << (person_bit - row_bits)) - 1));
  }
  PersonWord PersonOf(std::size_t i) const { return {(words[i] >> person_bit) + least_person, 0}; }
  bool SamePerson(std::size_t i, std::size_t j) const { return words[i] >> person_bit == words[j] >> person_bit; }
  bool SameRecord(std::size_t i, std::size_t j) const { return words[i] >> row_bits == words[j] >> row_bits; }
};

// The same in words of 128 bits, with what is left of persons that are hashes.
struct PersonSums::LongWords {
  const PersonSums& sums;

  std::size_t size() const { return sums.words_.size(); }
  std::size_t RowOf(std::size_t i) const { return PersonSums::RowOf(sums.words_[i]); }
  std::uint32_t GroupOf(std::size_t i) const { return static_cast<std::uint32_t>(sums.words_[i] >> kGroupBit); }
  PersonWord PersonOf(std::size_t i) const {
    return {static_cast<std::uint64_t>(sums.words_[i] >> kPersonBit), sums.LowOf(sums.words_[i])};
  }
  bool SamePerson(std::size_t i, std::size_t j) const {
    return sums.words_[i] >> kPersonBit == sums.words_[j] >> kPersonBit &&
           sums.LowOf(sums.words_[i]) == sums.LowOf(sums.words_[j]);
  }
  bool SameRecord(std::size_t i, std::size_t j) const {
    return sums.words_[i] >> kGroupBit == sums.words_[j] >> kGroupBit && SamePerson(i, j);
  }
};

// Rows sorted by person and group, when all of that has room in 64 bits; else none.
PersonSums::ShortWords PersonSums::SortedShort(std::size_t groups) const {
  ShortWords sorted;
  if (persons_are_hashes_ || rows() == 0 || greatest_group_ >= groups) return sorted;
  sorted.least_person = least_person_;
  sorted.row_bits = std::max(1U, BitsOf(rows() - 1));
  sorted.person_bit = sorted.row_bits + std::max(1U, BitsOf(greatest_group_));
  const unsigned end = sorted.person_bit + BitsOf(greatest_person_ - least_person_);
  if (end > 64) return sorted;
  sorted.words = PlainBuffer<std::uint64_t>(rows());
  for (std::size_t row = 0; row < rows(); ++row) {
    const Word word = words_[row];
    sorted.words[row] = (static_cast<std::uint64_t>(word >> kPersonBit) - least_person_) << sorted.person_bit |
                        static_cast<std::uint64_t>(static_cast<std::uint32_t>(word >> kGroupBit)) << sorted.row_bits |
                        row;
  }
  PlainBuffer<std::uint64_t> scratch(rows());
  SortWords(sorted.words.data(), scratch.data(), rows(), groups_rise_ ? sorted.person_bit : sorted.row_bits, end);
  return sorted;
}

// Only bits in which words differ are sorted by; sorting keeps the order of what is equal, so groups that rise already
// are not sorted by.
void PersonSums::SortRows() {
  Word differing = 0;
  for (std::size_t i = 1; i < words_.size(); ++i) differing |= words_[i] ^ words_[0];
  unsigned low = groups_rise_ ? kPersonBit : kGroupBit;
  unsigned high = 128;
  while (low < high && (differing >> low & 1) == 0) ++low;
  while (high > low && (differing >> (high - 1) & 1) == 0) --high;
  {
    PlainBuffer<Word> scratch(words_.size());
    SortWords(words_.data(), scratch.data(), words_.size(), low, high);
  }
  if (lows_.size() > 0) {
    for (std::size_t begin = 0, end = 0; begin < words_.size(); begin = end) {
      const Word person = words_[begin] >> kPersonBit;
      for (end = begin + 1; end < words_.size() && words_[end] >> kPersonBit == person;) ++end;
      OrderEqualWords(begin, end);
    }
  }
  is_sorted_ = true;
}

// Orders rows whose persons agree in the first word by the second, and by group as they were.
void PersonSums::OrderEqualWords(std::size_t begin, std::size_t end) {
  Word* const first = words_.data() + begin;
  Word* const last = words_.data() + end;
  const std::uint64_t low = LowOf(*first);
  if (std::all_of(first, last, [&](const Word& word) { return LowOf(word) == low; })) return;
  std::stable_sort(first, last, [&](const Word& a, const Word& b) { return LowOf(a) < LowOf(b); });
}

// Room for persons and records, which each begins by itself.
void PersonRecords::MakeRoom(std::size_t persons, std::size_t size) {
  persons_ = PlainBuffer<PersonWord>(persons);
  first_ = PlainBuffer<std::size_t>(persons + 1);
  groups_of_ = PlainBuffer<std::uint32_t>(size);
  rows_ = PlainBuffer<std::int64_t>(size);
  counts_ = PlainBuffer<std::int64_t>(size * columns_);
  sums_ = PlainBuffer<Int128>(size * columns_);
  squares_ = PlainBuffer<Int128>(has_squares_ ? size * columns_ : 0);
}

void PersonRecords::BeginRecord(std::size_t record, std::uint32_t group) {
  groups_of_[record] = group;
  rows_[record] = 0;
  std::fill_n(counts_.data() + record * columns_, columns_, 0);
  std::fill_n(sums_.data() + record * columns_, columns_, 0);
  if (has_squares_) std::fill_n(squares_.data() + record * columns_, columns_, 0);
}

void PersonRecords::AddValues(std::size_t record, const std::int64_t* values) {
  for (std::size_t column = 0; column < columns_; ++column) {
    if (values[column] == kNullSteps) continue;
    const std::size_t place = record * columns_ + column;
    const std::int64_t steps = std::clamp(values[column], -kMostValueSteps, kMostValueSteps);
    ++counts_[place];
    sums_[place] += steps;
    if (has_squares_) squares_[place] = std::min(squares_[place] + static_cast<Int128>(steps) * steps, kMostSquares);
  }
}

// Whether there are hardly more pairs of a person and a group than rows; fewer where values are added to them, whose
// records have to stay near the processor.
bool PersonSums::IsDense(std::size_t groups) const {
  if (persons_are_hashes_ || rows() == 0) return false;
  const std::uint64_t last = greatest_person_ - least_person_;
  const std::size_t cells = columns_ == 0 ? kCellsOfRow * rows() : rows() / kRowsOfSummedCell;
  return groups > 0 && last < cells && (last + 1) * groups <= cells;
}

// Counts rows by person and group in an array, which then says where the record of each pair is.
void PersonSums::AddUpInPlace(PersonRecords& records, GivesUp gives_up) const {
  const std::size_t groups = records.groups();
  PlainBuffer<std::uint32_t> cells(static_cast<std::size_t>(greatest_person_ - least_person_ + 1) * groups);
  std::fill_n(cells.data(), cells.size(), 0);
  const auto cell_of = [&](Word word) -> std::uint32_t& {
    const auto group = static_cast<std::uint32_t>(word >> kGroupBit);
    if (group >= groups) throw NoSuchGroup(group, groups);
    return cells[static_cast<std::size_t>(static_cast<std::uint64_t>(word >> kPersonBit) - least_person_) * groups +
                 group];
  };
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (i % kRowsBetweenQuestions == 0) GiveUpIfAsked(gives_up);
    ++cell_of(words_[i]);
  }
  std::size_t persons = 0;
  std::size_t size = 0;
  for (std::size_t first = 0; first < cells.size(); first += groups) {
    const auto found = groups - static_cast<std::size_t>(std::count(&cells[first], &cells[first] + groups, 0));
    persons += found > 0 ? 1 : 0;
    size += found;
  }
  records.MakeRoom(persons, size);
  persons = size = 0;
  for (std::size_t first = 0; first < cells.size(); first += groups) {
    const std::size_t begin = size;
    for (std::size_t group = 0; group < groups; ++group) {
      std::uint32_t& cell = cells[first + group];
      if (cell == 0) continue;
      records.BeginRecord(size, static_cast<std::uint32_t>(group));
      records.rows_[size] = cell;
      cell = static_cast<std::uint32_t>(size++);
    }
    if (size == begin) continue;
    records.first_[persons] = begin;
    records.persons_[persons++] = {least_person_ + first / groups, 0};
  }
  records.first_[persons] = size;
  for (std::size_t i = 0; i < words_.size() && columns_ > 0; ++i) {
    if (i % kRowsBetweenQuestions == 0) GiveUpIfAsked(gives_up);
    if (i + kRowsAhead < words_.size()) records.Expect(cell_of(words_[i + kRowsAhead]));
    records.AddValues(cell_of(words_[i]), values_.data() + i * columns_);
  }
}

PersonRecords PersonSums::Finish(std::size_t groups, GivesUp gives_up) {
  PersonRecords records;
  records.groups_ = groups;
  records.columns_ = columns_;
  records.has_squares_ = with_squares_;
  if (IsDense(groups)) {
    AddUpInPlace(records, gives_up);
  } else if (const ShortWords sorted = SortedShort(groups); sorted.size() > 0) {
    AddUpSorted(sorted, records, gives_up);
  } else {
    if (!is_sorted_) SortRows();
    AddUpSorted(LongWords{*this}, records, gives_up);
  }
  *this = PersonSums(columns_, persons_are_hashes_, with_squares_);
  return records;
}

template <typename Words>
void PersonSums::AddUpSorted(const Words& words, PersonRecords& records, GivesUp gives_up) const {
  const std::size_t count = words.size();
  std::size_t persons = 0;
  std::size_t size = 0;
  // Counted first, so that none is moved afterwards.
  for (std::size_t i = 0; i < count; ++i) {
    persons += i > 0 && words.SamePerson(i, i - 1) ? 0 : 1;
    size += i > 0 && words.SameRecord(i, i - 1) ? 0 : 1;
  }
  records.MakeRoom(persons, size);
  persons = size = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % kRowsBetweenQuestions == 0) GiveUpIfAsked(gives_up);
    if (i + kRowsAhead < count && columns_ > 0)
      __builtin_prefetch(values_.data() + words.RowOf(i + kRowsAhead) * columns_);
    if (i == 0 || !words.SamePerson(i, i - 1)) {
      records.first_[persons] = size;
      records.persons_[persons++] = words.PersonOf(i);
    }
    if (i == 0 || !words.SameRecord(i, i - 1)) {
      const std::uint32_t group = words.GroupOf(i);
      if (group >= records.groups()) throw NoSuchGroup(group, records.groups());
      records.BeginRecord(size++, group);
    }
    ++records.rows_[size - 1];
    records.AddValues(size - 1, values_.data() + words.RowOf(i) * columns_);
  }
  records.first_[persons] = size;
}

}  // namespace privacy_score
