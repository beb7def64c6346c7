/*
 * relation_rates.cpp - see relation_rates.hpp.
 */
#include "relation_rates.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"
}

#include <cmath>

#include "core/entropy.hpp"
#include "core_call.hpp"
#include "guarded.hpp"
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

// Splits "a \x01 b" and returns the attribute numbers; false when one of them is gone.
bool ParseAttributes(Oid relation, const char* relation_name, const char* attributes, Bitmapset** set) {
  *set = nullptr;
  const Size prefix = strlen(relation_name) + 1;
  char* text = pstrdup(attributes);
  for (char* next; text != nullptr; text = next) {
    next = strchr(text, '\x01');
    if (next != nullptr) *next++ = '\0';
    if (strlen(text) <= prefix || strncmp(text, relation_name, prefix - 1) != 0) return false;
    List* parts = nullptr;
    if (!SplitIdentifierString(text + prefix, '.', &parts) || list_length(parts) != 1) return false;
    const AttrNumber number = get_attnum(relation, static_cast<char*>(linitial(parts)));
    if (number <= 0) return false;
    *set = bms_add_member(*set, number);
  }
  return true;
}

void AppendElement(StringInfo array, const char* text) {
  appendStringInfoString(array, array->len == 1 ? "\"" : ",\"");
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c == '"' || *c == '\\') appendStringInfoChar(array, '\\');
    appendStringInfoChar(array, *c);
  }
  appendStringInfoChar(array, '"');
}

void StoreRate(Oid relation, const char* name, const char* attributes, const Bitmapset* subject, double rate,
               int64 rows) {
  StringInfoData columns;
  initStringInfo(&columns);
  for (int attribute = -1; (attribute = bms_next_member(subject, attribute)) >= 0;)
    appendStringInfo(&columns, "%s%s", columns.len > 0 ? "," : "",
                     quote_identifier(get_attname(relation, static_cast<AttrNumber>(attribute), false)));
  const char* args[] = {
      name, attributes, columns.data, psprintf("%.17g", rate), psprintf(INT64_FORMAT, rows), TextOfOid(relation)};
  RunInternal(
      "INSERT INTO privacy_score.rate (relation_name, attributes, subject, rate, rows, modifications) "
      "VALUES ($1, pg_catalog.string_to_array($2, pg_catalog.chr(1)), $3, $4::pg_catalog.float8, "
      "$5::pg_catalog.int8, pg_catalog.pg_stat_get_tuples_inserted($6::pg_catalog.oid) + "
      "pg_catalog.pg_stat_get_tuples_updated($6::pg_catalog.oid) + "
      "pg_catalog.pg_stat_get_tuples_deleted($6::pg_catalog.oid)) "
      "ON CONFLICT (relation_name, attributes) DO UPDATE SET subject = EXCLUDED.subject, rate = EXCLUDED.rate, "
      "rows = EXCLUDED.rows, modifications = EXCLUDED.modifications, computed_at = pg_catalog.now()",
      6, args);
}

}  // namespace

PartitionFacts PartitionOf(Oid relation, const Bitmapset* attributes) {
  JudgeRead(relation);
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

double RelationRate(Oid relation, const Bitmapset* attributes, const Bitmapset* target, int64* rows) {
  const PartitionFacts by_attributes = PartitionOf(relation, attributes);
  if (rows != nullptr) *rows = by_attributes.rows;
  if (bms_is_empty(attributes)) return 0;
  double h_x = by_attributes.rows > 0 ? std::log2(static_cast<double>(by_attributes.rows)) : 0;
  double h_xy = h_x;
  if (!bms_is_empty(target)) {
    h_x = PartitionOf(relation, target).entropy;
    h_xy = bms_is_subset(attributes, target) ? h_x : PartitionOf(relation, bms_union(attributes, target)).entropy;
  }
  double rate = 0;
  CallCoreOrRaise([&] { rate = privacy_score::DiscriminationRate(h_x, h_xy, by_attributes.entropy); });
  return rate;
}

Bitmapset* SubjectOf(Oid relation) {
  InternalScope scope;
  EnterInternal(&scope);
  const char* args[] = {TextOfOid(relation)};
  const char* text = InternalValue(
      "SELECT pg_catalog.array_to_string(privacy_score.subject_attributes($1::pg_catalog.oid), ',')", 1, args);
  LeaveInternal(&scope);
  Bitmapset* subject = nullptr;
  while (text != nullptr && *text != '\0') {
    char* end;
    subject = bms_add_member(subject, static_cast<int>(strtol(text, &end, 10)));
    text = *end == ',' ? end + 1 : end;
  }
  return subject;
}

void InitComputedRates(ComputedRates* computed) {
  computed->count = 0;
  for (StringInfo array : {&computed->relations, &computed->attributes, &computed->rates}) {
    initStringInfo(array);
    appendStringInfoChar(array, '{');
  }
}

void ComputeMissingRate(ComputedRates* computed, const char* relation_name, const char* attributes) {
  List* names = stringToQualifiedNameList(relation_name);
  const Oid relation = RangeVarGetRelid(makeRangeVarFromNameList(names), NoLock, true);
  Bitmapset* set;
  if (!OidIsValid(relation) || !ParseAttributes(relation, relation_name, attributes, &set)) return;
  Bitmapset* subject = SubjectOf(relation);
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return;
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
  ReleaseSysCache(tuple);
  int64 rows;
  InternalScope scope;
  EnterInternal(&scope, owner);
  // A policy that the owner is subject to would be somebody's code in this process: such a relation has no rates.
  set_config_option("row_security", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  const double rate = RelationRate(relation, set, subject, &rows);
  LeaveInternal(&scope);
  AppendElement(&computed->relations, relation_name);
  AppendElement(&computed->attributes, attributes);
  appendStringInfo(&computed->rates, "%s%.17g", computed->rates.len == 1 ? "" : ",", rate);
  ++computed->count;
  if (XactReadOnly) return;
  EnterInternal(&scope);
  StoreRate(relation, relation_name, attributes, subject, rate, rows);
  LeaveInternal(&scope);
}

ErrorData* ComputeRateGuarded(ComputedRates* computed, const char* relation, const char* attributes) {
  return InSubtransaction([=] { ComputeMissingRate(computed, relation, attributes); });
}
