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

namespace testing_support {

using namespace privacy_score;

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

inline Tokens RandomTokens(std::mt19937_64& random, int tokens) {
  Tokens list;
  for (int token = 0; token < tokens; ++token)
    if (random() % 3 == 0) list.push_back("p:t.c" + std::to_string(token));
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
    for (const Figure figure : kFigures)
      if (below(6) > 0) session.figures[figure] = below(5) == 0 ? below(40) : below(3);
    world.sessions.push_back(session);
  }
  return world;
}

}  // namespace testing_support
