/*
 * array_elements.hpp - arrays of the server as their elements, whatever the type.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "utils/array.h"
#include "utils/lsyscache.h"
}

namespace privacy_score {

struct ElementList {
  int count;
  Datum* values;
  bool* nulls;
};

// The elements of an array, of all dimensions one after the other.
inline ElementList ElementsOf(ArrayType* array) {
  int16 length;
  bool by_value;
  char align;
  get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
  ElementList list;
  deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &list.values, &list.nulls, &list.count);
  return list;
}

// An array of one dimension. `nulls` may be null: none is.
inline ArrayType* ArrayOf(Oid type, Datum* values, bool* nulls, int count) {
  int16 length;
  bool by_value;
  char align;
  get_typlenbyvalalign(type, &length, &by_value, &align);
  int lower_bound = 1;
  return construct_md_array(values, nulls, 1, &count, &lower_bound, type, length, by_value, align);
}

}  // namespace privacy_score
