/*
 * perturbed_values.hpp - the values of a column with binomial noise [Alfalayleh, Brankovic, section 5].
 *
 * The distinct values are numbered from 1 in ascending order, and a record's number gets the noise Binomial(M, 1/2) -
 * M/2. Of a column of numbers the value of the number that comes out is published; beyond the least and greatest value
 * go on values at the distance that is the median of those between neighbours, so that every number still has one
 * value, which a domain of equal steps continues. Of any other column the number itself is published. NULL stays NULL.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "catalog/pg_attribute.h"
}

#include "backend/rows/value_list.hpp"

namespace privacy_score {

struct PerturbedColumn {
  const char* name;
  Oid shown_type;  // of what is published: bigint of integers and of what is no number
  bool of_numbers;
  ValueList* values;
  Oid collation;
  int64 domain_size;  // distinct values but NULL
  int64 max_noise;    // M
  int64* places;      // by number in the list: place in ascending order, from 0
  Datum* shown;       // of a column of numbers, from -M/2 on: what is published of a place
};

// For the values of a column that is to be read. Raises 42883 when its type has no equality or no order.
PerturbedColumn* NewPerturbedColumn(const FormData_pg_attribute* column);

// Once all values are in the list: orders them. Raises 22023 for a number that is not finite, 22003 when a value with
// noise would not fit into its type.
void OrderPerturbed(PerturbedColumn* column, double percent);

// What is published of a value, by its number in the list.
Datum Perturb(const PerturbedColumn* column, int64 number);

}  // namespace privacy_score
