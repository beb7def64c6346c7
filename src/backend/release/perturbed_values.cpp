/*
 * perturbed_values.cpp - see perturbed_values.hpp.
 */
#include "backend/release/perturbed_values.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/typcache.h"
}

#include "backend/catalog/value_types.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/strong_random.hpp"
#include "core/loss/technique_posteriors.hpp"

namespace privacy_score {

namespace {

// How numbers of a type are read, and written beyond the least and greatest of a column.
struct NumberType {
  Oid type;
  Oid shown_type;
  PGFunction to_numeric;    // null: it is numeric
  PGFunction from_numeric;  // to the shown type
};

// Noise may lead out of the range of the narrower integers.
const NumberType kNumberTypes[] = {
    {INT2OID, INT8OID, int2_numeric, numeric_int8},         {INT4OID, INT8OID, int4_numeric, numeric_int8},
    {INT8OID, INT8OID, int8_numeric, numeric_int8},         {NUMERICOID, NUMERICOID, nullptr, nullptr},
    {FLOAT4OID, FLOAT4OID, float4_numeric, numeric_float4}, {FLOAT8OID, FLOAT8OID, float8_numeric, numeric_float8},
};

const NumberType* NumberTypeOf(Oid type) {
  for (const NumberType& number : kNumberTypes)
    if (number.type == type) return &number;
  return nullptr;
}

Datum* NewDatums(int64 count) {
  return static_cast<Datum*>(
      MemoryContextAllocHuge(CurrentMemoryContext, sizeof(Datum) * (static_cast<Size>(count) + 1)));
}

// How values are compared while they are sorted.
struct Order {
  FmgrInfo* compare;
  Oid collation;
  const Datum* values;
};

int CompareNumbers(const void* a, const void* b, void* order) {
  const auto* by = static_cast<const Order*>(order);
  return DatumGetInt32(FunctionCall2Coll(by->compare, by->collation, by->values[*static_cast<const int64*>(a)],
                                         by->values[*static_cast<const int64*>(b)]));
}

int CompareNumeric(const void* a, const void* b, void*) {
  return DatumGetInt32(DirectFunctionCall2(numeric_cmp, *static_cast<const Datum*>(a), *static_cast<const Datum*>(b)));
}

Datum NumericOfValue(const NumberType* type, Datum value) {
  return type->to_numeric == nullptr ? value : DirectFunctionCall1(type->to_numeric, value);
}

void RequireFinite(const PerturbedColumn* column, Datum numeric) {
  if (!numeric_is_nan(DatumGetNumeric(numeric)) && !numeric_is_inf(DatumGetNumeric(numeric))) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("column \"%s\" has a value that is not a finite number", column->name),
                  errhint("Noise is added to finite numbers. Leave such records out by a view, or make them NULL.")));
}

// The median of the distances between neighbours; of an even number the lesser of the middle ones. 0 for one value.
Datum MedianStep(const PerturbedColumn* column, const Datum* numerics) {
  const int64 count = column->domain_size - 1;
  if (count < 1) return NumericGetDatum(int64_to_numeric(0));
  Datum* steps = NewDatums(count);
  for (int64 i = 0; i < count; ++i) steps[i] = DirectFunctionCall2(numeric_sub, numerics[i + 1], numerics[i]);
  qsort_arg(steps, static_cast<size_t>(count), sizeof(Datum), CompareNumeric, nullptr);
  return steps[(count - 1) / 2];
}

// base + count * step, as the type that is published.
Datum Beyond(const PerturbedColumn* column, const NumberType* type, Datum base, Datum step, int64 count) {
  const Datum distance = DirectFunctionCall2(numeric_mul, step, NumericGetDatum(int64_to_numeric(count)));
  const Datum sum = DirectFunctionCall2(numeric_add, base, distance);
  if (type->shown_type == INT8OID) {
    const Datum greatest = NumericGetDatum(int64_to_numeric(PG_INT64_MAX));
    if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, DirectFunctionCall1(numeric_abs, sum), greatest)) > 0)
      ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                      errmsg("noise in column \"%s\" leads out of the range of bigint", column->name),
                      errhint("Read a view that casts the column to numeric.")));
  }
  return type->from_numeric == nullptr ? sum : DirectFunctionCall1(type->from_numeric, sum);
}

// What is published of every place that noise can lead to; `order` has the numbers of the values, ascending.
void ListShown(PerturbedColumn* column, const int64* order) {
  const NumberType* type = NumberTypeOf(getBaseType(column->values->type));
  const int64 count = column->domain_size;
  const int64 half = column->max_noise / 2;
  Datum* numerics = NewDatums(count);
  column->shown = NewDatums(count + column->max_noise);
  for (int64 i = 0; i < count; ++i) {
    const Datum value = column->values->values[order[i]];
    numerics[i] = NumericOfValue(type, value);
    RequireFinite(column, numerics[i]);
    // Integers are widened; other types stay as they are.
    column->shown[half + i] = column->shown_type == INT8OID ? DirectFunctionCall1(numeric_int8, numerics[i]) : value;
  }
  if (half == 0) return;
  const Datum step = MedianStep(column, numerics);
  for (int64 k = 1; k <= half; ++k) {
    CHECK_FOR_INTERRUPTS();
    column->shown[half - k] = Beyond(column, type, numerics[0], step, -k);
    column->shown[half + count - 1 + k] = Beyond(column, type, numerics[count - 1], step, k);
  }
}

}  // namespace

PerturbedColumn* NewPerturbedColumn(const FormData_pg_attribute* attribute) {
  auto* column = static_cast<PerturbedColumn*>(palloc0(sizeof(PerturbedColumn)));
  column->name = pstrdup(NameStr(attribute->attname));
  column->collation = attribute->attcollation;
  RequireOrder(attribute->atttypid, column->name);
  column->values = NewValueList(attribute->atttypid, attribute->attcollation, column->name);
  const NumberType* type = NumberTypeOf(getBaseType(attribute->atttypid));
  column->of_numbers = type != nullptr;
  column->shown_type = type != nullptr ? type->shown_type : INT8OID;
  return column;
}

void OrderPerturbed(PerturbedColumn* column, double percent) {
  const ValueList* values = column->values;
  const Size room = sizeof(int64) * (static_cast<Size>(values->count) + 1);
  auto* order = static_cast<int64*>(MemoryContextAllocHuge(CurrentMemoryContext, room));
  for (int64 number = 0; number < values->count; ++number)
    if (number != values->null_number) order[column->domain_size++] = number;
  Order by = {&lookup_type_cache(values->type, TYPECACHE_CMP_PROC_FINFO)->cmp_proc_finfo, column->collation,
              values->values};
  qsort_arg(order, static_cast<size_t>(column->domain_size), sizeof(int64), CompareNumbers, &by);
  column->places = static_cast<int64*>(MemoryContextAllocHuge(CurrentMemoryContext, room));
  for (int64 i = 0; i < column->domain_size; ++i) column->places[order[i]] = i;
  if (column->domain_size > 0)
    CallCoreOrRaise([&] { column->max_noise = privacy_score::MaxNoise(percent, column->domain_size); });
  if (column->of_numbers && column->domain_size > 0) ListShown(column, order);
  pfree(order);
}

Datum Perturb(const PerturbedColumn* column, int64 number) {
  int64 noise = 0;
  CallCoreOrRaise([&] { noise = privacy_score::DrawBinomialNoise(column->max_noise, StrongRandom()); });
  const int64 place = column->places[number] + noise;
  return column->of_numbers ? column->shown[column->max_noise / 2 + place] : Int64GetDatum(place + 1);
}

}  // namespace privacy_score
