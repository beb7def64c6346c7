/*
 * private_errors.hpp - dp_error(): a column with how far the answer of an aggregate may be off.
 *
 * Beside an aggregate of a level that is answered it becomes a column of the noisy rows. Outside of such levels it is
 * an ordinary function and 0, for nothing is noisy there. What is computed from answers has no half-width that is
 * known, so there it is refused rather than 0.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

bool IsErrorCall(const Node* node);

// Raises PS003.
[[noreturn]] void RefuseErrorCall(const FuncExpr* call);

// Raises PS003 where a query whose levels are split asks for the error of something that is made of answers.
void RequireKnownErrors(::Query* query);

}  // namespace privacy_score
