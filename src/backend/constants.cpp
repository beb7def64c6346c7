/*
 * constants.cpp - see constants.hpp.
 */
#include "constants.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/bitmapset.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

#include <vector>

#include "compat.hpp"
#include "core/keyed_hash.hpp"
#include "core_call.hpp"
#include "live.hpp"
#include "shared_state.hpp"

namespace {

using privacy_score::FoldHash;
using privacy_score::ParameterValue;

// No syscache has this id; see hooks.cpp.
constexpr int kConstantsCache = -0x5054;

constexpr int kParameterCount = static_cast<int>(privacy_score::kParameterCountWord);
constexpr uint64 kNullHash = 1;
constexpr uint64 kUnknownHash = 2;

uint64 HashOfBytes(const char* bytes, Size length) {
  constexpr privacy_score::HashKey none = {0, 0};
  return privacy_score::KeyedHash(ps_shared == nullptr ? none : ps_shared->hash_key, {bytes, length});
}

uint64 HashOfText(const char* text) { return HashOfBytes(text, strlen(text)); }

uint64 HashOfVarlena(Datum value, bool trim) {
  struct varlena* bytes = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
  Size length = VARSIZE_ANY_EXHDR(bytes);
  while (trim && length > 0 && VARDATA_ANY(bytes)[length - 1] == ' ') --length;
  const uint64 hash = HashOfBytes(VARDATA_ANY(bytes), length);
  if (reinterpret_cast<Pointer>(bytes) != DatumGetPointer(value)) pfree(bytes);
  return hash;
}

// The whole array as it lies in memory; its text would be many times as dear.
uint64 HashOfArray(Datum value) {
  ArrayType* array = DatumGetArrayTypeP(value);
  return HashOfBytes(reinterpret_cast<const char*>(array), VARSIZE(array));
}

// May raise. Floating point does not depend on extra_float_digits.
uint64 HashOrRaise(Oid type, Datum value) {
  char text[64];
  switch (type) {
    case BOOLOID:
      return HashOfText(DatumGetBool(value) ? "t" : "f");
    case INT2OID:
      pg_itoa(DatumGetInt16(value), text);
      return HashOfText(text);
    case INT4OID:
      pg_ltoa(DatumGetInt32(value), text);
      return HashOfText(text);
    case INT8OID:
      pg_lltoa(DatumGetInt64(value), text);
      return HashOfText(text);
    case FLOAT4OID:
      return HashOfText(psprintf("%.9g", static_cast<double>(DatumGetFloat4(value))));
    case FLOAT8OID:
      return HashOfText(psprintf("%.17g", DatumGetFloat8(value)));
    case TEXTOID:
    case VARCHAROID:
    case BYTEAOID:
      return HashOfVarlena(value, false);
    case BPCHAROID:
      return HashOfVarlena(value, true);
    case UNKNOWNOID:
    case CSTRINGOID:
      return HashOfText(DatumGetCString(value));
    case NAMEOID:
      return HashOfText(NameStr(*DatumGetName(value)));
    default:
      break;
  }
  if (OidIsValid(get_element_type(type))) return HashOfArray(value);
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  return HashOfText(OidOutputFunctionCall(output, value));
}

// Runs `body`, which makes server calls, and returns true; false when it raised anything but a cancel, which goes on.
template <typename Body>
bool Guarded(Body body) {
  MemoryContext context = CurrentMemoryContext;
  volatile bool done = false;
  PG_TRY()
    ;
    {
      body();
      done = true;
    }
    PG_CATCH();
    {
      MemoryContextSwitchTo(context);
      ErrorData* error = CopyErrorData();
      if (error->sqlerrcode == ERRCODE_QUERY_CANCELED || error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN) PG_RE_THROW();
      FlushErrorState();
      FreeErrorData(error);
    }
  PG_END_TRY();
  return done;
}

struct Vector {
  uint64 hash;
  Bitmapset* parameters;
};

// Folds every constant below a node, and notes the parameters.
bool AddConstants(Node* node, void* context) {
  if (node == nullptr) return false;
  auto* vector = static_cast<Vector*>(context);
  if (IsA(node, Const)) {
    auto* constant = reinterpret_cast<Const*>(node);
    vector->hash = FoldHash(vector->hash,
                            constant->constisnull ? kNullHash : HashOfDatum(constant->consttype, constant->constvalue));
    return false;
  }
  if (IsA(node, Param)) {
    auto* parameter = reinterpret_cast<Param*>(node);
    if (parameter->paramkind == PARAM_EXTERN)
      vector->parameters = bms_add_member(vector->parameters, parameter->paramid);
    return false;
  }
  if (IsA(node, RangeTblEntry)) return false;  // what is in it comes next
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<Query*>(node), AddConstants, context);
  return WalkChildren(node, AddConstants, context);
}

const ParamExternData* Fetch(ParamListInfo given, int number, ParamExternData* workspace) {
  if (given == nullptr || number <= 0 || number > given->numParams) return nullptr;
  // Speculative: PL/pgSQL then says that a field is not there instead of raising.
  if (given->paramFetch != nullptr) return given->paramFetch(given, number, true, workspace);
  return &given->params[number - 1];
}

