/*
 * dp_histogram_functions.cpp - dp_histogram() and dp_count_distinct().
 *
 * With given keys every key is answered, whether it occurs or not, so that what occurs is not told. Without, a key is
 * shown only when its noisy count reaches a threshold that one unit alone reaches with probability delta at most.
 * The groups share their epsilon: a unit has rows in max_rows_per_unit of them at most.
 */
#include "backend/server/core_call.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/dp/dp_column_question.hpp"
#include "backend/dp/dp_count_noise.hpp"
#include "backend/dp/dp_rows.hpp"
#include "backend/server/collate_clause.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_histogram);
PG_FUNCTION_INFO_V1(ps_dp_count_distinct);
}

namespace ps = privacy_score;

namespace {

constexpr ColumnArguments kHistogramArguments = {2, 5, 6};
constexpr ColumnArguments kDistinctArguments = {2, 3, 4};
constexpr int kKeys = 3;
constexpr int kDelta = 4;
// What a count takes in a stored answer, at most.
constexpr int kCountWidth = 20;
// More than a group of a hash table takes, whose key is a column of a row.
constexpr int kKilobytesPerKey = 9;

// The keys of a histogram, in the order in which they were given.
struct GivenKeys {
  int count;
  Datum* texts;  // as given
  bool* nulls;
  int* sorted;  // places in the order of the canonical question
};

// One key with its image, which orders keys the same however they are given.
struct KeyImage {
  const char* bytes;
  int length;
  int place;
};

// Groups that were found.
struct FoundGroups {
  uint64 count;
  char** keys;  // null: the rows where the column is NULL
  int64* counts;
};

void RequireComparableColumn(const BoundColumn* column) {
  if (!OidIsValid(column->operand))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("values of column \"%s\" cannot be told apart: its type is %s", column->name,
                           format_type_be(column->type)),
                    errhint("Choose a column of one of the server's own types that have an order.")));
}

int CompareImages(const void* left, const void* right) {
  const auto* a = static_cast<const KeyImage*>(left);
  const auto* b = static_cast<const KeyImage*>(right);
  const int order = memcmp(a->bytes, b->bytes, static_cast<Size>(Min(a->length, b->length)));
  return order != 0 ? order : a->length - b->length;
}

// Raises when two keys are equal: a row would be told twice, for the price of once.
void RequireDistinct(const BoundColumn* column, Oid array_type, Datum array) {
  // The keys compare as the column does.
  const char* sql = psprintf(
      "SELECT FROM pg_catalog.unnest($1) k(key) GROUP BY k.key%s HAVING pg_catalog.count(*) "
      "OPERATOR(pg_catalog.>) 1",
      OidIsValid(column->collation) ? CollateSql(column->collation) : "");
  InternalScope scope;
  EnterInternal(&scope);
  if (SPI_execute_with_args(sql, 1, &array_type, &array, nullptr, true, 1) != SPI_OK_SELECT)
    elog(ERROR, "could not compare the keys of a histogram");
  const bool twice = SPI_processed > 0;
  LeaveInternal(&scope);
  if (twice)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keys must be different"),
                    errhint("Give each value of the column once, also where it can be written in two ways.")));
}

