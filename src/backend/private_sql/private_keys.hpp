/*
 * private_keys.hpp - groups that are public: what keys of a level may be is known without a row of persons.
 *
 * Such groups need no delta and no part of epsilon; each is shown when its noisy count says that somebody is there. A
 * key's values are known where it is a boolean or an enum; where the column has a declared domain, a CHECK with a list,
 * or a foreign key to a public relation that who asks may read; where it is made of columns of one public relation;
 * where WHERE gives a list or bounds on both sides; where it is a CASE of constants, a part of a date, a date_trunc
 * between bounds; and where it is computed from one of these. One key whose values are not known makes all groups
 * unknown.
 */
#pragma once

#include "backend/private_sql/private_level.hpp"

namespace privacy_score {

// All groups: keys of group g are values[g * columns ...], of the level's key types.
struct PublicGroups {
  int count;
  int columns;
  Datum* values;
  bool* nulls;
};

constexpr int kMostPublicGroups = 100000;

// The groups of a level whose part has its constants and rights still in it; null when they are not public, or too
// many. Reads public relations as who asks, and nothing else.
PublicGroups* FindPublicGroups(const PrivateLevel* level, ::Query* part);

}  // namespace privacy_score
