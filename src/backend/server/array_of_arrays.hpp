/*
 * array_of_arrays.hpp - walking a jsonb argument that is an array of arrays of strings, or of numbers.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "miscadmin.h"
#include "utils/jsonb.h"
}

namespace privacy_score {

// Calls `take` with each element of the inner arrays, whose elements must be of `type`, and `end` at the end of each of
// them. Calls `refuse`, which raises, for anything else. All three may raise, and so own nothing.
template <typename Take, typename End, typename Refuse>
void WalkArrays(Jsonb* arrays, enum jbvType type, Take take, End end, Refuse refuse) {
  if (!JB_ROOT_IS_ARRAY(arrays) || JB_ROOT_IS_SCALAR(arrays)) refuse();
  JsonbIterator* iterator = JsonbIteratorInit(&arrays->root);
  JsonbValue value;
  int depth = 0;
  for (JsonbIteratorToken token; (token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE;) {
    switch (token) {
      case WJB_BEGIN_ARRAY:
        if (++depth > 2) refuse();
        break;
      case WJB_END_ARRAY:
        if (depth-- == 2) end();
        CHECK_FOR_INTERRUPTS();
        break;
      case WJB_ELEM:
        if (depth != 2 || value.type != type) refuse();
        take(value);
        break;
      default:
        refuse();
    }
  }
}

}  // namespace privacy_score
