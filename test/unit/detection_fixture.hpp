/*
 * detection_fixture.hpp - small worlds of roles, abstractions and sessions for the tests of detection.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/detection/calibrator.hpp"

namespace privacy_score::testing_support {

// The calibration of sessions, made without a pause.
inline Calibration Calibrated(std::vector<BaselineSession> sessions, const TokenMap& tokens, double expected_novelty) {
  Calibrator calibrator(std::move(sessions), tokens, expected_novelty);
  EXPECT_TRUE(calibrator.Run({}));
  return calibrator.calibration();
}

struct DetectionWorld {
  TokenMap tokens;
  std::vector<BaselineSession> sessions;
};

// How large a world is.
struct WorldSize {
  int roles = 3;
  int abstractions = 12;
  int tokens = 9;
  int sessions = 20;
  int days = 4;
};

// The token with a number: of each kind some.
inline std::string TokenOf(int number) {
  const std::string name = std::to_string(number);
  switch (number % 5) {
    case 2:
      return "w:t.c" + name;
    case 3:
      return "f:avg(t.c" + name + ')';
    case 4:
      return "t:t" + name;
    default:
      return "p:t.c" + name;
  }
}

// What counts of an abstraction, by definition: its tokens, and where it shows columns under no condition, that it
// reads each of its relations in whole.
inline std::vector<std::string> PlainCounted(const Tokens& tokens) {
  std::vector<std::string> counted(tokens.begin(), tokens.end());
  const auto any = [&](const char* kind) {
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const std::string& token) { return token.compare(0, 2, kind) == 0; });
  };
  for (const std::string& token : tokens)
    if (any("p:") && !any("w:") && !any("f:") && token.compare(0, 2, "t:") == 0)
      counted.push_back("whole:" + token.substr(2));
  return counted;
}

inline Tokens RandomTokens(std::mt19937_64& random, int tokens) {
  Tokens list;
  for (int token = 0; token < tokens; ++token)
    if (random() % 3 == 0) list.push_back(TokenOf(token));
  if (list.empty()) list.emplace_back("cmd:select");
  std::sort(list.begin(), list.end());
  return list;
}

inline DetectionWorld RandomWorld(std::mt19937_64& random, const WorldSize& size) {
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); };
  DetectionWorld world;
  for (int id = 1; id <= size.abstractions; ++id) world.tokens[id * 1000003] = RandomTokens(random, size.tokens);
  for (int i = 0; i < size.sessions; ++i) {
    BaselineSession session;
    const int role = below(size.roles);
    session.role = "role" + std::to_string(role);
    session.principal = session.role + (below(2) == 0 ? "/anna" : "/bert");
    session.day = 100 + below(size.days);
    session.begin = session.day * 1000 + below(900);
    for (int left = below(7); left > 0; --left)
      session.abstractions.push_back((1 + below(size.abstractions)) * std::int64_t{1000003});
    if (below(3) > 0)
      for (std::size_t k = 0; k < session.abstractions.size(); ++k)
        session.executions.push_back(1 + below(below(4) == 0 ? 30 : 3));
    for (const Figure figure : kFigures)
      if (below(6) > 0) session.figures[figure] = below(5) == 0 ? below(40) : below(3);
    world.sessions.push_back(session);
  }
  return world;
}

}  // namespace privacy_score::testing_support
