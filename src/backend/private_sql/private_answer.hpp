/*
 * private_answer.hpp - asking a level: who pays, whether it was answered before, the answer.
 *
 * The order is that of the dp functions (dp_budget.hpp): what depends on text, parameters and catalogs; the held
 * answer; the debit, durable; only then the first row. A level's question is its private part with constants, its
 * aggregates, epsilon and delta; HAVING, ORDER BY, LIMIT, windows and all that is made of the columns are outside, and
 * free.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

extern "C" {
#include "datatype/timestamp.h"
#include "nodes/params.h"
}

namespace privacy_score {

// How an aggregate was measured, in units of its values; of an average, of its sum.
struct ColumnLaw {
  double bound;       // how much of what one person adds counts
  double left_out;    // the share of everything that this is estimated to leave out; NaN: nothing estimates it
  double half_width;  // of the noise, at 95 %; of averages the greatest of all rows, maybe infinity
};

// The rows of an answer: values of row r are values[r * columns ...].
struct NoisyRows {
  int count;
  int columns;
  Datum* values;
  bool* nulls;
  ColumnLaw* laws;  // by measure
};

// What a level was answered, and what it has cost.
struct PrivateAnswer {
  const PrivateLevel* level;
  NoisyRows* rows;
  bool repeated;
  TimestampTz answered_at;  // when it was charged
  const char* epsilon;      // of the question, whether it was spent now or before
  const char* delta;        // likewise; null: none
  const char* once;         // what the first question of this shape has cost beside; null: nothing
  const char* epsilon_left;
  const double* shares;  // by measure: the part of epsilon that its noise was drawn with
};

// Asks the levels of one statement, and pays; a list of PrivateAnswer, in their order. In the current memory context.
// Raises PS001 without a budget, PS002 when it is exhausted, PS003, 22023, 42501, 25006; PS004 for whatever goes wrong
// once rows may have been read, which is charged.
List* AskPrivately(const List* levels, ParamListInfo parameters);

constexpr int kUnknownGroups = -1;

// What asking would cost; nothing is spent. Where asking is refused before it is paid, so is this.
struct PrivateCost {
  bool repeated;
  TimestampTz held_since;  // where it is repeated
  const char* epsilon;
  const char* delta;  // null: none
  const char* once;   // what the first question of this shape costs beside; null: nothing
  const char* epsilon_left;
  int groups;  // that are public; 0: without keys, or kUnknownGroups
  const double* shares;
};
PrivateCost CostOfLevel(const PrivateLevel* level, ParamListInfo parameters);

}  // namespace privacy_score
