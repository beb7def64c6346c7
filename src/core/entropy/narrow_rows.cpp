/*
 * narrow_rows.cpp - see narrow_rows.hpp.
 */
#include "core/entropy/narrow_rows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "core/base/word_sort.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kFirstWords = std::size_t{1} << 14;
// Below, growing costs less than looking for duplicates.
constexpr std::size_t kSampledWords = std::size_t{1} << 20;
constexpr unsigned kSampleBits = 14;
// With a smaller share of duplicates collapsing is put off as long as there is memory.
constexpr double kDuplicatesWorthCollapsing = 0.7;
// Words more than tuples, because weights outgrew their bits.
constexpr std::int64_t kMaxSpreadWords = std::int64_t{1} << 16;
constexpr unsigned kMinWeightBits = 8;

std::uint64_t HashOf(std::uint64_t tuple) { return (tuple ^ tuple >> 32) * 0x9E3779B97F4A7C15U; }

// Columns with more codes further up, so that sorting words groups them by those first.
std::vector<PackedColumn> LaidOut(const std::vector<std::uint64_t>& domains) {
  std::vector<PackedColumn> columns(domains.size());
  std::vector<std::size_t> order(domains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return domains[a] > domains[b]; });
  unsigned top = 64;
  for (const std::size_t column : order) {
    PackedColumn& packed = columns[column];
    packed.domain = domains[column];
    packed.bits = BitsOf(domains[column]);
    if (packed.bits == 0) continue;
    top -= packed.bits;
    packed.shift = top;
  }
  return columns;
}

}  // namespace

NarrowRows::NarrowRows(std::size_t columns, std::size_t max_words) : columns_(columns), max_words_(max_words) {}

// Widens the columns to the domains; false when too little is left for the weights.
bool NarrowRows::Fits(const std::vector<std::uint64_t>& domains, std::int64_t total) {
  unsigned bits = 0;
  bool wider = false;
  for (std::size_t column = 0; column < domains.size(); ++column) {
    bits += BitsOf(domains[column]);
    wider = wider || BitsOf(domains[column]) > columns_[column].bits;
    if (bits > 64 - kMinWeightBits) return false;
  }
  const unsigned weight_bits = 64 - bits;
  if (weight_bits < 63 && total >> weight_bits > kMaxSpreadWords) return false;
  if (wider) {
    Pack(LaidOut(domains), weight_bits);
  } else {
    for (std::size_t column = 0; column < domains.size(); ++column) columns_[column].domain = domains[column];
  }
  return true;
}

// Packs the words anew. Weights that do not fit any more are spread, for which there may be no room yet.
void NarrowRows::Pack(const std::vector<PackedColumn>& columns, unsigned weight_bits) {
  const NarrowWord old_mask = word_sort::BitsBelow<NarrowWord>(weight_bits_);
  const NarrowWord new_mask = word_sort::BitsBelow<NarrowWord>(weight_bits);
  std::size_t more = 0;
  for (std::size_t i = 0; i < size_; ++i) more += static_cast<std::size_t>(((words_[i] & old_mask) - 1) / new_mask);
  if (size_ + more > words_.size()) Grow(size_ + more);
  std::size_t end = size_;
  for (std::size_t i = 0; i < size_; ++i) {
    const NarrowWord word = words_[i];
    NarrowWord packed = 0;
    for (std::size_t column = 0; column < columns.size(); ++column)
      packed |= static_cast<NarrowWord>(columns_[column].CodeOf(word)) << columns[column].shift;
    NarrowWord weight = word & old_mask;
    for (; weight > new_mask; weight -= new_mask) words_[end++] = packed | new_mask;
    words_[i] = packed | weight;
  }
  size_ = end;
  columns_ = columns;
  weight_bits_ = weight_bits;
}

NarrowRows::Outcome NarrowRows::Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights,
                                       std::int64_t total) {
  std::vector<std::uint64_t> domains(columns_.size());
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::uint32_t greatest = 0;
    for (std::size_t row = 0; row < rows; ++row) greatest = std::max(greatest, codes[column][row]);
    domains[column] = std::max(columns_[column].domain, std::uint64_t{greatest} + 1);
  }
  if (!Fits(domains, total)) return Outcome::kTooWide;
  const NarrowWord mask = word_sort::BitsBelow<NarrowWord>(weight_bits_);
  std::size_t more = 0;
  if (weights != nullptr)
    for (std::size_t row = 0; row < rows; ++row)
      more += static_cast<std::size_t>((static_cast<NarrowWord>(weights[row]) - 1) / mask);
  if (size_ + rows + more > words_.size() && !MakeRoom(rows + more)) return Outcome::kTooMany;
  NarrowWord* const words = words_.data() + size_;
  if (weights == nullptr) {
    std::fill_n(words, rows, NarrowWord{1});
  } else {
    NarrowWord* spread = words + rows;
    for (std::size_t row = 0; row < rows; ++row) {
      NarrowWord weight = static_cast<NarrowWord>(weights[row]);
      for (; weight > mask; weight -= mask) {
        *spread = mask;
        for (std::size_t column = 0; column < columns_.size(); ++column)
          *spread |= static_cast<NarrowWord>(codes[column][row]) << columns_[column].shift;
        ++spread;
      }
      words[row] = weight;
    }
  }
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::uint32_t* const column_codes = codes[column];
    const unsigned shift = columns_[column].shift;
    for (std::size_t row = 0; row < rows; ++row) words[row] |= static_cast<NarrowWord>(column_codes[row]) << shift;
  }
  size_ += rows + more;
  return Outcome::kTaken;
}

