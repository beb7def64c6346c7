/*
 * private_functions.hpp - functions that rows of persons may be given to.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/primnodes.h"
}

namespace privacy_score {

// A mutator: puts a guard around each call that can fail on a row, so that it is NULL there.
Node* GuardCalls(Node* node, void* context);

// A mutator: sums and averages of numbers that have no greatest one leave out what is so large that they could
// overflow; and whether one does.
Node* BoundSums(Node* node, void* context);
bool IsBoundedSum(const Aggref* aggregate);

}  // namespace privacy_score
