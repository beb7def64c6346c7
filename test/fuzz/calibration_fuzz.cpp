/*
 * calibration_fuzz.cpp - a calibration's bytes as they lie in a table or in shared memory.
 *
 * Whatever they are, they are refused as damaged, or are a calibration that is whole in itself: written again it is
 * those bytes, and what it says of a session never falls while the session's figures rise.
 */
#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/detection/alarm_reason.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "targets.hpp"

namespace privacy_score::fuzz {

namespace {

void CheckAlarm(const AlarmLaw& alarm) {
  double before = 0;
  for (const double rate : {.9, .1, .01, .001, 1e-9}) {
    const AlarmThreshold threshold = alarm.Threshold(rate);
    Require(threshold.value >= before && !std::isnan(threshold.value), "rarer alarms have no lower threshold");
    Require(threshold.calibrated_on == alarm.sessions, "a threshold says what it rests on");
    Require(alarm.DripLimit(rate) >= alarm.drip.reached && alarm.NewDripLimit(rate) >= alarm.new_drip.reached,
            "no baseline drips over its limit");
    before = threshold.value;
  }
  Require(alarm.drip.After(0, 0) >= 0 && alarm.new_drip.After(0, 0) >= 0, "drips are not below 0");
}

void CheckRole(const RoleCalibration& role) {
  CheckAlarm(role.alarm);
  SessionFigures figures;
  double before = 0;
  for (const double value : {0.0, .5, 1.0, 3.0, 40.0, 1e6, 1e300}) {
    for (const Figure figure : kFigures) {
      figures[figure] = value;
      const Judgement judgement = role.Judge(figures);
      Require(judgement.combined >= before && judgement.combined <= 8, "figures that rise are not less unusual");
      Require(ReasonInWords(judgement, figures, role).empty() != judgement.reason.has_value(), "an alarm has a reason");
      before = judgement.combined;
    }
  }
}

}  // namespace

void FuzzCalibration(std::string_view input) {
  Calibration calibration;
  try {
    calibration = ReadCalibration(input);
  } catch (const Error& error) {
    Require(error.sqlstate() == "XX001", "damaged bytes are refused as such");
    return;
  }
  Require(WriteCalibration(calibration) == input, "what is read is what was written");
  CheckAlarm(calibration.alarm);
  for (const Calibration::Role& role : calibration.roles) {
    CheckRole(calibration.Of(role));
    Require(ReadRoleCalibration(input, role.name).has_value(), "a role's part is found by its name");
  }
}

}  // namespace privacy_score::fuzz
