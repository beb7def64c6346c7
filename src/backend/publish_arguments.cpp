/*
 * publish_arguments.cpp - see publish_arguments.hpp.
 */
#include "publish_arguments.hpp"

extern "C" {
#include "catalog/objectaddress.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/typcache.h"
}

#include <string>

#include "core/bucket_thresholds.hpp"
#include "core/error.hpp"
#include "internal.hpp"

Oid RelationArgument(FunctionCallInfo fcinfo, int argument, const char* name) {
  RequireArgument(fcinfo, argument, name);
  const Oid relation = PG_GETARG_OID(argument);
  RequireRows(relation);
  return relation;
}

NumberList NumbersArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid type) {
  RequireArgument(fcinfo, argument, name);
  ArrayType* array = PG_GETARG_ARRAYTYPE_P(argument);
  if (ARR_NDIM(array) > 1)
    ereport(ERROR, (errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR), errmsg("%s must have one dimension", name),
                    errhint("Write ARRAY['a', 'b'] or '{a,b}'.")));
  if (array_contains_nulls(array))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not contain NULL", name),
                    errhint("Leave out what is not known.")));
  NumberList list;
  int16 length;
  bool by_value;
  char align;
  get_typlenbyvalalign(type, &length, &by_value, &align);
  deconstruct_array(array, type, length, by_value, align, &list.values, nullptr, &list.count);
  return list;
}

ColumnList ColumnsArgument(FunctionCallInfo fcinfo, int argument, const char* name, Oid relation) {
  const NumberList names = NumbersArgument(fcinfo, argument, name, NAMEOID);
  if (names.count == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must name at least one column", name),
                    errhint("Name the columns that may tell who a record is about.")));
  ColumnList columns = {0, static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(names.count)))};
  for (int i = 0; i < names.count; ++i) {
    const char* column = NameStr(*DatumGetName(names.values[i]));
    const AttrNumber number = RequireColumn(relation, column);
    if (HasColumn(&columns, number))
      ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN), errmsg("%s names column \"%s\" more than once", name, column),
                      errhint("Name each column once.")));
    columns.numbers[columns.count++] = number;
  }
  return columns;
}

void RequireOrder(Oid type, const char* column) {
  if (OidIsValid(lookup_type_cache(type, TYPECACHE_CMP_PROC)->cmp_proc)) return;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
                  errmsg("column \"%s\" is of type %s, whose values have no order", column, format_type_be(type)),
                  errhint("Leave it out, or read a view that casts it to a type that has one, such as text.")));
}

void RequireSelect(Oid relation, AttrNumber column) {
  if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return;
  if (pg_attribute_aclcheck(relation, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return;
  aclcheck_error(ACLCHECK_NO_PRIV, get_relkind_objtype(get_rel_relkind(relation)), get_rel_name(relation));
}

bool HasColumn(const ColumnList* columns, AttrNumber number) {
  for (int i = 0; i < columns->count; ++i)
    if (columns->numbers[i] == number) return true;
  return false;
}

const char* NumericArgument(FunctionCallInfo fcinfo, int argument) {
  if (PG_ARGISNULL(argument)) return nullptr;
  return DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(argument)));
}

namespace {

// Appends one key of the thresholds.
void AddListed(ThresholdRequest* request, const JsonbValue* key, const JsonbValue* value) {
  ListedThreshold* listed = &request->listed[request->listed_count++];
  listed->key = pnstrdup(key->val.string.val, static_cast<Size>(key->val.string.len));
  listed->number = -1;
  if (value->type == jbvNumeric) {
    listed->threshold = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value->val.numeric)));
  } else if (value->type == jbvString) {
    listed->threshold = pnstrdup(value->val.string.val, static_cast<Size>(value->val.string.len));
  } else {
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("the threshold of \"%s\" must be a number or a text", listed->key),
                    errhint("Write 0.25 or \"1/4\".")));
  }
}

void ReadListed(ThresholdRequest* request, Jsonb* thresholds) {
  if (!JB_ROOT_IS_OBJECT(thresholds))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("thresholds must be a JSON object"),
                    errhint("Give each value that needs one its threshold: {\"flu\": 0.5, \"HIV\": \"1/20\"}.")));
  request->listed =
      static_cast<ListedThreshold*>(palloc(sizeof(ListedThreshold) * (JB_ROOT_COUNT(thresholds) + Size(1))));
  JsonbIterator* iterator = JsonbIteratorInit(&thresholds->root);
  JsonbValue key, value;
  JsonbIteratorToken token = JsonbIteratorNext(&iterator, &key, true);
  while ((token = JsonbIteratorNext(&iterator, &key, true)) == WJB_KEY) {
    (void)JsonbIteratorNext(&iterator, &value, true);
    AddListed(request, &key, &value);
  }
}

}  // namespace