// Room for more words: by growing while few words are duplicates and memory lasts, else by collapsing.
bool NarrowRows::MakeRoom(std::size_t words) {
  while (size_ + words > words_.size()) {
    const bool full = words_.size() >= max_words_;
    const double duplicates = words_.size() < kSampledWords && !full ? 0 : SampledDuplicates();
    if (!full && duplicates < kDuplicatesWorthCollapsing) {
      Grow(std::min(max_words_, std::max(2 * words_.size(), kFirstWords)));
      continue;
    }
    if (!CollapseByHash(static_cast<std::size_t>((1 - duplicates) * static_cast<double>(size_)))) CollapseBySort();
    // Tuples are collapsed again with every filling, so they should be a small part of it.
    if (!full && size_ + words > words_.size() / 4) Grow(std::min(max_words_, 2 * words_.size()));
    // Without room for some rows to come every block would be a sort.
    if (full && (size_ + words > words_.size() || size_ > words_.size() / 8 * 7)) return false;
  }
  return true;
}

// Collapses in a hash table with open addressing, of words, of which none is 0. False, and nothing is changed, when it
// would take more memory than a sort or the tuples are more than expected.
bool NarrowRows::CollapseByHash(std::size_t expected) {
  unsigned bits = 10;
  while (std::size_t{1} << bits < 2 * expected) ++bits;
  const std::size_t slots = std::size_t{1} << bits;
  if (slots > size_ || weight_bits_ == 64) return false;
  PlainBuffer<NarrowWord> table(slots);
  std::memset(table.data(), 0, slots * sizeof(NarrowWord));
  const NarrowWord mask = word_sort::BitsBelow<NarrowWord>(weight_bits_);
  std::size_t used = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    NarrowWord word = words_[i];
    for (std::size_t place = HashOf(word >> weight_bits_) >> (64 - bits);; place = (place + 1) & (slots - 1)) {
      const NarrowWord slot = table[place];
      if (slot == 0) {
        if (++used > slots / 4 * 3) return false;
        table[place] = word;
        break;
      }
      if (((slot ^ word) & ~mask) != 0) continue;
      // What has no room beside the weight goes to a further slot of the tuple.
      const NarrowWord added = std::min(word & mask, mask - (slot & mask));
      table[place] = slot + added;
      word -= added;
      if ((word & mask) == 0) break;
    }
  }
  size_ = 0;
  for (std::size_t place = 0; place < slots; ++place) {
    words_[size_] = table[place];
    size_ += table[place] != 0;
  }
  return true;
}

void NarrowRows::CollapseBySort() {
  PlainBuffer<NarrowWord> scratch(size_);
  SortWords(words_.data(), scratch.data(), size_, weight_bits_, 64);
  size_ = CollapseWords(words_.data(), size_, weight_bits_);
}

void NarrowRows::Grow(std::size_t capacity) {
  PlainBuffer<NarrowWord> grown(capacity);
  if (size_ > 0) std::memcpy(grown.data(), words_.data(), size_ * sizeof(NarrowWord));
  words_ = std::move(grown);
}

// The share of words that a collapse would save, from all words of a pseudo-random part of the tuples.
double NarrowRows::SampledDuplicates() const {
  unsigned bits = 0;
  while (size_ >> bits > std::size_t{1} << kSampleBits) ++bits;
  if (bits == 0 || weight_bits_ == 64) return 1;
  std::vector<NarrowWord> sample;
  for (std::size_t i = 0; i < size_; ++i) {
    const NarrowWord tuple = words_[i] >> weight_bits_;
    if (HashOf(tuple) >> (64 - bits) == 0) sample.push_back(tuple);
  }
  if (sample.empty()) return 0;
  std::sort(sample.begin(), sample.end());
  const auto different = std::unique(sample.begin(), sample.end()) - sample.begin();
  return 1 - static_cast<double>(different) / static_cast<double>(sample.size());
}

}  // namespace privacy_score
