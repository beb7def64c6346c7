/*
 * coded_pass.hpp - one pass over what a statement yields, as dictionary codes in memory.
 *
 * Rows go from the executor straight into the dictionaries of their columns and, in blocks of codes, into core. What is
 * kept of them stays below maintenance_work_mem: the distinct values of each column once, with 16 to 64 bytes beside
 * each, and the distinct tuples (core/coded_rows.hpp). Interrupts are taken between rows.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {
class CodedRows;
}

// How heavy a column was.
struct ColumnWeight {
  int64 values;  // distinct ones that were met
  bool fills;    // the dictionary takes more than half of the memory by itself
};

// What is kept in memory at most, in bytes.
Size PassMemory();

// Runs a statement that yields `columns` columns, of types that can be grouped, and with `weighted` a last one that
// says how many rows each stands for (0 for none). The rows live in `context`, the dictionaries are gone; null when
// they did not fit into memory. Fills in a weight a column, of what was met until then. Shows its progress in rows out
// of `expected`, 0 where that is not known. SPI must be connected.
privacy_score::CodedRows* ReadCoded(MemoryContext context, const char* sql, int columns, bool weighted, uint64 expected,
                                    ColumnWeight* weights);
