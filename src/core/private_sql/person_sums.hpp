/*
 * person_sums.hpp - what each person adds to each group of a private query.
 *
 * Rows come in any order, one at a time; they are sorted by person once, and what a person has in one group becomes one
 * record. All that is measured privately is computed from these records, so the rows are read once.
 *
 * Values are whole numbers of steps of a grid, which the column's type decides and no row. Their sums have 128 bits;
 * those of squares are held at 2^126 instead of wrapping. Whatever is held, what a person adds is a function of her own
 * rows only.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/base/decimal_grid.hpp"
#include "core/base/paused.hpp"
#include "core/base/plain_buffer.hpp"

namespace privacy_score {

// A person: what identifies her, as it is stored, when that has at most 64 bits (`low` is 0 then), else a keyed hash of
// 128 bits.
struct PersonWord {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

// What stands for NULL among the values of a row.
constexpr std::int64_t kNullSteps = std::numeric_limits<std::int64_t>::min();

// Values beyond +-2^62 are held there.
constexpr std::int64_t kMostValueSteps = std::int64_t{1} << 62;

// Of the values of one column that are not NULL: how many there are, their sum, the sum of their squares.
struct ValueSums {
  std::int64_t count = 0;
  Int128 sum = 0;
  Int128 squares = 0;
};

// The records: those of person p are FirstOf(p) .. FirstOf(p + 1) - 1, by rising group, one for each group in which she
// has a row. Persons come by rising word.
class PersonRecords {
 public:
  std::size_t persons() const { return persons_.size(); }
  std::size_t size() const { return rows_.size(); }
  std::size_t groups() const { return groups_; }
  std::size_t columns() const { return columns_; }

  const PersonWord& PersonOf(std::size_t person) const { return persons_[person]; }
  std::size_t FirstOf(std::size_t person) const { return first_[person]; }
  std::uint32_t GroupOf(std::size_t record) const { return groups_of_[record]; }
  std::int64_t RowsOf(std::size_t record) const { return rows_[record]; }
  bool has_squares() const { return has_squares_; }
  // Without squares these are 0.
  ValueSums SumsOf(std::size_t record, std::size_t column) const {
    const std::size_t place = record * columns_ + column;
    return {counts_[place], sums_[place], has_squares_ ? squares_[place] : 0};
  }

 private:
  friend class PersonSums;
  void MakeRoom(std::size_t persons, std::size_t size);
  void BeginRecord(std::size_t record, std::uint32_t group);
  void AddValues(std::size_t record, const std::int64_t* values);
  void Expect(std::size_t record) const {
    __builtin_prefetch(&counts_[record * columns_], 1);
    __builtin_prefetch(&sums_[record * columns_], 1);
  }

  std::size_t groups_ = 0;
  std::size_t columns_ = 0;
  PlainBuffer<PersonWord> persons_;
  PlainBuffer<std::size_t> first_;  // one more than persons
  PlainBuffer<std::uint32_t> groups_of_;
  PlainBuffer<std::int64_t> rows_;
  PlainBuffer<std::int64_t> counts_;  // by record and column, as what follows
  PlainBuffer<Int128> sums_;
  PlainBuffer<Int128> squares_;
  bool has_squares_ = false;
};

// Takes the rows. 16 bytes a row and 8 for each column; 8 more when persons are hashes.
class PersonSums {
 public:
  // `columns` is how many values a row has (at most 1000; none for count(*) alone), `with_squares` whether squares of
  // them are added up, too (MeasureKind::kSpread). Throws Error 54000 for more columns.
  explicit PersonSums(std::size_t columns, bool persons_are_hashes = false, bool with_squares = false);

  // So many rows are to come, or others: what has room already need not be moved later.
  void Expect(std::size_t rows);

  // Adds rows, each of a person and a group with `columns` many values, kNullSteps for NULL. Throws Error 54000 when
  // these are 2^32 rows.
  void AddRows(const PersonWord* persons, const std::uint32_t* groups, const std::int64_t* values, std::size_t count);
  void Add(const PersonWord& person, std::uint32_t group, const std::int64_t* values) {
    AddRows(&person, &group, values, 1);
  }

  std::size_t rows() const { return words_.size(); }

  // Sorts, or counts in place where that is possible, and adds up; the rows are gone then, and more may be added for
  // another result. Numbers of groups are below `groups`, or XX001 is thrown. Throws Paused when `gives_up` says so,
  // and may then be called again.
  PersonRecords Finish(std::size_t groups, GivesUp gives_up = nullptr);

 private:
  __extension__ using Word = unsigned __int128;  // a person's high word, the group, the number of the row
  static constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max();
  static constexpr unsigned kGroupBit = 32;
  static constexpr unsigned kPersonBit = 64;

  struct ShortWords;
  struct LongWords;

  bool IsDense(std::size_t groups) const;
  void AddUpInPlace(PersonRecords& records, GivesUp gives_up) const;
  ShortWords SortedShort(std::size_t groups) const;
  void SortRows();
  void OrderEqualWords(std::size_t begin, std::size_t end);
  template <typename Words>
  void AddUpSorted(const Words& words, PersonRecords& records, GivesUp gives_up) const;
  std::uint64_t LowOf(const Word& word) const { return lows_.size() == 0 ? 0 : lows_[RowOf(word)]; }
  static std::size_t RowOf(const Word& word) { return static_cast<std::size_t>(static_cast<std::uint32_t>(word)); }

  std::size_t columns_;
  bool persons_are_hashes_;
  bool with_squares_;
  bool groups_rise_ = true;  // as they do when rows come group by group
  bool is_sorted_ = false;
  std::uint32_t last_group_ = 0;
  std::uint32_t greatest_group_ = 0;
  std::uint64_t least_person_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t greatest_person_ = 0;
  GrowingBuffer<Word> words_;
  GrowingBuffer<std::uint64_t> lows_;
  GrowingBuffer<std::int64_t> values_;
};

}  // namespace privacy_score