// Reads the keys as values of the column's type and makes them the first parameter of the query; returns what tells
// them in the canonical question, the same for every order.
const char* BindKeys(FunctionCallInfo fcinfo, ColumnQuestion* asked, GivenKeys* keys) {
  const BoundColumn* column = &asked->column;
  RequireComparableColumn(column);
  const Oid array_type = get_array_type(column->operand);
  if (OidIsValid(get_element_type(column->operand)) || !OidIsValid(array_type))
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("keys of column \"%s\" cannot be given: its type is %s", column->name,
                           format_type_be(column->type)),
                    errhint("Give delta in place of keys.")));
  ArrayType* given = PG_GETARG_ARRAYTYPE_P(kKeys);
  const ElementList elements = ElementsOf(given);
  keys->count = elements.count;
  keys->texts = elements.values;
  keys->nulls = elements.nulls;
  if (ARR_NDIM(given) > 1 || keys->count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("keys must be an array of one dimension that is not empty"),
                    errhint("Every key is answered, also one that no row has.")));
  const auto count = static_cast<Size>(keys->count);
  auto* values = static_cast<Datum*>(palloc0(sizeof(Datum) * count));
  auto* images = static_cast<KeyImage*>(palloc0(sizeof(KeyImage) * count));
  StringInfoData image;
  initStringInfo(&image);
  for (int i = 0; i < keys->count; ++i) {
    CHECK_FOR_INTERRUPTS();
    resetStringInfo(&image);
    appendStringInfoChar(&image, keys->nulls[i] ? '0' : '1');
    if (!keys->nulls[i]) {
      values[i] = ReadValue(column->operand, TextDatumGetCString(keys->texts[i]));
      AppendImage(&image, column->operand, values[i]);
    }
    auto* bytes = static_cast<char*>(palloc(static_cast<Size>(image.len)));
    memcpy(bytes, image.data, static_cast<Size>(image.len));
    images[i] = {bytes, image.len, i};
  }
  const Datum array = PointerGetDatum(ArrayOf(column->operand, values, keys->nulls, keys->count));
  RequireDistinct(column, array_type, array);
  asked->condition->types[0] = array_type;
  asked->condition->values[0] = array;

  qsort(images, count, sizeof(KeyImage), CompareImages);
  keys->sorted = static_cast<int*>(palloc(sizeof(int) * count));
  StringInfoData details;
  initStringInfo(&details);
  appendStringInfoString(&details, "keys");
  for (int i = 0; i < keys->count; ++i) {
    keys->sorted[i] = images[i].place;
    appendStringInfoChar(&details, ' ');
    for (int k = 0; k < images[i].length; ++k)
      appendStringInfo(&details, "%02x", static_cast<unsigned char>(images[i].bytes[k]));
  }
  return details.data;
}

// Fills in the counts of keys that occur; the others stay zero.
void TakeBinCounts(void* argument) {
  auto* counts = static_cast<int64*>(argument);
  for (uint64 row = 0; row < SPI_processed; ++row) counts[FieldNumber(row, 0) - 1] = FieldNumber(row, 1);
}

void TakeGroups(void* argument) {
  auto* groups = static_cast<FoundGroups*>(argument);
  groups->count = SPI_processed;
  groups->keys = static_cast<char**>(SPI_palloc(sizeof(char*) * (SPI_processed + 1)));
  groups->counts = static_cast<int64*>(SPI_palloc(sizeof(int64) * (SPI_processed + 1)));
  for (uint64 row = 0; row < SPI_processed; ++row) {
    groups->keys[row] = FieldText(row, 0);
    groups->counts[row] = FieldNumber(row, 1);
  }
}

const char* TextOfArray(Datum* elements, bool* nulls, int count, Oid type) {
  return LiteralOfArray(PointerGetDatum(ArrayOf(type, elements, nulls, count)));
}

// Reads the text of an array in which NULL is NULL, whatever array_nulls says.
Datum ArrayOfText(const char* text, Oid type) {
  volatile Datum array = 0;
  const bool before = Array_nulls;
  Array_nulls = true;
  PG_TRY();
  { array = OidInputFunctionCall(F_ARRAY_IN, const_cast<char*>(text), type, -1); }
  PG_FINALLY();
  { Array_nulls = before; }
  PG_END_TRY();
  return array;
}

// The elements of an answer that TextOfArray() has written.
ElementList ElementsOfAnswer(const char* answer, Oid type) {
  return ElementsOf(DatumGetArrayTypeP(ArrayOfText(answer, type)));
}

// Whether values of a type can be grouped by a hash table.
bool IsHashable(Oid type) { return OidIsValid(lookup_type_cache(type, TYPECACHE_HASH_PROC)->hash_proc); }

// Counts as the literal of a bigint[], each of the same width.
const char* TextOfCounts(const int64* counts, const int* places, int count) {
  StringInfoData text;
  initStringInfo(&text);
  for (int i = 0; i < count; ++i)
    appendStringInfo(&text, "%c%*lld", i == 0 ? '{' : ',', kCountWidth, static_cast<long long>(counts[places[i]]));
  appendStringInfoChar(&text, '}');
  return text.data;
}

