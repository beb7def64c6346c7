/*
 * coded_pass.hpp - one pass over what a statement yields, as dictionary codes in memory.
 *
 * Rows go from the executor straight into the dictionaries of their columns and, in blocks of codes, into core or into
 * counters of the single values. What is kept of them stays below maintenance_work_mem: the distinct values of each
 * column once, with 4 to 64 bytes beside each, and the distinct tuples (core/entropy/coded_rows.hpp) or 8 bytes a
 * value. Interrupts are taken between rows.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

class CodedRows;

// How heavy a column was.
struct ColumnWeight {
  int64 values;  // distinct ones that were met
  bool fills;    // the dictionary takes more than half of the memory by itself
};

// What is kept in memory at most, in bytes.
Size PassMemory();

// A statement to be read, and what is known of it.
struct PassInput {
  const char* sql;
  int columns;      // that it yields, of types that can be grouped
  bool weighted;    // and a last one that says how many rows each stands for (0: none)
  uint64 expected;  // rows, 0 where that is not known
};

// Runs the statement and keeps its rows. They live in `context`; null when they did not fit into memory. Fills in a
// weight a column, of what was met until then. SPI must be connected.
privacy_score::CodedRows* ReadCoded(MemoryContext context, const PassInput& input, ColumnWeight* weights);

// How often each value of a column occurs: `values` counts.
struct ValueCounts {
  const int64* counts;
  int64 values;
};

// The same for each column by itself: fills in the counts of the values of each, which live in `context`, and the
// number of rows. False when they did not fit into memory.
bool ReadValueCounts(MemoryContext context, const PassInput& input, ColumnWeight* weights, ValueCounts* columns,
                     int64* rows);

}  // namespace privacy_score
