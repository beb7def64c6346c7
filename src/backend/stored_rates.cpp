/*
 * stored_rates.cpp - see stored_rates.hpp.
 */
#include "stored_rates.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"
}

#include "guarded.hpp"
#include "internal.hpp"
#include "relation_rates.hpp"

namespace {

// Splits "a \x01 b" and returns the attribute numbers; false when one of them is gone.
bool ParseAttributes(Oid relation, const char* relation_name, const char* attributes, Bitmapset** set) {
  *set = nullptr;
  const Size prefix = strlen(relation_name) + 1;
  char* text = pstrdup(attributes);
  for (char* next; text != nullptr; text = next) {
    next = strchr(text, privacy_score::kAttributeSeparator);
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

const char* Closed(const StringInfoData* array) { return psprintf("%s}", array->data); }

// Wanted sets of one relation that exist, and what came of them.
struct Batch {
  const char* relation_name;
  Oid relation;
  int count;
  const char** attributes;  // as wanted
  const Bitmapset** sets;
  double* rates;
};

// What a relation is like: the fields of privacy_score.source_state() as text.
struct SourceState {
  const char* identity;
  const char* modifications;
};

SourceState StateOf(const char* relation_name) {
  const char* args[] = {relation_name};
  InternalScope scope;
  EnterInternal(&scope);
  char* text = InternalValue(
      "SELECT s.identity || ' ' || s.modifications FROM privacy_score.source_state($1) s WHERE s.identity IS NOT NULL",
      1, args);
  LeaveInternal(&scope);
  if (text == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation %s does not exist", relation_name)));
  char* blank = strchr(text, ' ');
  *blank = '\0';
  return {text, blank + 1};
}

void StoreBatch(const Batch* batch, const Bitmapset* subject, const SubjectFacts* facts, const SourceState* state) {
  StringInfoData columns;
  initStringInfo(&columns);
  for (int attribute = -1; (attribute = bms_next_member(subject, attribute)) >= 0;)
    appendStringInfo(&columns, "%s%s", columns.len > 0 ? "," : "",
                     quote_identifier(get_attname(batch->relation, static_cast<AttrNumber>(attribute), false)));
  ComputedRates stored;
  InitComputedRates(&stored);
  for (int i = 0; i < batch->count; ++i) {
    AppendArrayElement(&stored.attributes, batch->attributes[i]);
    appendStringInfo(&stored.rates, "%s%.17g", i == 0 ? "" : ",", batch->rates[i]);
  }
  const char* args[] = {batch->relation_name,
                        Closed(&stored.attributes),
                        Closed(&stored.rates),
                        columns.data,
                        psprintf(INT64_FORMAT, facts->rows),
                        psprintf("%.17g", facts->entropy),
                        state->modifications,
                        state->identity};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(
      "INSERT INTO privacy_score.rate (relation_name, attributes, rate, subject, rows, subject_entropy, sources, "
      "source_rows, modifications, identities) "
      "SELECT $1, pg_catalog.string_to_array(c.attributes, pg_catalog.chr(1)), c.rate, $4, $5::pg_catalog.int8, "
      "$6::pg_catalog.float8, ARRAY[$1], ARRAY[$5::pg_catalog.int8], ARRAY[$7::pg_catalog.int8], "
      "ARRAY[$8::pg_catalog.int8] FROM ROWS FROM (pg_catalog.unnest($2::text[]), "
      "pg_catalog.unnest($3::pg_catalog.float8[])) c(attributes, rate) "
      "ON CONFLICT (relation_name, attributes) DO UPDATE SET rate = EXCLUDED.rate, subject = EXCLUDED.subject, "
      "rows = EXCLUDED.rows, subject_entropy = EXCLUDED.subject_entropy, sources = EXCLUDED.sources, "
      "source_rows = EXCLUDED.source_rows, modifications = EXCLUDED.modifications, "
      "identities = EXCLUDED.identities, computed_at = pg_catalog.now()",
      8, args);
  LeaveInternal(&scope);
}

// The owner of a relation; false when it has just been dropped.
bool FindOwner(Oid relation, Oid* owner) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
  if (!HeapTupleIsValid(tuple)) return false;
  *owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner;
  ReleaseSysCache(tuple);
  return true;
}

// The sets that exist, each once. `wanted` is in order and of one relation.
Batch MakeBatch(const WantedRate* wanted, int count) {
  Batch batch = {};
  batch.relation_name = wanted[0].relation;
  batch.relation =
      RangeVarGetRelid(makeRangeVarFromNameList(stringToQualifiedNameList(batch.relation_name)), NoLock, true);
  if (!OidIsValid(batch.relation)) return batch;
  batch.attributes = static_cast<const char**>(palloc(sizeof(char*) * static_cast<Size>(count)));
  batch.sets = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(count)));
  batch.rates = static_cast<double*>(palloc(sizeof(double) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) {
    Bitmapset* set;
    if (i > 0 && strcmp(wanted[i].attributes, wanted[i - 1].attributes) == 0) continue;
    if (!ParseAttributes(batch.relation, batch.relation_name, wanted[i].attributes, &set)) continue;
    batch.attributes[batch.count] = wanted[i].attributes;
    batch.sets[batch.count++] = set;
  }
  return batch;
}

// Computes wanted sets of one relation, in order.
void ComputeOfRelation(ComputedRates* computed, const WantedRate* wanted, int count) {
  const Batch batch = MakeBatch(wanted, count);
  Oid owner;
  if (batch.count == 0 || !FindOwner(batch.relation, &owner)) return;
  Bitmapset* subject = SubjectOf(batch.relation);
  // What is committed after this is known to have come later, and rows are read as of after this.
  const SourceState state = StateOf(batch.relation_name);
  SubjectFacts facts;
  PushActiveSnapshot(GetLatestSnapshot());
  InternalScope scope;
  EnterInternal(&scope, owner);
  // A policy that the owner is subject to would be somebody's code in this process: such a relation has no rates.
  set_config_option("row_security", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  RelationRates(batch.relation, batch.sets, batch.count, subject, batch.rates, &facts);
  LeaveInternal(&scope);
  PopActiveSnapshot();
  if (!XactReadOnly) StoreBatch(&batch, subject, &facts, &state);
  for (int i = 0; i < batch.count; ++i) {
    AppendArrayElement(&computed->relations, batch.relation_name);
    AppendArrayElement(&computed->attributes, batch.attributes[i]);
    appendStringInfo(&computed->rates, "%s%.17g", computed->rates.len == 1 ? "" : ",", batch.rates[i]);
    ++computed->count;
  }
}

int CompareWanted(const void* a, const void* b) {
  const auto* left = static_cast<const WantedRate*>(a);
  const auto* right = static_cast<const WantedRate*>(b);
  const int order = strcmp(left->relation, right->relation);
  return order != 0 ? order : strcmp(left->attributes, right->attributes);
}

// How many of `wanted` from the first on are of its relation.
int OfOneRelation(const WantedRate* wanted, int count) {
  int same = 1;
  while (same < count && strcmp(wanted[same].relation, wanted[0].relation) == 0) ++same;
  return same;
}

// Computes sets of one relation together, or when that fails each half by itself, down to the sets that are at fault.
void ComputeApart(ComputedRates* computed, const WantedRate* wanted, int count, RateFault on_fault, void* context) {
  CHECK_FOR_INTERRUPTS();
  ErrorData* error = InSubtransaction([=] { ComputeOfRelation(computed, wanted, count); });
  if (error == nullptr) return;
  if (count > 1 && error->sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE) {
    FreeErrorData(error);
    ComputeApart(computed, wanted, count / 2, on_fault, context);
    ComputeApart(computed, wanted + count / 2, count - count / 2, on_fault, context);
    return;
  }
  for (int i = 0; i < count; ++i) on_fault(context, &wanted[i], error);
  FreeErrorData(error);
}

}  // namespace

WantedRate* WantedFrom(const std::vector<privacy_score::MissingRate>* missing) {
  const std::size_t count = missing->size();
  auto* wanted = static_cast<WantedRate*>(palloc(sizeof(WantedRate) * (count + 1)));
  for (std::size_t i = 0; i < count; ++i)
    wanted[i] = {(*missing)[i].relation.c_str(), (*missing)[i].attributes.c_str(), false};
  return wanted;
}

void InitComputedRates(ComputedRates* computed) {
  computed->count = 0;
  for (StringInfo array : {&computed->relations, &computed->attributes, &computed->rates}) {
    initStringInfo(array);
    appendStringInfoChar(array, '{');
  }
}

void SortWanted(WantedRate* wanted, int count) {
  pg_qsort(wanted, static_cast<Size>(count), sizeof(WantedRate), CompareWanted);
}

void ComputeRates(ComputedRates* computed, WantedRate* wanted, int count) {
  SortWanted(wanted, count);
  for (int at = 0, same; at < count; at += same) {
    CHECK_FOR_INTERRUPTS();
    same = OfOneRelation(wanted + at, count - at);
    ComputeOfRelation(computed, wanted + at, same);
  }
}

void ComputeRatesApart(ComputedRates* computed, WantedRate* wanted, int count, RateFault on_fault, void* context) {
  SortWanted(wanted, count);
  for (int at = 0, same; at < count; at += same) {
    same = OfOneRelation(wanted + at, count - at);
    ComputeApart(computed, wanted + at, same, on_fault, context);
  }
}
