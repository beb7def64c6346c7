/*
 * private_rows.hpp - noisy rows: measuring them, and their text in the ledger.
 *
 * The text of an answer begins with a line for each aggregate, which says how it was measured: `#`, how much of a
 * person counts, the share that this leaves out, and the half-width of the noise, 0 for an average. A line for each row
 * follows, with a field for each key and each aggregate, of an average one more with its half-width: `-` for NULL, else
 * the number of bytes, a colon, and the value as its type's output function writes it.
 */
#pragma once

#include "backend/private_sql/private_answer.hpp"
#include "backend/private_sql/private_reading.hpp"

namespace privacy_score {

// Adds a field to a row.
void AppendRowField(std::string* row, const char* value);

// Measures what a level asks for, with noise, and writes the answer. `references` is their text; null: none.
const char* MeasuredText(const PrivateLevel* level, const Question* question, PersonRows* rows, const char* references);

// Reads an answer.
NoisyRows* RowsOfText(const PrivateLevel* level, const char* text);

}  // namespace privacy_score
