/*
 * collate_clause.cpp - see collate_clause.hpp.
 */
#include "backend/server/collate_clause.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace privacy_score {

const char* CollateSql(Oid collation) {
  HeapTuple tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for collation %u", collation);
  const auto* form = reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple));
  const char* clause = psprintf(
      " COLLATE %s", quote_qualified_identifier(get_namespace_name(form->collnamespace), NameStr(form->collname)));
  ReleaseSysCache(tuple);
  return clause;
}

}  // namespace privacy_score
