/*
 * private_allowed.hpp - what the private part of a level may hold, and making it fit to run with rights that are lent.
 *
 * The private part runs on rows of persons with the rights of their owner. What is not known to be harmless there is
 * refused: it might tell of a row by an error, by a side effect, by its size. What is known but can fail on a row is
 * called through a guard that makes NULL of the failure (guarded_call.cpp).
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

extern "C" {
#include "nodes/params.h"
}

namespace privacy_score {

// Raises PS003 unless the level's private part holds only what is allowed.
void RequireAllowedPart(const PrivateLevel* level);

// A copy of the private part to run: parameters and what is stable are constants, computed here, as who asks. Raises
// PS003 when something is not allowed after all, and what the constants' own functions raise.
::Query* PartWithConstants(const PrivateLevel* level, ParamListInfo parameters);

// Raises 42501 unless the current user may read all that the part names but the rows of persons; then takes all these
// checks out, since it runs as somebody else, and puts guards around what can fail.
void PrepareForOwner(const PrivateLevel* level, ::Query* part);

}  // namespace privacy_score
