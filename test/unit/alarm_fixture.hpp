/*
 * alarm_fixture.hpp - a small calibrated role: sixty sessions over thirty statements.
 */
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/detection/calibration_bytes.hpp"
#include "core/detection/calibrator.hpp"
#include "core/detection/role_alarm.hpp"

namespace privacy_score::testing_support {

// The tokens of statement `id`: from 40 on of columns that no session of the baseline has asked for.
inline Tokens StatementTokens(AbstractionId id) {
  const std::string column = (id < 40 ? "known.c" : "new.c") + std::to_string(id % 10);
  return {"cmd:select", "p:" + column, id < 40 ? "t:known" : "t:new", "w:" + std::to_string(id / 10)};
}

inline Calibration SmallCalibration() {
  std::mt19937 random(3);
  std::vector<BaselineSession> sessions(60);
  TokenMap tokens;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    BaselineSession& session = sessions[i];
    session.role = session.principal = "clerk";
    session.begin = static_cast<std::int64_t>(i);
    session.day = static_cast<std::int32_t>(i / 4);
    for (int left = 3; left > 0; --left) session.abstractions.push_back(1 + random() % 30);
    for (const AbstractionId id : session.abstractions) tokens[id] = StatementTokens(id);
    session.figures[Figure::kAddressed] = 1 + random() % 4;
    session.figures[Figure::kPerson] = 1 + random() % 4;
    session.figures[Figure::kKnown] = 1 + random() % 4;
    session.figures[Figure::kRepeats] = 1 + random() % 4;
    session.figures[Figure::kVolume] = 0;
    std::sort(session.abstractions.begin(), session.abstractions.end());
    session.abstractions.erase(std::unique(session.abstractions.begin(), session.abstractions.end()),
                               session.abstractions.end());
  }
  Calibrator calibrator(std::move(sessions), tokens, 0.1);
  EXPECT_TRUE(calibrator.Run({}));
  return calibrator.calibration();
}

// The section of the baseline of that role.
inline std::vector<std::vector<std::optional<std::string>>> TokenRows(AbstractionId from, AbstractionId to) {
  std::vector<std::vector<std::optional<std::string>>> rows;
  for (AbstractionId id = from; id <= to; ++id)
    for (const std::string& token : StatementTokens(id)) rows.push_back({std::to_string(id), token});
  return rows;
}

inline std::unique_ptr<RoleAlarm> SmallAlarm() {
  WireWriter wire;
  wire.Section(2, TokenRows(1, 30));
  WireReader reader(wire.bytes());
  return std::make_unique<RoleAlarm>(*ReadRoleCalibration(WriteCalibration(SmallCalibration()), "clerk"), reader);
}

}  // namespace privacy_score::testing_support
