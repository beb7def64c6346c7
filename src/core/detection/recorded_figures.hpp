/*
 * recorded_figures.hpp - the figures of recorded sessions, and how unusual each is.
 */
#pragma once

#include <string_view>

#include "core/base/paused.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

// One row a session of a role, in the order given: day, session, end_user, the figures in their order (figures.hpp),
// unusual (the combined number), figure (that has it), reason (in words), threshold for the alarm rate, calibrated_on,
// extrapolated. `calibration` are the bytes of one; where it has nothing of the
// role, or is empty, what depends on it is NULL.
//
// Input is one wire buffer:
//   the baseline's abstractions (id, token), one row a token; the sessions' likewise;
//   those of the sessions' that the baseline of any role has (id);
//   what is accepted of the role, in the two sections of AcceptedOfRole;
//   sessions (session_key, day, session, end_user, ids bigint[], runs bigint[], addressed, person, most_rows,
//   known)
// Rows of the same session_key that follow each other are parts of one session.
//
// Throws Paused when `gives_up` says so, which is asked at each row, Error XX001 on damaged bytes and 22023 unless
// alarm_rate is in (0,1).
ResultTable RecordedFigures(std::string_view wire, std::string_view calibration, std::string_view role,
                            double alarm_rate, GivesUp gives_up = nullptr);

}  // namespace privacy_score
