/*
 * packed_rates.cpp - see packed_rates.hpp.
 */
#include "core/scoring/packed_rates.hpp"

#include <cstring>

#include "core/base/error.hpp"
#include "core/base/packed_bytes.hpp"
#include "core/scoring/model.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/rate_index.hpp"
#include "core/scoring/subject_joins.hpp"

namespace privacy_score {

namespace {

constexpr double kNoEntropy = -1;

template <typename T>
std::vector<T> CopyOf(const Field& field) {
  const std::string_view bytes = Required(field);
  std::vector<T> copy(bytes.size() / sizeof(T));
  if (!copy.empty()) std::memcpy(copy.data(), bytes.data(), copy.size() * sizeof(T));
  return copy;
}

}  // namespace

std::string PackedRates::Pack(const Model& model) {
  const RateIndex of_relations(model, SubjectJoins::OfRelations(model));
  const RateIndex of_joins(model, SubjectJoins(model).OfJoins(model));
  std::vector<double> entropies;
  for (std::uint32_t relation = 0; relation < model.relations().size(); ++relation)
    entropies.push_back(model.SubjectEntropyOf(relation).value_or(kNoEntropy));
  std::string bytes;
  AppendAll(bytes, entropies);
  WireWriter writer;
  writer.Section(PackedRateSection::kColumns, {{of_relations.Packed(), of_joins.Packed(), bytes}});
  return writer.bytes();
}

PackedRates PackedRates::Read(WireReader& reader, std::size_t relations) {
  const std::vector<Row> rows = reader.Section(PackedRateSection::kColumns);
  if (rows.size() != 1) throw DamagedData("packed rates");
  PackedRates packed;
  packed.relations = CopyOf<std::uint64_t>(rows[0][PackedRateSection::kRelations]);
  packed.joins = CopyOf<std::uint64_t>(rows[0][PackedRateSection::kJoins]);
  for (const double entropy : CopyOf<double>(rows[0][PackedRateSection::kSubjectEntropies]))
    packed.subject_entropies.push_back(entropy == kNoEntropy ? std::nullopt : std::optional<double>(entropy));
  if (packed.relations.empty() || packed.joins.empty() || packed.subject_entropies.size() != relations)
    throw DamagedData("packed rates");
  return packed;
}

}  // namespace privacy_score
