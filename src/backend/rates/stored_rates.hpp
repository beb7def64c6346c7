/*
 * stored_rates.hpp - computing the rates that scoring wants, and keeping them in the table of rates.
 *
 * Wanted sets are computed relation by relation, all sets of one relation from one pass over its rows (partitions.hpp).
 * A relation is read as its owner in a restricted context. With each rate goes what its relations were like just before
 * they were read, by which the view rate_state tells when it is out of date.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/pg_list.h"
}

#include <vector>

#include "core/scoring/model.hpp"

namespace privacy_score {

// A wanted set, as core names it (privacy_score::MissingRate).
struct WantedRate {
  const char* relation;
  const char* attributes;
  bool is_stale;  // stored, and out of date
};

// Whether an error of computing rates came of what somebody else was doing, so that another try may succeed.
bool WasDisturbed(const ErrorData* error);

// The wanted sets of a list of core's, palloc'd; the texts belong to the list.
WantedRate* WantedFrom(const std::vector<privacy_score::MissingRate>* missing);

// Puts them in order, by relation.
void SortWanted(WantedRate* wanted, int count);

// Rates that were computed or looked up, each with H(X), as four text[] literals for the model (see model_wire.hpp).
struct ComputedRates {
  StringInfoData relations, attributes, rates, entropies;  // array literals under construction
  int count;
  List* faulty;  // names of relations that the caller was warned of
};
void InitComputedRates(ComputedRates* computed);
void AppendComputed(ComputedRates* computed, const char* relation, const char* attributes, double rate,
                    double subject_entropy);

// Computes the wanted rates, appends them to `computed`, and stores them unless the transaction is read-only. Sets that
// no longer exist are skipped. Raises the first fault. `wanted` is put in order.
void ComputeRates(ComputedRates* computed, WantedRate* wanted, int count);

// Takes in that a wanted rate could not be computed.
using RateFault = void (*)(void* context, const WantedRate* wanted, const ErrorData* error);

// The same, but a set that cannot be computed (a relation that may not be read, a column whose type raises) fails alone
// and is told to `on_fault`; when a relation is locked, all of its sets are. Raises a cancel.
void ComputeRatesApart(ComputedRates* computed, WantedRate* wanted, int count, RateFault on_fault, void* context);

// The same with a WARNING to the caller, one a relation. Raises 55P03: the caller has said how long to wait for a lock.
// While a plan runs in parallel the first fault is raised.
void ComputeRatesOrWarn(ComputedRates* computed, WantedRate* wanted, int count);

}  // namespace privacy_score
