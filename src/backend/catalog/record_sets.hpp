/*
 * record_sets.hpp - sets of records as a jsonb argument: an array of arrays of record numbers from 1.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "fmgr.h"
}

#include "core/inference/answered_queries.hpp"

namespace privacy_score {

// As core's RecordSets, in memory of the server.
struct RecordSetList {
  int64 sets;
  int64* starts;  // sets + 1 of them
  int* records;
};

// Raises 22023 for NULL and for what is no array of arrays of whole numbers.
RecordSetList RecordSetsArgument(FunctionCallInfo fcinfo, int argument, const char* name);

// For use within CallCore.
privacy_score::RecordSets SetsOf(const RecordSetList& list);

}  // namespace privacy_score
