/*
 * prefix.h - what many files of core and sqlparse include, compiled once for all of them: reading it is half the work of
 * compiling one. No file includes it; each names what it needs all the same, which clang++ checks, compiling without it.
 */
#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>
