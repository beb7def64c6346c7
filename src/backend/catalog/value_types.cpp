/*
 * value_types.cpp - see value_types.hpp.
 */
#include "backend/catalog/value_types.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/typcache.h"
}

namespace privacy_score {

void RequireOrder(Oid type, const char* column) {
  if (OidIsValid(lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc)) return;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("column \"%s\" is of type %s, whose values have no order", column, format_type_be(type)),
                  errhint("Leave it out, or read a view that casts it to a type that has one, such as text.")));
}

bool IsIntegerType(Oid type) { return type == INT2OID || type == INT4OID || type == INT8OID; }

bool IsNumberType(Oid type) {
  return IsIntegerType(type) || type == NUMERICOID || type == FLOAT4OID || type == FLOAT8OID;
}

}  // namespace privacy_score
