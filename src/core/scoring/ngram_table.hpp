/*
 * ngram_table.hpp - the n-grams of a baseline with their counts, at any length, in 32 bytes each.
 *
 * An n-gram of a shorter length is the end of recorded ones. So these are sorted by what stands last, then by what
 * stands before it, and so on: all with one end lie side by side, and one search finds them, whatever the length is.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/lent_list.hpp"
#include "core/scoring/ngram.hpp"

namespace privacy_score {

class NGramTable {
 public:
  struct Counted {
    NGram ngram{};
    std::int64_t count = 0;
  };

  NGramTable() = default;
  // Recorded n-grams; one that stands there several times counts as often.
  explicit NGramTable(const std::vector<Counted>& recorded);

  // The table as bytes, for the same machine; a table of one's own of them, or one that reads them where they lie, at a
  // multiple of 8, and which they outlive. Throws Error XX001 on damaged ones; OfOwn, for bytes that Packed has made
  // and nobody else can have changed, on such as are cut short alone: it takes no longer for a long table.
  std::string Packed() const;
  static NGramTable Unpack(std::string_view bytes);
  static NGramTable At(std::string_view bytes);
  static NGramTable OfOwn(std::string_view bytes);

  // Of distinct recorded ones.
  std::size_t size() const { return rows_.size(); }
  // Whether one of the recorded ones ends like this n-gram of the length.
  bool Has(const NGram& ngram, int length) const;
  // Calls `visit` with each n-gram of the length, in the order of the table, and its count. `pad`: with those that have
  // padding.
  template <typename Visit>
  void ForEach(int length, bool pad, Visit visit) const {
    for (std::size_t first = 0; first < rows_.size();) {
      std::size_t next = first;
      std::int64_t count = 0;
      for (; next < rows_.size() && EndAlike(rows_[first], rows_[next], length); ++next) count += rows_[next].count;
      const NGram ngram = EndOf(rows_[first], length);
      if (pad || !HasPadding(ngram, length)) visit(ngram, count);
      first = next;
    }
  }
  // Walks the n-grams of the length as a tree, from what stands last to what stands first: `enter(k, statement)` says
  // whether those are wanted that have it at place k, counted from the last, after what was entered before;
  // `visit(row)` is called with each whose every place was entered, in the order of the table.
  template <typename Enter, typename Visit>
  void Descend(int length, bool pad, Enter enter, Visit visit) const {
    for (std::uint32_t statement = 0; statement < ids_.size(); ++statement)
      DescendFrom(statement, length, pad, enter, visit);
  }
  // The same among those that have this statement last.
  template <typename Enter, typename Visit>
  void DescendFrom(std::uint32_t statement, int length, bool pad, Enter enter, Visit visit) const {
    const auto depth = static_cast<std::size_t>(length);
    const auto wanted = [&](std::size_t k, std::uint32_t at) {
      return (pad || k + 1 < depth || ids_[at] != 0) && enter(k, at);
    };
    const std::size_t end = starts_[statement + 1];
    if (starts_[statement] == end || !wanted(0, statement)) return;
    for (std::size_t row = starts_[statement], entered = 1; row < end;) {
      const Row& at = rows_[row];
      std::size_t k = entered;
      while (k < depth && wanted(k, at.places[k])) ++k;
      if (k == depth) visit(row);
      // To the next that differs in what was visited, or not wanted.
      const std::size_t left = std::min(k + 1, depth);
      do {
        ++row;
        for (entered = 1; row < end && entered < left && rows_[row].places[entered] == at.places[entered];) ++entered;
      } while (row < end && entered == left);
    }
  }
  // How many of the recorded ones have this statement last.
  std::size_t EndingWith(std::uint32_t statement) const { return starts_[statement + 1] - starts_[statement]; }
  // The n-gram of the length that a row of Descend is, and its count.
  Counted At(std::size_t row, int length) const;
  // The abstractions that stand in n-grams, which are the statements of Descend by their place.
  const LentList<AbstractionId>& ids() const { return ids_; }
  // The same, with 0 for each that stands at none of the last `length` places of any n-gram.
  std::vector<AbstractionId> IdsWithin(int length) const;
  // The recorded ones.
  std::vector<Counted> List() const;

 private:
  // Places in `ids_`, the last first.
  struct Row {
    std::array<std::uint32_t, kRecordedLength> places{};
    std::int64_t count = 0;
  };
  static_assert(sizeof(Row) == 32);

  bool StartsStand() const;
  static bool EndAlike(const Row& a, const Row& b, int length);
  NGram EndOf(const Row& row, int length) const;

  LentList<AbstractionId> ids_;     // sorted
  LentList<std::uint64_t> starts_;  // of each id the first row that it stands last in, then the number of rows
  LentList<Row> rows_;
};

// Reads a BaselineNGramSection, a row an n-gram, and writes it as a PackedNGramSection, a row a baseline, in the order
// of their first rows. Throws Error XX001 on damaged bytes.
std::string PackNGrams(std::string_view section);

}  // namespace privacy_score
