/*
 * detection_sections.hpp - the sections that figures of sessions, and what is accepted of them, are read from.
 */
#pragma once

#include "core/base/wire_section.hpp"

namespace privacy_score {

// Ids of abstractions.
WIRE_SECTION(IdSection, kId);
WIRE_SECTION(AcceptedFigureSection, kEndUser, kFigure, kHeight);
// The statements whose novelty is accepted: a row a token.
WIRE_SECTION(AcceptedTokenSection, kEndUser, kId, kToken);
// Recorded sessions: a row a part of one.
WIRE_SECTION(RecordedSection, kId, kDay, kSession, kEndUser, kIds, kRuns, kAddressed, kPerson, kMostRows, kKnown,
             kDiffer);
// How far the sessions that an alarm is about went; the figures that made them unusual; those that stand in the alert.
WIRE_SECTION(ExtentSection, kAddressed, kPerson, kMostRows, kRepeats, kKnown, kDiffer);
WIRE_SECTION(ReasonSection, kFigure);
WIRE_SECTION(AlertFigureSection, kFigure, kValue);

}  // namespace privacy_score
