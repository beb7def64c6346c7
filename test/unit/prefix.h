/*
 * prefix.h - what nearly all unit tests include, compiled once for all of them: reading it is a third of the work of
 * compiling a test. A test names what it needs all the same; no test includes this file.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
