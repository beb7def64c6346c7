/*
 * sanitizers.hpp - whether the tests run under AddressSanitizer, which is slow: fewer random instances then.
 */
#pragma once

namespace testing_support {

// Clang tells it as a feature, g++ by a macro.
#if defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace testing_support
