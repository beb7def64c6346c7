/*
 * finite_group.cpp - Smith's normal form modulo D (see finite_group.hpp).
 *
 * Operations on rows are changes of coordinates, and operations on columns changes of the generators. Together they
 * make the matrix diagonal with entries d that divide D: then the i-th coordinate of every vector is a multiple of d_i,
 * and all combinations of multiples occur. The operations on rows are applied to the vectors themselves as well.
 */
#include "core/buckets/finite_group.hpp"

#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/whole_division.hpp"

namespace privacy_score {

namespace {

using Row = std::vector<std::int64_t>;

// target -= factor * source, modulo D.
void Subtract(Row& target, const Row& source, std::int64_t factor, std::int64_t modulus) {
  for (std::size_t j = 0; j < target.size(); ++j)
    target[j] = ((target[j] - factor * source[j]) % modulus + modulus) % modulus;
}

// A unit u modulo D with u a = gcd(a, D); a is not 0. An inverse of a/gcd modulo D/gcd is one but for multiples of
// D/gcd, of which some makes it coprime to D.
std::int64_t UnitToDivisor(std::int64_t a, std::int64_t modulus) {
  const std::int64_t divisor = std::gcd(a, modulus);
  const std::int64_t step = modulus / divisor;
  std::int64_t unit = InverseModulo(a / divisor, step);
  while (std::gcd(unit, modulus) != 1) unit += step;
  return unit;
}

// The matrix, and the vectors to which the same operations on rows are applied.
struct Reduction {
  std::int64_t modulus;
  std::vector<Row> work;
  std::vector<Row> vectors;

  void SubtractRow(std::size_t target, std::size_t source, std::int64_t factor) {
    Subtract(work[target], work[source], factor, modulus);
    Subtract(vectors[target], vectors[source], factor, modulus);
  }

  // Brings a nonzero entry of least gcd with D from row and column `at` on to the diagonal; false when all are 0.
  bool BringPivot(std::size_t at) {
    std::int64_t least = modulus;
    std::size_t row = 0;
    std::size_t column = 0;
    for (std::size_t i = at; i < work.size(); ++i) {
      for (std::size_t j = at; j < work[i].size(); ++j) {
        const std::int64_t divisor = std::gcd(work[i][j], modulus);
        if (divisor >= least) continue;
        least = divisor;
        row = i;
        column = j;
      }
    }
    if (least == modulus) return false;
    std::swap(work[at], work[row]);
    std::swap(vectors[at], vectors[row]);
    for (Row& each : work) std::swap(each[at], each[column]);
    const std::int64_t unit = UnitToDivisor(work[at][at], modulus);
    for (std::int64_t& entry : work[at]) entry = entry * unit % modulus;
    for (std::int64_t& entry : vectors[at]) entry = entry * unit % modulus;
    return true;
  }

  // Clears row and column of the pivot; false when an entry is no multiple of it: then a smaller pivot exists.
  bool Clear(std::size_t at) {
    const std::int64_t pivot = work[at][at];
    for (std::size_t i = at + 1; i < work.size(); ++i) {
      SubtractRow(i, at, work[i][at] / pivot);
      if (work[i][at] != 0) return false;
    }
    // The column of the pivot is zero below it: other columns lose only their entry in this row.
    for (std::size_t j = at + 1; j < work[at].size(); ++j) {
      work[at][j] %= pivot;
      if (work[at][j] != 0) return false;
    }
    for (std::size_t i = at + 1; i < work.size(); ++i) {
      for (std::size_t j = at + 1; j < work[i].size(); ++j) {
        if (work[i][j] % pivot == 0) continue;
        SubtractRow(at, i, modulus - 1);  // adds the row, which puts that entry into the pivot's row
        return false;
      }
    }
    return true;
  }
};

}  // namespace

FiniteGroup::FiniteGroup(std::int64_t modulus, const std::vector<std::vector<std::int64_t>>& columns)
    : elements_(columns.size(), 0) {
  Reduction reduction{modulus, {}, {}};
  const std::size_t coordinates = columns.empty() ? 0 : columns[0].size();
  for (std::size_t i = 0; i < coordinates; ++i) {
    Row row;
    bool is_zero = true;
    for (const std::vector<std::int64_t>& column : columns) {
      row.push_back(column[i]);
      is_zero = is_zero && column[i] == 0;
    }
    if (is_zero) continue;
    reduction.vectors.push_back(row);
    reduction.work.push_back(std::move(row));
  }
  for (std::size_t at = 0; at < reduction.work.size() && at < columns.size(); ++at) {
    if (!reduction.BringPivot(at)) break;
    while (!reduction.Clear(at)) reduction.BringPivot(at);
    const std::int64_t divisor = reduction.work[at][at];
    const auto cyclic = static_cast<std::uint64_t>(modulus / divisor);
    const std::uint64_t stride = order_;
    if (cyclic == 1) continue;
    if (cyclic > std::numeric_limits<std::uint32_t>::max() / stride) {
      order_ = std::numeric_limits<std::uint64_t>::max();
      return;
    }
    for (std::size_t j = 0; j < columns.size(); ++j)
      elements_[j] += stride * static_cast<std::uint64_t>(reduction.vectors[at][j] / divisor);
    moduli_.push_back(cyclic);
    order_ *= cyclic;
  }
}

std::size_t FiniteGroup::Difference(std::size_t a, std::size_t b) const {
  std::size_t difference = 0;
  std::size_t stride = 1;
  for (const std::uint64_t modulus : moduli_) {
    difference += stride * ((a % modulus + modulus - b % modulus) % modulus);
    a /= modulus;
    b /= modulus;
    stride *= modulus;
  }
  return difference;
}

// Coordinate by coordinate, without divisions: this is the inner loop of shortest paths.
void FiniteGroup::Cycle(std::size_t start, std::size_t step, std::vector<std::uint32_t>& elements) const {
  struct Digit {
    std::uint64_t value;
    std::uint64_t step;
    std::uint64_t modulus;
    std::uint64_t stride;
  };
  std::array<Digit, 32> digits{};  // each has at least two values, and the order fits 32 bits
  std::size_t moving = 0;
  std::uint64_t stride = 1;
  std::uint64_t value = start;
  for (const std::uint64_t modulus : moduli_) {
    if (step % modulus != 0) digits[moving++] = {value % modulus, step % modulus, modulus, stride};
    value /= modulus;
    step /= modulus;
    stride *= modulus;
  }
  elements.clear();
  std::uint64_t element = start;
  do {
    elements.push_back(static_cast<std::uint32_t>(element));
    for (std::size_t n = 0; n < moving; ++n) {
      Digit& digit = digits[n];
      std::uint64_t down = digit.step;
      if (digit.value < down) {
        element += digit.modulus * digit.stride;
        digit.value += digit.modulus;
      }
      digit.value -= down;
      element -= down * digit.stride;
    }
  } while (element != start);
}

}  // namespace privacy_score
