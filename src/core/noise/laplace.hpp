/*
 * laplace.hpp - Laplace noise on the reals, safe from the holes of floating point.
 *
 * The textbook sampler -b ln(U) reaches only some doubles, and which ones depends on the value it is added to: the low
 * bits of the sum betray the value [Mironov 2012, "On significance of the least significant bits"]. Here the noise is
 * exact discrete Laplace noise on a grid whose step is a power of two [Google, "Secure noise generation" 2020], so
 * every multiple of the step has exactly its probability.
 *
 * What the caller must do: round the value to a multiple of the step before adding the noise. Then the sum is exact,
 * and the guarantee is that of sensitivity + step in place of sensitivity.
 */
#pragma once

#include "core/base/random_source.hpp"

namespace privacy_score {

// The step of the grid: a power of two, from scale/2^39 to scale/2^38.
// Throws Error 22023 unless the scale is from 1e-290 to 1e290.
double LaplaceStep(double scale);

// A multiple of LaplaceStep(scale), with variance 2 scale^2 to 23 digits. Throws as LaplaceStep.
double DrawLaplace(double scale, RandomSource& random);

}  // namespace privacy_score
