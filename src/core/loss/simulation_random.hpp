/*
 * simulation_random.hpp - repeatable random numbers for simulations on one's own table, from a seed.
 *
 * Never for anything that is released: whoever knows the seed knows the numbers.
 */
#pragma once

#include "core/base/random_source.hpp"

namespace privacy_score {

// SplitMix64 [Steele, Lea, Flood 2014]. Streams of one seed are independent of each other.
class SimulationRandom : public RandomSource {
 public:
  SimulationRandom(std::uint64_t seed, std::uint64_t stream) : state_(Mixed(seed) ^ Mixed(~stream)) {}

 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) words[i] = Mixed(state_ += kStep);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;

  static std::uint64_t Mixed(std::uint64_t word) {
    word += kStep;
    word = (word ^ word >> 30U) * 0xbf58476d1ce4e5b9U;
    word = (word ^ word >> 27U) * 0x94d049bb133111ebU;
    return word ^ word >> 31U;
  }

  std::uint64_t state_;
};

}  // namespace privacy_score