// The noisy counts of given keys, in the canonical order, as bigint[]. Of rows without a unit the keys alone are
// groups: a hash table holds them.
const char* CountKeys(Debit* debit, const ColumnQuestion* asked, const GivenKeys* keys) {
  const char* column = psprintf("r.%s", quote_identifier(asked->column.name));
  const char* is_key =
      psprintf("(%s OPERATOR(pg_catalog.=) ANY ($1) OR %s IS NULL AND pg_catalog.array_position($1, NULL) IS NOT NULL)",
               column, column);
  const Budget* budget = asked->question.budget;
  const bool by_hash = budget->unit == nullptr && IsHashable(asked->column.operand);
  const RowsInSql rows = SourceOfRows(budget, asked->condition, is_key, asked->column.name);
  const char* found = by_hash ? psprintf("SELECT %s AS value, pg_catalog.count(*) AS n FROM %s WHERE %s GROUP BY 1",
                                         column, rows.from, rows.condition)
                              : psprintf("SELECT g.value, g.n FROM %s", ValuesThatCount(asked, "u.value", is_key));
  const char* sql = psprintf(
      "WITH found AS MATERIALIZED (%s) "
      "SELECT k.place, f.n FROM pg_catalog.unnest($1) WITH ORDINALITY k(key, place) "
      "JOIN found f ON f.value OPERATOR(pg_catalog.=) k.key "
      "UNION ALL SELECT pg_catalog.array_position($1, NULL)::pg_catalog.int8, f.n FROM found f WHERE f.value IS NULL",
      found);
  const auto count = static_cast<Size>(keys->count);
  auto* counts = static_cast<int64*>(palloc0(sizeof(int64) * count));
  const int64 memory = (static_cast<int64>(count) + 1) * kKilobytesPerKey;
  const GroupingSteps steps = {by_hash, static_cast<int>(Min(memory, MAX_KILOBYTES))};
  if (!ReadForQuestion(debit, asked, sql, steps, TakeBinCounts, counts)) return nullptr;
  AddCountNoise(&asked->question, counts, count);
  return TextOfCounts(counts, keys->sorted, keys->count);
}

// The value as text by its type's output function; a cast may be somebody's code. Padding and truth values are written
// as their casts do.
const char* ValueAsText(const BoundColumn* column) {
  const bool casts = column->operand == BPCHAROID || column->operand == BOOLOID;
  const char* text =
      casts ? "u.value::pg_catalog.text" : "CASE WHEN u.value IS NOT NULL THEN pg_catalog.format('%s', u.value) END";
  return psprintf("(%s) COLLATE pg_catalog.\"C\"", text);
}

// The keys that reach the threshold with their noisy counts, alternating, as text[]. Keys are told apart as text, byte
// by byte: were equal values of different looks one key, a single row could decide how it looks.
const char* CountFound(Debit* debit, const ColumnQuestion* asked) {
  const char* sql =
      psprintf("SELECT g.value, g.n FROM %s", ValuesThatCount(asked, ValueAsText(&asked->column), nullptr));
  FoundGroups groups = {};
  if (!ReadForQuestion(debit, asked, sql, {false, 0}, TakeGroups, &groups)) return nullptr;
  const Question* question = &asked->question;
  int64 threshold = 0;
  AddCountNoise(question, groups.counts, groups.count);
  CallCoreOrRaise([&] {
    threshold = ps::KeyThreshold(CountLaw(question).scale(), question->budget->max_rows_per_unit,
                                 ps::ParseRational("delta", question->delta));
  });
  auto* elements = static_cast<Datum*>(palloc_extended(sizeof(Datum) * 2 * (groups.count + 1), MCXT_ALLOC_HUGE));
  auto* nulls = static_cast<bool*>(palloc_extended(2 * (groups.count + 1), MCXT_ALLOC_HUGE));
  int shown = 0;
  for (uint64 i = 0; i < groups.count; ++i) {
    if (groups.counts[i] < threshold) continue;
    nulls[shown] = groups.keys[i] == nullptr;
    elements[shown] = nulls[shown] ? Datum(0) : CStringGetTextDatum(groups.keys[i]);
    nulls[shown + 1] = false;
    elements[shown + 1] = CStringGetTextDatum(TextOfInteger(groups.counts[i]));
    shown += 2;
  }
  return shown == 0 ? "{}" : TextOfArray(elements, nulls, shown, TEXTOID);
}

