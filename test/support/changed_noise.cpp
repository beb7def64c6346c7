/*
 * changed_noise.cpp - noise that tests can do without: the module of build/test draws by this.
 *
 * PS_CHANGED_NOISE in the environment of the server: "none" draws 0, "more" draws for 1.1 times the epsilon that is
 * declared; without it draws are those of the law.
 */
#include <cstdlib>
#include <cstring>

#include "core/noise/discrete_laplace.hpp"

namespace privacy_score {

// The member function itself, which the Makefile renames.
extern "C" std::int64_t privacy_score_true_draw(const DiscreteLaplace* law, RandomSource& random);

std::int64_t DiscreteLaplace::Draw(RandomSource& random) const {
  static const char* const changed = std::getenv("PS_CHANGED_NOISE");
  if (changed == nullptr) return privacy_score_true_draw(this, random);
  if (std::strcmp(changed, "none") == 0) return 0;
  const DiscreteLaplace law(scale_ / Rational(11, 10));
  return privacy_score_true_draw(&law, random);
}

}  // namespace privacy_score
