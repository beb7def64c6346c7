/*
 * private_canonical.hpp - what tells the question of a level from others.
 */
#pragma once

#include "backend/private_sql/private_keys.hpp"

namespace privacy_score {

// All that the answer depends on but epsilon and delta: the private part as it runs, without names and places in the
// text, with the conditions of each AND in one order; the aggregates; how many rows of a person count, where that is
// said; the groups, where these are public; and, where the part reads times or formats them, the settings it does that
// by. Holds constants. Equal texts have equal answers; a restored database or another version of the server may write
// the same question otherwise, which is then asked anew.
const char* CanonicalLevel(const PrivateLevel* level, const ::Query* part, const PublicGroups* groups);

// For people, without constants.
const char* ShapeOf(const PrivateLevel* level);

}  // namespace privacy_score
