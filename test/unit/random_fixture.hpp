/*
 * random_fixture.hpp - random sources for tests: seeded, scripted and failing ones, which no shipped build has.
 */
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/random_source.hpp"

namespace privacy_score::testing_support {

class SeededRandom : public privacy_score::RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}

 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    for (std::size_t i = 0; i < count; ++i) words[i] = engine_();
  }

 private:
  std::mt19937_64 engine_;
};

// Gives the words it is told, then fails.
class ScriptedRandom : public privacy_score::RandomSource {
 public:
  explicit ScriptedRandom(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

 protected:
  void Fill(std::uint64_t* words, std::size_t count) override {
    if (next_ == words_.size()) throw privacy_score::Error("58000", "the script has ended");
    for (std::size_t i = 0; i < count; ++i) words[i] = next_ < words_.size() ? words_[next_++] : 0;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t next_ = 0;
};

}  // namespace privacy_score::testing_support
