/*
 * finite_group.hpp - vectors of integers modulo D, as numbers of the elements of the group that they generate.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace privacy_score {

class FiniteGroup {
 public:
  // The group that the columns generate: columns[j][i] is the i-th coordinate of the j-th vector, 0 <= . < modulus.
  FiniteGroup(std::int64_t modulus, const std::vector<std::vector<std::int64_t>>& columns);

  // Number of elements; the greatest number when there are too many for it.
  std::uint64_t order() const { return order_; }

  // The rest is for groups whose order a vector can have. Element 0 is the neutral one.
  std::size_t Column(std::size_t column) const { return elements_[column]; }
  std::size_t Difference(std::size_t a, std::size_t b) const;
  // start, start - step, start - 2 step, ... until it would begin anew.
  void Cycle(std::size_t start, std::size_t step, std::vector<std::uint32_t>& elements) const;

 private:
  std::uint64_t order_ = 1;
  std::vector<std::uint64_t> moduli_;  // the group is the product of cyclic groups of these orders
  std::vector<std::size_t> elements_;  // by column: its coordinates in those, the first as the lowest digit
};

}  // namespace privacy_score
