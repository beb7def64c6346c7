/*
 * sanitizers.hpp - whether the tests run under AddressSanitizer, which is slow: fewer random instances then.
 *
 * The plain program of the same tests looks at all instances for what they compute. A read outside of memory or an
 * overflow shows in few of them as in many; `make test-long` runs all under the sanitizer, too.
 */
#pragma once

#include <algorithm>
#include <cstdlib>

namespace privacy_score::testing_support {

extern "C" __attribute__((weak)) void __asan_init();

// Tests are compiled once, and linked with what is instrumented and with what is not.
inline const bool kSanitized = &__asan_init != nullptr;

// So many random instances of a property are looked at, of `count` that there are.
template <typename Count>
Count Instances(Count count) {
  const bool all = !kSanitized || std::getenv("PS_LONG") != nullptr;
  return all ? count : std::max<Count>(1, count / 10);
}

}  // namespace privacy_score::testing_support
