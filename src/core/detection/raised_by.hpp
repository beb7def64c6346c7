/*
 * raised_by.hpp - what of a session has raised its alarm: that is what is accepted when somebody accepts it.
 *
 * Not the reason alone. A loop over forty subjects is unusual by what it addresses and by how often it repeats; who
 * accepts it for the one would be called again for the other.
 */
#pragma once

#include <vector>

#include "core/detection/calibration.hpp"
#include "core/detection/figures.hpp"

namespace privacy_score {

struct RaisedBy {
  bool statements = false;      // that the baseline lacks
  std::vector<Figure> heights;  // figures of how far the session went
};

// The reasons that were given, and whatever else of these figures is more unusual than `above`. `calibration` is null
// where there is none any more: then it is the reasons alone.
RaisedBy FindRaisedBy(const RoleCalibration* calibration, const SessionFigures& figures, double above,
                      const std::vector<Figure>& reasons);

}  // namespace privacy_score
