/*
 * wide_rows.cpp - see wide_rows.hpp.
 */
#include "core/entropy/wide_rows.hpp"

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kFirstSlots = 1024;

std::uint64_t Mixed(std::uint64_t hash) {
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93U;
  hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93U;
  return hash ^ hash >> 32;
}

}  // namespace

WideRows::WideRows(std::size_t columns) : columns_(columns), slots_(kFirstSlots) {}

void WideRows::Widen(Column* column, std::uint32_t greatest) {
  column->domain = std::max(column->domain, std::uint64_t{greatest} + 1);
  const auto widen = [&](auto wider) {
    std::visit([&](const auto& codes) { wider.assign(codes.begin(), codes.end()); }, column->codes);
    column->codes = std::move(wider);
  };
  if (column->codes.index() < 1 && greatest > std::numeric_limits<std::uint8_t>::max())
    widen(std::vector<std::uint16_t>());
  if (column->codes.index() < 2 && greatest > std::numeric_limits<std::uint16_t>::max())
    widen(std::vector<std::uint32_t>());
}

// Makes the table ready for so many tuples, at most half full.
void WideRows::GrowTable(std::size_t tuples) {
  if (tuples >= kFree) throw Error("54000", "more than " + std::to_string(kFree - 1) + " distinct rows");
  if (2 * tuples <= slots_.size()) return;
  std::size_t size = slots_.size();
  while (2 * tuples > size) size *= 2;
  std::vector<Slot> old(size);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.tuple == kFree) continue;
    std::size_t place = slot.hash & (size - 1);
    while (slots_[place].tuple != kFree) place = (place + 1) & (size - 1);
    slots_[place] = slot;
  }
}

bool WideRows::Equal(const std::uint32_t* const* codes, std::size_t row, std::uint32_t tuple) const {
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const auto same = [&](const auto& stored) { return stored[tuple] == codes[column][row]; };
    if (!std::visit(same, columns_[column].codes)) return false;
  }
  return true;
}

// The tuple with this hash, or with `compare` the very tuple; a new one when there is none.
std::uint32_t WideRows::Find(const std::uint32_t* const* codes, std::size_t row, std::uint64_t hash, bool compare) {
  std::size_t place = hash & (slots_.size() - 1);
  for (; slots_[place].tuple != kFree; place = (place + 1) & (slots_.size() - 1))
    if (slots_[place].hash == hash && (!compare || Equal(codes, row, slots_[place].tuple))) return slots_[place].tuple;
  slots_[place] = {hash, static_cast<std::uint32_t>(weights_.size())};
  weights_.push_back(0);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::uint32_t code = codes[column][row];
    const auto push = [&](auto& stored) {
      stored.push_back(static_cast<typename std::decay_t<decltype(stored)>::value_type>(code));
    };
    std::visit(push, columns_[column].codes);
  }
  return slots_[place].tuple;
}

void WideRows::Append(const std::uint32_t* const* codes, std::size_t rows, const std::int64_t* weights) {
  GrowTable(weights_.size() + rows);
  std::vector<std::uint64_t> hashes(rows, 0);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::uint32_t greatest = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::uint32_t code = codes[column][row];
      greatest = std::max(greatest, code);
      hashes[row] = AddToHash(hashes[row], code);
    }
    Widen(&columns_[column], greatest);
  }
  std::vector<std::uint32_t> tuples(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    hashes[row] = Mixed(hashes[row]);
    tuples[row] = Find(codes, row, hashes[row], false);
  }
  std::vector<std::uint32_t> differs(rows, 0);
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const auto compare = [&](const auto& stored) {
      for (std::size_t row = 0; row < rows; ++row) differs[row] |= stored[tuples[row]] ^ codes[column][row];
    };
    std::visit(compare, columns_[column].codes);
  }
  for (std::size_t row = 0; row < rows; ++row) {
    if (differs[row] != 0) tuples[row] = Find(codes, row, hashes[row], true);
    weights_[tuples[row]] += weights == nullptr ? 1 : weights[row];
  }
}

std::size_t WideRows::memory() const {
  std::size_t bytes = slots_.capacity() * sizeof(Slot) + weights_.capacity() * sizeof(std::int64_t);
  for (const Column& column : columns_)
    bytes += std::visit([](const auto& codes) { return codes.capacity() * sizeof(codes[0]); }, column.codes);
  return bytes;
}

void WideRows::CodesOf(std::size_t column, const std::uint32_t* tuples, std::size_t count, std::uint32_t* codes) const {
  const auto gather = [&](const auto& stored) {
    for (std::size_t i = 0; i < count; ++i) codes[i] = stored[tuples[i]];
  };
  std::visit(gather, columns_[column].codes);
}

}  // namespace privacy_score