ThresholdRequest ThresholdArguments(FunctionCallInfo fcinfo, int first, bool optional) {
  ThresholdRequest request = {};
  const bool listed = !PG_ARGISNULL(first);
  request.theta = NumericArgument(fcinfo, first + 1);
  request.floor = NumericArgument(fcinfo, first + 2);
  const bool diversity = !PG_ARGISNULL(first + 3);
  const int given = (listed ? 1 : 0) + (request.theta != nullptr ? 1 : 0) + (diversity ? 1 : 0);
  if (given > 1 || (given == 0 && !optional))
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("exactly one of thresholds, theta and l must be given"),
             errhint("thresholds lists them by value, theta makes them grow with the frequency of a value, and l "
                     "gives every value the threshold 1/l.")));
  if (request.floor != nullptr && request.theta == nullptr)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("floor needs theta"),
                    errhint("The threshold of a value of frequency f is theta * f + floor.")));
  // As [Wang] has it: what a bucket of 50 records can hold of any value.
  if (request.floor == nullptr) request.floor = "0.02";
  if (listed) {
    request.kind = ThresholdRequest::kListed;
    ReadListed(&request, PG_GETARG_JSONB_P(first));
  } else if (request.theta != nullptr) {
    request.kind = ThresholdRequest::kByFrequency;
  } else if (diversity) {
    request.kind = ThresholdRequest::kDiversity;
    request.l = PG_GETARG_INT32(first + 3);
  }
  return request;
}

namespace {

// A key stands for NULL and for a text that reads null: neither goes unprotected because of the other.
void FindNull(ListedThreshold* listed, const ValueList* values, int64 count, ListedThreshold* text) {
  for (int64 number = 0; number < count; ++number) {
    if (number == values->null_number) {
      listed->number = number;
    } else if (strcmp(TextOfNumber(values, number), "null") == 0) {
      text->number = number;
    }
  }
}

void AddKeyContext(void* key) { errcontext("key \"%s\" of thresholds", static_cast<const char*>(key)); }

// The value that a key names, read by the type of the column.
Datum ValueOfKey(const ValueList* values, const char* key) {
  ErrorContextCallback context = {error_context_stack, AddKeyContext, const_cast<char*>(key)};
  error_context_stack = &context;
  const Datum value = ValueOfText(values, key);
  error_context_stack = context.previous;
  return value;
}

}  // namespace

void FindListedValues(ThresholdRequest* request, ValueList* values, int64 count) {
  int missing = 0;
  const char* first_missing = nullptr;
  for (int i = 0, end = request->listed_count; i < end; ++i) {
    ListedThreshold* listed = &request->listed[i];
    if (strcmp(listed->key, "null") == 0) {
      // The array has room for one more than the keys.
      ListedThreshold* text = &request->listed[request->listed_count];
      *text = *listed;
      FindNull(listed, values, count, text);
      if (text->number >= 0) ++request->listed_count;
      if (listed->number < 0 && text->number >= 0) continue;
    } else {
      const int64 number = FindNumber(values, ValueOfKey(values, listed->key), false);
      listed->number = number < count ? number : -1;
    }
    if (listed->number >= 0) continue;
    if (missing++ == 0) first_missing = listed->key;
  }
  if (missing > 0)
    ereport(WARNING, (errmsg("no record has the value \"%s\", which has a threshold", first_missing),
                      missing > 1 ? errdetail("Nor do records have %d more values with thresholds.", missing - 1) : 0,
                      errhint("A value that is misspelt in thresholds is published without one.")));
}

std::vector<privacy_score::Rational> ThresholdsOf(const ThresholdRequest& request,
                                                  const std::vector<std::int64_t>& counts) {
  using privacy_score::ParseRational;
  using privacy_score::Rational;
  if (request.kind == ThresholdRequest::kDiversity)
    return std::vector<Rational>(counts.size(), privacy_score::DiversityThreshold(request.l));
  if (request.kind == ThresholdRequest::kByFrequency)
    return privacy_score::FrequencyThresholds(counts, ParseRational("theta", request.theta),
                                              ParseRational("floor", request.floor));
  std::vector<Rational> thresholds(counts.size(), Rational(1));
  for (int i = 0; i < request.listed_count; ++i) {
    const ListedThreshold& listed = request.listed[i];
    const std::string name = "the threshold of \"" + std::string(listed.key) + "\"";
    const Rational threshold = ParseRational(name, listed.threshold);
    privacy_score::CheckThreshold(name, threshold);
    if (listed.number < 0) continue;
    // Two keys may name one value, as 1.0 and 1.00 do.
    Rational& smallest = thresholds[static_cast<std::size_t>(listed.number)];
    if (threshold < smallest) smallest = threshold;
  }
  return thresholds;
}
