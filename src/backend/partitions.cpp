/*
 * partitions.cpp - see partitions.hpp.
 */
#include "partitions.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/typcache.h"
}

#include "core/entropy.hpp"
#include "core_call.hpp"
#include "internal.hpp"
#include "live.hpp"
#include "watching.hpp"

namespace {

// What GROUP BY takes for a column: itself, or its text where its type cannot be grouped. The text is what the type's
// own output function gives, never a cast, which may run somebody's code.
void AppendGroupingColumn(StringInfo sql, Oid relation, AttrNumber attribute) {
  const char* name = quote_identifier(get_attname(relation, attribute, false));
  const TypeCacheEntry* type =
      lookup_type_cache(get_atttype(relation, attribute), TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_HASH_PROC);
  if (OidIsValid(type->eq_opr) && (OidIsValid(type->lt_opr) || OidIsValid(type->hash_proc)))
    appendStringInfoString(sql, name);
  else
    appendStringInfo(sql, "CASE WHEN pg_catalog.num_nulls(%s) = 0 THEN pg_catalog.concat(%s) END", name, name);
}

char* ClassSizesSql(Oid relation, const Bitmapset* attributes) {
  StringInfoData sql;
  initStringInfo(&sql);
  appendStringInfo(&sql, "SELECT c, pg_catalog.count(*) FROM (SELECT pg_catalog.count(*) AS c FROM %s",
                   CanonicalRelationName(relation));
  int attribute = -1;
  const char* separator = " GROUP BY ";
  while ((attribute = bms_next_member(attributes, attribute)) >= 0) {
    appendStringInfoString(&sql, separator);
    AppendGroupingColumn(&sql, relation, static_cast<AttrNumber>(attribute));
    separator = ", ";
  }
  appendStringInfoString(&sql, ") s WHERE c > 0 GROUP BY c");
  return sql.data;
}

int64 FieldNumber(const SPITupleTable* table, uint64 row, int column) {
  bool null;
  return DatumGetInt64(SPI_getbinval(table->vals[row], table->tupdesc, column, &null));
}

PartitionFacts GroupedPartition(Oid relation, const Bitmapset* attributes) {
  // Views and policies run code that is not ours: then this is a statement of the caller like any other.
  const bool ours =
      get_rel_relkind(relation) != RELKIND_VIEW && check_enable_rls(relation, InvalidOid, true) != RLS_ENABLED;
  const bool uncounted = ours && BeginUncounted();
  if (SPI_execute(ClassSizesSql(relation, attributes), true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not count the classes of a relation");
  if (ours) EndUncounted(uncounted);
  const SPITupleTable* table = SPI_tuptable;
  const uint64 count = table->numvals;
  auto* sizes = static_cast<int64*>(palloc(sizeof(int64) * 2 * (count + 1)));
  for (uint64 row = 0; row < count; ++row)
    for (int column = 0; column < 2; ++column) sizes[2 * row + column] = FieldNumber(table, row, column + 1);
  SPI_freetuptable(SPI_tuptable);
  PartitionFacts facts = {};
  for (uint64 row = 0; row < count; ++row) {
    facts.rows += sizes[2 * row] * sizes[2 * row + 1];
    facts.classes += sizes[2 * row + 1];
    if (sizes[2 * row] == 1) facts.uniques += sizes[2 * row + 1];
  }
  CallCoreOrRaise([&] {
    privacy_score::ClassSizes classes;
    for (uint64 row = 0; row < count; ++row) classes.push_back({sizes[2 * row], sizes[2 * row + 1]});
    facts.entropy = privacy_score::Entropy(classes);
  });
  pfree(sizes);
  return facts;
}

}  // namespace

void PartitionsOf(Oid relation, const Bitmapset* const* sets, int count, PartitionFacts* facts) {
  JudgeRead(relation);
  for (int i = 0; i < count; ++i) facts[i] = GroupedPartition(relation, sets[i]);
}
