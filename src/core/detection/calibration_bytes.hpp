/*
 * calibration_bytes.hpp - a calibration as bytes, and back exactly.
 *
 * They are the same on each machine, so they may be kept in a table and travel. All that is read is checked.
 */
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/detection/calibration.hpp"

namespace privacy_score {

std::string WriteCalibration(const Calibration& calibration);

// Throws Error XX001 on damaged bytes.
Calibration ReadCalibration(std::string_view bytes);

// What Of() makes of a role of ReadCalibration(bytes); none when it has no baseline among them. The parts of other
// roles are passed over, for a backend wants one role only.
std::optional<RoleCalibration> ReadRoleCalibration(std::string_view bytes, std::string_view role);

}  // namespace privacy_score
