/*
 * class_measures.hpp - syntactic measures of a table: how alike the records of an equivalence class are in a sensitive
 * attribute.
 *
 * An equivalence class has the records with equal quasi-identifiers. l-diversity asks for many values in each class
 * [Machanavajjhala and others], t-closeness for values distributed as in the table [Li and others]: by the variational
 * distance for categories, by the ordered earth mover's distance for numbers.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace privacy_score {

// How often the value of this rank is in a class.
struct ClassValue {
  std::size_t rank;
  std::int64_t count;
};

// 2^H of the values of a class, H in bits: so many equally likely values would tell as little. 0 for an empty class.
double EffectiveValues(const std::vector<ClassValue>& values);

class Closeness {
 public:
  // Counts of all values of the table, in the order of their ranks.
  explicit Closeness(const std::vector<std::int64_t>& table);

  // Half the sum of |p - q| over the values, from 0 to 1. Ranks ascend.
  double Variational(const std::vector<ClassValue>& values) const;

  // The sum over the ranks but the last of |P - Q|, P and Q cumulative, by the number of ranks less one: neighbours in
  // rank are 1/(values - 1) apart. From 0 to 1, 0 for one value. Ranks ascend. Takes logarithmic time a value.
  double OrderedEarthMovers(const std::vector<ClassValue>& values) const;

 private:
  // The sum of |p - Q_j| over the ranks begin <= j < end.
  double DistanceTo(double p, std::size_t begin, std::size_t end) const;

  std::vector<double> share_;       // by rank
  std::vector<double> cumulative_;  // Q_j: shares of the ranks up to j
  std::vector<double> sums_;        // of cumulative_ before each rank
};

}  // namespace privacy_score
