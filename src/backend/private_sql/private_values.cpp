/*
 * private_values.cpp - see private_values.hpp.
 */
#include "backend/private_sql/private_values.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
}

#include <cmath>

#include "backend/dp/dp_columns.hpp"
#include "backend/server/compat.hpp"
#include "core/base/decimal_grid.hpp"
#include "core/private_sql/person_sums.hpp"

namespace privacy_score {

namespace {

constexpr int kUnknownDecimals = 6;
constexpr int kMostDecimals = 18;
constexpr double kUnknownSteps = 1e6;

// The scale of numeric(p, s) lies in the low bits of the modifier, with a sign.
int DecimalsOfModifier(int32 modifier) {
  if (modifier < static_cast<int32>(VARHDRSZ)) return kUnknownDecimals;
  const int scale = (((modifier - static_cast<int32>(VARHDRSZ)) & 0x7ff) ^ 1024) - 1024;
  return Min(Max(scale, 0), kMostDecimals);
}

std::int64_t HeldSteps(double steps) {
  if (std::isnan(steps) || std::isinf(steps)) return kNullSteps;
  const auto most = static_cast<double>(kMostValueSteps);
  if (steps >= most) return kMostValueSteps;
  if (steps <= -most) return -kMostValueSteps;
  return std::llround(steps);
}

std::int64_t HeldSteps(std::int64_t steps) { return Max(Min(steps, kMostValueSteps), -kMostValueSteps); }

// Reads a number as it lies on disk, which numeric.c describes: a header of one or two words, then digits of base 10^4.
std::int64_t StepsOfNumeric(Datum value, int decimals) {
  constexpr uint16 kKind = 0xC000;
  constexpr uint16 kSpecial = 0xC000;  // NaN, Infinity
  constexpr uint16 kShort = 0x8000;
  constexpr uint16 kShortNegative = 0x2000;
  constexpr uint16 kShortWeightNegative = 0x0040;
  constexpr uint16 kShortWeight = 0x003F;
  constexpr uint16 kNegative = 0x4000;
  const auto* number = PG_DETOAST_DATUM_PACKED(value);
  const char* data = VARDATA_ANY(number);
  uint16 header;
  memcpy(&header, data, sizeof header);
  if ((header & kKind) == kSpecial) return kNullSteps;
  const bool is_short = (header & kKind & kShort) != 0;
  int16 weight;
  if (is_short) {
    weight = static_cast<int16>((header & kShortWeightNegative) != 0 ? ~kShortWeight | (header & kShortWeight)
                                                                     : header & kShortWeight);
  } else {
    memcpy(&weight, data + sizeof header, sizeof weight);
  }
  const Size head = is_short ? sizeof header : sizeof header + sizeof weight;
  const auto count = static_cast<int>((VARSIZE_ANY_EXHDR(number) - head) / sizeof(int16));
  return HeldStepsOf({data + head, count, weight, (header & (is_short ? kShortNegative : kNegative)) != 0}, decimals);
}

}  // namespace

ValueGrid ColumnGrid(const Node* expression, bool summed) {
  if (!summed) return {InvalidOid, 0};
  const Oid type = getBaseType(exprType(expression));
  switch (type) {
    case NUMERICOID:
      return {type, DecimalsOfModifier(exprTypmod(expression))};
    case FLOAT4OID:
    case FLOAT8OID:
      return {type, kUnknownDecimals};
    default:
      return {type, 0};
  }
}

std::int64_t StepsOfValue(const ValueGrid* grid, Datum value) {
  switch (grid->type) {
    case InvalidOid:
      return 1;
    case INT2OID:
      return DatumGetInt16(value);
    case INT4OID:
      return DatumGetInt32(value);
    case INT8OID:
      return HeldSteps(DatumGetInt64(value));
    case FLOAT4OID:
      return HeldSteps(static_cast<double>(DatumGetFloat4(value)) * kUnknownSteps);
    case FLOAT8OID:
      return HeldSteps(DatumGetFloat8(value) * kUnknownSteps);
    case NUMERICOID:
      return StepsOfNumeric(value, grid->decimals);
    default:
      elog(ERROR, "values of type %u are not summed", grid->type);
  }
}

bool CanBeKey(Oid type) {
  switch (type) {
    case BOOLOID:
    case CHAROID:
    case NAMEOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case TEXTOID:
    case VARCHAROID:
    case BPCHAROID:
    case DATEOID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case UUIDOID:
      return true;
    default:
      return type_is_enum(type);
  }
}

// -0 and 0 are equal, and so are all that are no numbers.
static Datum OneOfEquals(Oid type, Datum value) {
  if (type == FLOAT8OID) {
    const double number = DatumGetFloat8(value);
    return Float8GetDatum(number == 0 ? 0 : std::isnan(number) ? std::nan("") : number);
  }
  if (type == FLOAT4OID) {
    const float number = DatumGetFloat4(value);
    return Float4GetDatum(number == 0 ? 0 : std::isnan(number) ? std::nanf("") : number);
  }
  return value;
}

void AppendKeyImage(StringInfo bytes, Oid type, Datum value, bool is_null) {
  appendStringInfoChar(bytes, is_null ? '\0' : '\1');
  if (is_null) return;
  const int at = bytes->len;
  const int32 none = 0;
  appendBinaryStringInfo(bytes, reinterpret_cast<const char*>(&none), sizeof none);
  AppendImage(bytes, type, OneOfEquals(type, value));
  const int32 length = bytes->len - at - static_cast<int>(sizeof none);
  memcpy(bytes->data + at, &length, sizeof length);
}

const char* TextOfKey(Oid type, Datum value, bool is_null) {
  if (is_null) return nullptr;
  switch (type) {
    case NUMERICOID:
      return numeric_normalize(DatumGetNumeric(value));
    case FLOAT4OID:
      return psprintf("%.9g", static_cast<double>(DatumGetFloat4(OneOfEquals(type, value))));
    case FLOAT8OID:
      return psprintf("%.17g", DatumGetFloat8(OneOfEquals(type, value)));
    case DATEOID:
      return psprintf("%d", DatumGetInt32(value));
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return psprintf(INT64_FORMAT, DatumGetInt64(value));
    default: {
      Oid output;
      bool is_varlena;
      getTypeOutputInfo(type, &output, &is_varlena);
      return OidOutputFunctionCall(output, value);
    }
  }
}

Datum KeyOfText(Oid type, const char* text) {
  switch (type) {
    case DATEOID:
      return Int32GetDatum(static_cast<int32>(pg_strtoint64(text)));
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      return Int64GetDatum(pg_strtoint64(text));
    default: {
      Oid input;
      Oid parameter;
      getTypeInputInfo(type, &input, &parameter);
      return OidInputFunctionCall(input, const_cast<char*>(text), parameter, -1);
    }
  }
}

}  // namespace privacy_score
