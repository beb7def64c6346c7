/*
 * security_labels.hpp - the labels of columns and roles: SECURITY LABEL FOR privacy_score.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
}

namespace privacy_score {

// Called from _PG_init.
void RegisterLabels();

// The label of a column, palloc'd; null when it has none.
const char* ColumnLabel(Oid relation, AttrNumber column);

}  // namespace privacy_score
