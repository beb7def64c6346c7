/*
 * relation_rates.cpp - see relation_rates.hpp.
 */
#include "backend/rates/relation_rates.hpp"

extern "C" {
#include "nodes/bitmapset.h"
}

#include <cmath>

#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "core/entropy/entropy.hpp"

namespace privacy_score {

void RelationRates(Oid relation, const Bitmapset* const* attributes, int count, const Bitmapset* target, double* rates,
                   SubjectFacts* subject, PartitionFacts* partitions) {
  // The partitions by each set, then those by each set with the target, then that by the target.
  const bool by_row = bms_is_empty(target);
  const int wanted = by_row ? count : 2 * count + 1;
  auto** sets = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(wanted)));
  auto* facts = static_cast<PartitionFacts*>(palloc(sizeof(PartitionFacts) * static_cast<Size>(wanted)));
  for (int i = 0; i < count; ++i) {
    sets[i] = attributes[i];
    if (!by_row) sets[count + i] = bms_union(attributes[i], target);
  }
  if (!by_row) sets[2 * count] = target;
  PartitionsOf(relation, sets, wanted, facts);
  const int64 total = facts[0].rows;
  if (partitions != nullptr) memcpy(partitions, facts, sizeof(PartitionFacts) * static_cast<Size>(count));
  const double h_row = total > 0 ? std::log2(static_cast<double>(total)) : 0;
  const double h_x = by_row ? h_row : facts[2 * count].entropy;
  if (subject != nullptr) *subject = {total, h_x};
  CallCoreOrRaise([&] {
    for (int i = 0; i < count; ++i) {
      const double h_xy = by_row ? h_row : facts[count + i].entropy;
      rates[i] = bms_is_empty(attributes[i]) ? 0 : privacy_score::DiscriminationRate(h_x, h_xy, facts[i].entropy);
    }
  });
  pfree(sets);
  pfree(facts);
}

double RelationRate(Oid relation, const Bitmapset* attributes, const Bitmapset* target) {
  double rate;
  RelationRates(relation, &attributes, 1, target, &rate, nullptr);
  return rate;
}

}  // namespace privacy_score
