/*
 * security_labels.hpp - the labels of columns and roles: SECURITY LABEL FOR privacy_score.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
}

constexpr const char* kLabelProvider = "privacy_score";

// Labels of roles (RoleClass in watching.hpp), and the label of a column that anybody may know.
constexpr const char* kWatchedLabel = "watched";
constexpr const char* kExemptLabel = "exempt";
constexpr const char* kDpOnlyLabel = "dp only";
constexpr const char* kPublicLabel = "public";

// Called from _PG_init.
void RegisterLabels();

// The label of a column, palloc'd; null when it has none.
const char* ColumnLabel(Oid relation, AttrNumber column);
