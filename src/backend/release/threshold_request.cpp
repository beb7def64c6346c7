/*
 * threshold_request.cpp - see threshold_request.hpp.
 */
#include "backend/release/threshold_request.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/varlena.h"
}

#include <string>

#include "backend/catalog/function_arguments.hpp"
#include "core/base/error.hpp"
#include "core/buckets/bucket_thresholds.hpp"

namespace privacy_score {

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
Datum ValueNamed(const ValueList* values, const char* key) {
  ErrorContextCallback context = {error_context_stack, AddKeyContext, const_cast<char*>(key)};
  error_context_stack = &context;
  const Datum value = ValueOfText(values, key);
  error_context_stack = context.previous;
  return value;
}

// A value that differs from the key by case, or by a letter or two; null when none of the first thousands does.
const char* ValueLike(const ValueList* values, int64 count, const char* key) {
  constexpr int64 kMost = 10000;
  constexpr int kLongest = 255;  // that distances are computed of
  const auto length = static_cast<int>(strlen(key));
  const int apart = length < 4 ? 0 : 2;
  for (int64 number = 0; number < Min(count, kMost); ++number) {
    if (number == values->null_number) continue;
    const char* value = TextOfNumber(values, number);
    if (pg_strcasecmp(value, key) == 0) return value;
    const auto other = static_cast<int>(strlen(value));
    if (apart > 0 && length <= kLongest && other <= kLongest &&
        varstr_levenshtein_less_equal(key, length, value, other, 1, 1, 1, apart, true) <= apart)
      return value;
  }
  return nullptr;
}

}  // namespace

void FindListedValues(ThresholdRequest* request, ValueList* values, int64 count, bool allow) {
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
      const int64 number = FindNumber(values, ValueNamed(values, listed->key), false);
      listed->number = number < count ? number : -1;
    }
    if (listed->number >= 0) continue;
    if (missing++ == 0) first_missing = listed->key;
  }
  if (missing == 0) return;
  const char* meant = ValueLike(values, count, first_missing);
  ereport(
      allow ? WARNING : ERROR,
      (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
       errmsg("no record has the value \"%s\", which has a threshold", first_missing),
       missing > 1 ? errdetail("Nor do records have %d more values with thresholds.", missing - 1) : 0,
       allow              ? errhint("A value that is misspelt in thresholds is published without one.")
       : meant != nullptr ? errhint("Perhaps you meant \"%s\", which would be published without a threshold.", meant)
                          : errhint("A value that is misspelt in thresholds would be published without one. Leave the "
                                    "key out, or say values_without_threshold => 'allow'.")));
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

}  // namespace privacy_score
