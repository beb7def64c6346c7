/*
 * targets.hpp - what is fuzzed: functions that take any bytes and abort when a property does not hold.
 *
 * libFuzzer finds the inputs (fuzzer_main.cpp); the unit tests run the inputs that are kept (fuzz_seeds_test.cpp).
 */
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace privacy_score::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view input);
};
const std::vector<Target>& Targets();

// SQL text to abstractions: never raises, the same whatever the literals are, made of known tokens; its constants.
void FuzzAbstraction(std::string_view input);
// The text of a predicate to its normal form: refused with PS003 only; printed and read again it is the same, and it
// chooses the same rows as the tree that was read.
void FuzzPredicate(std::string_view input);
// Rationals, thresholds, and the bucket settings that satisfy them.
void FuzzThresholds(std::string_view input);
// Sets of records, what sums over them tell, and what further ones would.
void FuzzRecordSets(std::string_view input);
// Baselines and the model as they cross the wall; scores of sessions against baselines made of them.
void FuzzBaseline(std::string_view input);
// Calibrations as bytes: refused, or whole in themselves.
void FuzzCalibration(std::string_view input);

// Prints `property` and aborts unless it holds.
void Require(bool holds, std::string_view property);

// Small numbers from the front of an input; zeros after its end.
class Numbers {
 public:
  explicit Numbers(std::string_view input) : input_(input) {}

  bool AtEnd() const { return next_ >= input_.size(); }
  std::uint8_t Byte() { return AtEnd() ? std::uint8_t{0} : static_cast<std::uint8_t>(input_[next_++]); }
  // 0 <= number < bound; bound at most 256.
  int Below(int bound) { return Byte() % bound; }
  bool Flag() { return (Byte() & 1U) != 0; }

 private:
  std::string_view input_;
  std::size_t next_ = 0;
};

// The parts of a text between separators; an empty text is one empty part.
std::vector<std::string_view> Split(std::string_view text, char separator);

}  // namespace privacy_score::fuzz
