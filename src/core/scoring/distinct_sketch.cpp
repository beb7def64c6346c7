/*
 * distinct_sketch.cpp - see distinct_sketch.hpp.
 */
#include "core/scoring/distinct_sketch.hpp"

#include <cmath>

#include "core/base/error.hpp"

namespace privacy_score {

namespace {

constexpr unsigned kBitsOfRegister = 6;

// x + the sum over k >= 1 of x^(2^k) 2^(k-1), for x < 1: what registers that nothing belongs to stand for.
double Sigma(double x) {
  double sum = x;
  double before = -1;
  for (double y = 1; sum != before; y += y) {
    before = sum;
    x *= x;
    sum += x * y;
  }
  return sum;
}

}  // namespace

DistinctSketch::DistinctSketch() : registers_(kRegisters, 0) { counts_[0] = kRegisters; }

DistinctSketch::DistinctSketch(std::string_view bytes) : DistinctSketch() {
  if (bytes.size() != kBytes) throw DamagedData("sketch");
  const auto byte = [&](std::size_t at) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[at])); };
  for (std::size_t place = 0, at = 0; at < kBytes; at += 3) {
    unsigned four = byte(at) << 16U | byte(at + 1) << 8U | byte(at + 2);
    for (int i = 0; i < 4; ++i, ++place, four <<= kBitsOfRegister) {
      const unsigned value = four >> 18U & 63U;
      if (value > kMostValue) throw DamagedData("sketch");
      Raise(place, static_cast<std::uint8_t>(value));
    }
  }
}

std::string DistinctSketch::Bytes() const {
  std::string bytes;
  bytes.reserve(kBytes);
  for (std::size_t place = 0; place < kRegisters; place += 4) {
    unsigned four = 0;
    for (std::size_t i = 0; i < 4; ++i) four = four << kBitsOfRegister | registers_[place + i];
    for (const unsigned shift : {16U, 8U, 0U}) bytes.push_back(static_cast<char>(four >> shift & 255U));
  }
  return bytes;
}

bool DistinctSketch::Raise(std::size_t place, std::uint8_t value) {
  std::uint8_t& kept = registers_[place];
  if (kept >= value) return false;
  --counts_[kept];
  ++counts_[value];
  kept = value;
  return true;
}

bool DistinctSketch::Add(std::uint64_t hash) {
  // The last bit that can be one is.
  const std::uint64_t rest = hash << kIndexBits | std::uint64_t{1} << (kIndexBits - 1);
  return Raise(static_cast<std::size_t>(hash >> (64 - kIndexBits)),
               static_cast<std::uint8_t>(__builtin_clzll(rest) + 1));
}

bool DistinctSketch::Merge(const DistinctSketch& other) {
  bool raised = false;
  for (std::size_t place = 0; place < kRegisters; ++place) raised |= Raise(place, other.registers_[place]);
  return raised;
}

std::int64_t DistinctSketch::Estimate() const {
  if (counts_[0] == kRegisters) return 0;
  constexpr auto kAll = static_cast<double>(kRegisters);
  // Of that many things that no register had room for nobody will ever see any, so there is no term for these.
  double sum = 0;
  for (std::size_t value = kMostValue; value > 0; --value) sum = 0.5 * (sum + counts_[value]);
  sum += kAll * Sigma(counts_[0] / kAll);
  return std::llround(kAll * kAll / (2 * std::log(2.0) * sum));
}

}  // namespace privacy_score
