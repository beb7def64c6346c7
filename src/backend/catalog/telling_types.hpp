/*
 * telling_types.hpp - types whose values cannot be made, shown as JSON or compared without code that may tell them.
 *
 * A cast of a text to a composite type, or a function that fills a record, runs the checks of the domains in it; the
 * constructor of a range compares its bounds; functions of the server that make JSON call somebody's cast to json. No
 * function that does so stands in the query, so side_effect_functions.hpp asks for the types. What tells is what that
 * file says it of.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Whether making a value of a type may run a function that tells.
bool MakingTells(Oid type);

// Whether turning one into JSON may.
bool JsonTells(Oid type);

// Whether sorting or grouping values of a type may, by what compares them when nobody says otherwise.
bool ComparingTells(Oid type);

// Whether the checks of a domain, and of those that it is made over, run such a function.
bool ChecksTell(Oid domain);

}  // namespace privacy_score
