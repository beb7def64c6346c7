/*
 * raised_by.cpp - see raised_by.hpp.
 */
#include "core/detection/raised_by.hpp"

#include <algorithm>
#include <cstddef>

namespace privacy_score {

RaisedBy FindRaisedBy(const RoleCalibration* calibration, const SessionFigures& figures, double above,
                      const std::vector<Figure>& reasons) {
  Judgement judgement;
  if (calibration != nullptr) judgement = calibration->Judge(figures);
  RaisedBy raised;
  for (const Figure figure : kFigures) {
    if (!figures[figure]) continue;
    const bool is_reason = std::find(reasons.begin(), reasons.end(), figure) != reasons.end();
    if (!is_reason && !(judgement.unusual[static_cast<std::size_t>(figure)] > above)) continue;
    if (IsNovelty(figure))
      raised.statements = true;
    else
      raised.heights.push_back(figure);
  }
  return raised;
}

}  // namespace privacy_score