void ReadParameter(ParamListInfo given, ParameterValue* value) {
  ParamExternData workspace;
  const ParamExternData* data = Fetch(given, value->number, &workspace);
  if (data == nullptr || data->isnull || !OidIsValid(data->ptype)) return;
  value->hash = HashOfDatum(data->ptype, data->value);
  value->elements = HashesOfElements(data->ptype, data->value, &value->element_count);
  value->is_null = false;
}

// The words that MarkConstants left in a plan; none when it was made unwatched.
PlanConstants ConstantsOfPlan(const PlannedStmt* plan) {
  auto* words = static_cast<uint32*>(palloc(sizeof(uint32) * (static_cast<Size>(list_length(plan->invalItems)) + 1)));
  PlanConstants constants = {words, 0};
  ListCell* cell;
  foreach (cell, plan->invalItems) {
    const auto* item = static_cast<PlanInvalItem*>(lfirst(cell));
    if (item->cacheId == kConstantsCache) words[constants.count++] = item->hashValue;
  }
  return constants;
}

// Words of a statement of which nothing is known but its parameters: no constants, all parameters, no comparisons.
PlanConstants ParametersAlone(ParamListInfo given) {
  const int count = given == nullptr ? 0 : given->numParams;
  auto* words = static_cast<uint32*>(palloc0(sizeof(uint32) * static_cast<Size>(kParameterCount + count + 2)));
  words[kParameterCount] = static_cast<uint32>(count);
  for (int i = 1; i <= count; ++i) words[kParameterCount + i] = static_cast<uint32>(i);
  return {words, kParameterCount + count + 2};
}

}  // namespace

uint64 HashOfDatum(Oid type, Datum value) {
  uint64 hash = kUnknownHash;
  switch (type) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
      return HashOrRaise(type, value);
    default:
      return Guarded([&] { hash = HashOrRaise(type, value); }) ? hash : kUnknownHash;
  }
}

uint64* HashesOfElements(Oid type, Datum value, int* count) {
  *count = 0;
  const Oid element = get_base_element_type(type);
  if (!OidIsValid(element)) return nullptr;
  ArrayType* array = DatumGetArrayTypeP(value);
  ArrayIterator iterator = array_create_iterator(array, 0, nullptr);
  const int size = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
  const int most = Min(size, static_cast<int>(privacy_score::kMostComparedValues));
  auto* hashes = static_cast<uint64*>(palloc(sizeof(uint64) * static_cast<Size>(most + 1)));
  Datum item;
  bool is_null;
  while (*count < most && array_iterate(iterator, &item, &is_null))
    if (!is_null) hashes[(*count)++] = HashOfDatum(element, item);
  array_free_iterator(iterator);
  return hashes;
}

PlanConstants ConstantsOfQuery(Query* query, const privacy_score::Statement& statement, MemoryContext context) {
  static std::vector<int>* numbers = nullptr;
  static privacy_score::ConstantWords* words = nullptr;
  Vector vector = {0, nullptr};
  AddConstants(reinterpret_cast<Node*>(query), &vector);
  CoreError error;
  const bool begun = CallCore(&error, [] {
    if (numbers == nullptr) numbers = new std::vector<int>();
    if (words == nullptr) words = new privacy_score::ConstantWords();
    numbers->clear();
  });
  bool done = begun;
  for (int number = -1; done && (number = bms_next_member(vector.parameters, number)) >= 0;)
    done = CallCore(&error, [&] { numbers->push_back(number); });
  done = done && CallCore(&error, [&] {
           *words = privacy_score::Encode({vector.hash, *numbers, privacy_score::FindComparisons(statement)});
         });
  if (!done) {
    CountScoringError(error.message);
    return {nullptr, 0};
  }
  const Size size = words->size() * sizeof(uint32);
  auto* copy = static_cast<uint32*>(MemoryContextAllocHuge(context, size));
  memcpy(copy, words->data(), size);
  return {copy, static_cast<int>(words->size())};
}

void MarkConstants(PlannedStmt* plan, PlanConstants constants) {
  for (int i = 0; i < constants.count; ++i) {
    PlanInvalItem* item = makeNode(PlanInvalItem);
    item->cacheId = kConstantsCache;
    item->hashValue = constants.words[i];
    plan->invalItems = lappend(plan->invalItems, item);
  }
}

EventConstants ConstantsOfExecution(const PlannedStmt* plan, ParamListInfo given) {
  EventConstants event = {ConstantsOfPlan(plan), nullptr, 0};
  if (event.plan.count == 0) event.plan = ParametersAlone(given);
  const int count = static_cast<int>(event.plan.words[kParameterCount]);
  if (count == 0) return event;
  auto* values = static_cast<ParameterValue*>(palloc(sizeof(ParameterValue) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) {
    ParameterValue* value = &values[i];
    *value = {static_cast<int>(event.plan.words[kParameterCount + 1 + i]), true, 0, nullptr, 0};
    (void)Guarded([given, value] { ReadParameter(given, value); });
  }
  event.parameters = values;
  event.parameter_count = count;
  return event;
}
