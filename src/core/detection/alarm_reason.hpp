/*
 * alarm_reason.hpp - why a session is unusual, in words.
 *
 *   addressed 34 subjects by one statement; 99 % of this role's sessions at most 6
 */
#pragma once

#include <string>

#include "core/detection/calibration.hpp"

namespace privacy_score {

// Of the judgement's reason; empty when it has none. `figures` are those that were judged.
std::string ReasonInWords(const Judgement& judgement, const SessionFigures& figures, const RoleCalibration& role);

}  // namespace privacy_score
