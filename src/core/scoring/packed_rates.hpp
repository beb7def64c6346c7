/*
 * packed_rates.hpp - the rates of a model that is published, in the form in which sessions look them up.
 *
 * A model has up to `max_rates` rates, and each session that scores needs an index of them (rate_index.hpp). So whoever
 * publishes a model makes the index once, as bytes that stand in the place of the rates and that a session copies as
 * they are.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rows.hpp"

namespace privacy_score {

class Model;

struct PackedRates {
  std::vector<std::uint64_t> relations, joins;           // what RateIndex::Packed() makes
  std::vector<std::optional<double>> subject_entropies;  // of each relation

  // PackedRateSection, of a model that has its rates one by one.
  static std::string Pack(const Model& model);
  // Reads that section, of a model with so many relations. Throws Error XX001 on damaged bytes; within an index it does
  // not look.
  static PackedRates Read(WireReader& reader, std::size_t relations);

  // One of the indexes as bytes, at a multiple of 8.
  static std::string_view Bytes(const std::vector<std::uint64_t>& words) {
    return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::uint64_t)};
  }
};

}  // namespace privacy_score