// The noisy number of distinct values.
const char* CountDistinct(Debit* debit, const ColumnQuestion* asked) {
  const char* column = psprintf("r.%s", quote_identifier(asked->column.name));
  const char* sql = psprintf("SELECT pg_catalog.count(*) FROM %s",
                             ValuesThatCount(asked, "u.value", psprintf("%s IS NOT NULL", column)));
  int64 count = 0;
  if (!ReadForQuestion(debit, asked, sql, {false, 0}, TakeCount, &count)) return nullptr;
  AddCountNoise(&asked->question, &count, 1);
  return TextOfInteger(count);
}

// Raises unless either keys or delta are given.
void RequireKeysOrDelta(bool has_keys, bool has_delta) {
  if (has_keys && has_delta)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keys and delta must not both be given"),
                    errhint("With keys every one of them is answered, and no delta is needed.")));
  if (!has_keys && !has_delta)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("keys or delta must be given"),
                    errhint("Give the keys that can occur, or, where they are not known, the probability delta with "
                            "which a key of one unit alone may be shown.")));
}

void PutBin(FunctionCallInfo fcinfo, Datum key, bool is_null, int64 count) {
  Datum values[2] = {key, Int64GetDatum(count)};
  bool nulls[2] = {is_null, false};
  PutResultRow(fcinfo, values, nulls);
}

void PutGivenKeys(FunctionCallInfo fcinfo, const GivenKeys* keys, const char* answer) {
  const ElementList counts = ElementsOfAnswer(answer, INT8OID);
  if (counts.count != keys->count) elog(ERROR, "an answer of the ledger is damaged");
  auto* by_place = static_cast<int64*>(palloc(sizeof(int64) * static_cast<Size>(keys->count)));
  for (int i = 0; i < keys->count; ++i) by_place[keys->sorted[i]] = DatumGetInt64(counts.values[i]);
  for (int i = 0; i < keys->count; ++i) PutBin(fcinfo, keys->texts[i], keys->nulls[i], by_place[i]);
}

void PutFoundKeys(FunctionCallInfo fcinfo, const char* answer) {
  const ElementList found = ElementsOfAnswer(answer, TEXTOID);
  for (int i = 0; i + 1 < found.count; i += 2)
    PutBin(fcinfo, found.values[i], found.nulls[i], pg_strtoint64(TextDatumGetCString(found.values[i + 1])));
}

}  // namespace

// dp_histogram(relation, attribute, epsilon, keys, delta, predicate, fresh)
Datum ps_dp_histogram(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);  // where no set is expected, it raises before anything is spent
  const bool has_keys = !PG_ARGISNULL(kKeys);
  RequireKeysOrDelta(has_keys, !PG_ARGISNULL(kDelta));
  const char* delta = has_keys ? nullptr : NormalDecimal("delta", PG_GETARG_NUMERIC(kDelta));
  ColumnQuestion asked = AskAboutColumn(fcinfo, "dp_histogram", "histogram", kHistogramArguments, has_keys ? 1 : 0);
  const Question* question = &asked.question;
  RequireCountLaw(question);
  GivenKeys keys = {};
  if (has_keys) {
    CompleteQuestion(&asked, BindKeys(fcinfo, &asked, &keys));
  } else {
    RequireComparableColumn(&asked.column);
    CallCoreOrRaise([&] {
      ps::KeyThreshold(CountLaw(question).scale(), question->budget->max_rows_per_unit,
                       ps::ParseRational("delta", delta));
    });
    asked.question.delta = delta;
    CompleteQuestion(&asked, psprintf("delta %s", delta));
  }
  const Payment payment = AnswerOf(
      question, [&](Debit* debit) { return has_keys ? CountKeys(debit, &asked, &keys) : CountFound(debit, &asked); });
  if (has_keys)
    PutGivenKeys(fcinfo, &keys, payment.answer);
  else
    PutFoundKeys(fcinfo, payment.answer);
  return Datum(0);
}

// dp_count_distinct(relation, attribute, epsilon, predicate, fresh)
Datum ps_dp_count_distinct(PG_FUNCTION_ARGS) {
  ColumnQuestion asked = AskAboutColumn(fcinfo, "dp_count_distinct", "count_distinct", kDistinctArguments, 0);
  RequireComparableColumn(&asked.column);
  RequireCountLaw(&asked.question);
  CompleteQuestion(&asked, "");
  const Payment payment = AnswerOf(&asked.question, [&](Debit* debit) { return CountDistinct(debit, &asked); });
  return NumericOf(payment.answer);
}

}  // namespace privacy_score
