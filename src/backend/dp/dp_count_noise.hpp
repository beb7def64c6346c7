/*
 * dp_count_noise.hpp - the noise of counts that a budget pays for: its law, and adding it.
 *
 * A unit of protection changes the counts of an answer by max_rows_per_unit in all, so each of them has a discrete
 * Laplace law of scale max_rows_per_unit/epsilon.
 */
#pragma once

#include "backend/dp/dp_budget.hpp"
#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

// The law of each count; `epsilon` is what the count may use of the question's. For CallCore: throws Error 22023 when
// there is no noise of that scale.
privacy_score::DiscreteLaplace CountLaw(const Budget* budget, const privacy_score::Rational& epsilon);
privacy_score::DiscreteLaplace CountLaw(const Question* question);

// Raises what CountLaw() throws.
void RequireCountLaw(const Question* question);

// Replaces exact counts by noisy ones.
void AddCountNoise(const Question* question, int64* counts, uint64 count);

// For ReadRelation(): the only field of the only row, into an int64.
void TakeCount(void* count);

}  // namespace privacy_score
