/*
 * baseline_contents.cpp - see baseline_contents.hpp.
 */
#include "core/scoring/baseline_contents.hpp"

#include "core/base/sort_unique.hpp"

namespace privacy_score {

void BaselineContents::Add(const Sequence& sequence) {
  if (sequence.empty()) return;
  ++sessions;
  ForEachNGram(sequence, [&](const NGram& ngram, std::int64_t count, std::int64_t) { ngrams[ngram] += count; });
  std::vector<AbstractionId> ids;
  for (const Run& run : sequence)
    if (run.count != kContext) ids.push_back(run.id);
  SortUnique(ids);
  ++session_sets[ids];
}

}  // namespace privacy_score
