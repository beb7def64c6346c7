/*
 * revealing_sessions.cpp - see revealing_sessions.hpp.
 */
#include "core/scoring/revealing_sessions.hpp"

#include <optional>
#include <utility>

#include "core/base/rows.hpp"
#include "core/scoring/aggregates.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

RevealingCounter::Revealed RevealingCounter::Reveal(const Tokens& tokens) {
  if (IsUnparsed(tokens)) return {};
  const Revelation revelation = privacy_score::Reveal(model_, rates_, tokens, settings_);
  return {model_.Closure(revelation.least), revelation.exact()};
}

RevealingSessions RevealingCounter::Of(const Baseline& baseline) {
  const RevealingSessions* counted = model_.CountedOf(baseline, settings_);
  return counted != nullptr ? *counted : Count(baseline);
}

RevealingSessions RevealingCounter::Count(const Baseline& baseline) {
  RevealingSessions result;
  result.counts.resize(model_.attributes().size());
  std::vector<std::size_t> seen_in(result.counts.size());  // number of the last set that revealed the attribute
  std::size_t set_number = 0;
  Model::UseStatements(baseline, [&](const BaselineStatements& statements) {
    statements.sets.ForEach([&](std::int64_t count, const AbstractionId* first, const AbstractionId* last) {
      ++set_number;
      for (const AbstractionId* id = first; id != last; ++id) {
        auto found = revealed_.find(*id);
        if (found == revealed_.end()) {
          const std::optional<Tokens> tokens = model_.TokensIn(statements, *id);
          found = revealed_.emplace(*id, tokens ? Reveal(*tokens) : Revealed()).first;
        }
        result.exact = result.exact && found->second.exact;
        for (const AttributeId attribute : found->second.closure)
          if (std::exchange(seen_in[attribute], set_number) != set_number) result.counts[attribute] += count;
      }
    });
  });
  return result;
}

std::string CountRevealing(const Model& model, const ScoreSettings& settings, std::vector<MissingRate>* missing) {
  RateBook rates(model);
  RevealingCounter counter(model, rates, settings);
  std::vector<std::vector<std::optional<std::string>>> rows;
  for (const Baseline& baseline : model.baselines()) {
    if (!baseline.end_user.empty()) continue;
    const RevealingSessions revealing = counter.Of(baseline);
    std::vector<std::int64_t> attributes, counts;
    for (std::size_t id = 0; id < revealing.counts.size(); ++id) {
      if (revealing.counts[id] == 0) continue;
      attributes.push_back(static_cast<std::int64_t>(id));
      counts.push_back(revealing.counts[id]);
    }
    rows.push_back({TextOf(baseline.id), std::string(settings.where_counts ? "t" : "f"),
                    TextOf(std::int64_t{settings.aggregate_least}), std::string(revealing.exact ? "t" : "f"),
                    ArrayText(attributes), ArrayText(counts)});
  }
  *missing = rates.TakeMissing();
  WireWriter writer;
  writer.Section(RevealingSection::kColumns, rows);
  return writer.bytes();
}

}  // namespace privacy_score
