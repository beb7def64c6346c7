/*
 * relation_rates.cpp - see relation_rates.hpp.
 */
#include "relation_rates.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

#include <cmath>

#include "core/entropy.hpp"
#include "core_call.hpp"
#include "guarded.hpp"
#include "internal.hpp"

namespace {

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

void RelationRates(Oid relation, const Bitmapset* const* attributes, int count, const Bitmapset* target, double* rates,
                   int64* rows, PartitionFacts* partitions) {
  // The partitions by each set, then those by each set with the target, then that by the target.
  const bool by_row = bms_is_empty(target);
  const int wanted = by_row ? count : 2 * count + 1;
  auto** sets = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(wanted)));
  auto* facts = static_cast<PartitionFacts*>(palloc(sizeof(PartitionFacts) * static_cast<Size>(wanted)));
  for (int i = 0; i < count; ++i) {
    sets[i] = attributes[i];
    if (!by_row) sets[count + i] = bms_union(attributes[i], target);
  }
  if (!by_row) sets[2 * count] = target;
  PartitionsOf(relation, sets, wanted, facts);
  const int64 total = facts[0].rows;
  if (rows != nullptr) *rows = total;
  if (partitions != nullptr) memcpy(partitions, facts, sizeof(PartitionFacts) * static_cast<Size>(count));
  const double h_row = total > 0 ? std::log2(static_cast<double>(total)) : 0;
  CallCoreOrRaise([&] {
    for (int i = 0; i < count; ++i) {
      const double h_x = by_row ? h_row : facts[2 * count].entropy;
      const double h_xy = by_row ? h_row : facts[count + i].entropy;
      rates[i] = bms_is_empty(attributes[i]) ? 0 : privacy_score::DiscriminationRate(h_x, h_xy, facts[i].entropy);
    }
  });
  pfree(sets);
  pfree(facts);
}

double RelationRate(Oid relation, const Bitmapset* attributes, const Bitmapset* target, int64* rows) {
  double rate;
  RelationRates(relation, &attributes, 1, target, &rate, rows);
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
