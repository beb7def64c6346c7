/*
 * collate_clause.hpp - a collation in SQL text.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// " COLLATE name", the name qualified, as the text may run with another search_path; palloc'd.
const char* CollateSql(Oid collation);

}  // namespace privacy_score
