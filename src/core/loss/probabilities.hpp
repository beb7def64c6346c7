/*
 * probabilities.hpp - probabilities of the values of one law, as they were given: whether they are a law, and its
 * entropy.
 */
#pragma once

#include <cstddef>
#include <vector>

namespace privacy_score {

// Throws Error 22023 that names `what` when one is negative or not a number, or they do not sum to one within 1e-9.
void CheckProbabilities(const char* what, const double* values, std::size_t count);

// -sum p lg p in bits.
double EntropyOf(const std::vector<double>& probabilities);

}  // namespace privacy_score
