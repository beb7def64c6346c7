/*
 * packed_bytes.hpp - lists of plain values as bytes for the same machine, which are read where they lie.
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/lent_list.hpp"

namespace privacy_score {

// What packed parts take is a multiple of this, so that numbers in the next one lie as the machine wants them.
constexpr std::size_t kPackedUnit = 8;

// The size that bytes have with what fills them up to such a multiple.
constexpr std::size_t FilledUp(std::size_t size) { return (size + kPackedUnit - 1) / kPackedUnit * kPackedUnit; }
inline void FillUp(std::string& bytes) { bytes.resize(FilledUp(bytes.size())); }

// `list` is a vector or a LentList.
template <typename List>
void AppendAll(std::string& bytes, const List& list) {
  bytes.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(*list.data()));
}

// Takes so many off the front of the bytes, as a list that reads them there. Throws Error XX001 when they are too few.
template <typename T>
LentList<T> LendAll(std::string_view& bytes, std::size_t count, const char* what) {
  if (count > bytes.size() / sizeof(T) || reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0)
    throw DamagedData(std::string(what) + " that is cut short");
  const LentList<T> list(reinterpret_cast<const T*>(bytes.data()), count);
  bytes.remove_prefix(count * sizeof(T));
  return list;
}

}  // namespace privacy_score
