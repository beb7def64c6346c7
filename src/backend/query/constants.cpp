/*
 * constants.cpp - see constants.hpp.
 */
#include "backend/query/constants.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/bitmapset.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
}

#include <vector>

#include "backend/catalog/subject_key.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/guarded.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_state.hpp"
#include "core/base/constant_hash.hpp"

namespace privacy_score {

namespace {

using privacy_score::BoundConstants;
using privacy_score::FoldHash;
using privacy_score::ParameterValue;

constexpr int kParameterCount = static_cast<int>(privacy_score::kParameterCountWord);
constexpr uint64 kNullHash = 1;
constexpr uint64 kUnknownHash = 2;

const privacy_score::HashKey& Key() { return SubjectKeyInForce().key; }

[[gnu::hot]] uint64 HashOfNumber(int64 number) { return privacy_score::ConstantHashOfShort(Key(), number); }

uint64 HashOfLong(int64 number) { return privacy_score::ConstantHash(Key(), std::int64_t{number}); }

uint64 HashOfBytes(const char* bytes, Size length) {
  return privacy_score::ConstantHash(Key(), std::string_view(bytes, length));
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
[[gnu::hot]] uint64 HashOrRaise(Oid type, Datum value) {
  switch (type) {
    case BOOLOID:
      return HashOfText(DatumGetBool(value) ? "t" : "f");
    case INT2OID:
      return HashOfNumber(DatumGetInt16(value));
    case INT4OID:
      return HashOfNumber(DatumGetInt32(value));
    case INT8OID:
      return HashOfLong(DatumGetInt64(value));
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

// True for types whose values are hashed without any chance of an error, and that are no arrays.
bool IsPlainType(Oid type) { return type == INT4OID || type == INT8OID || type == INT2OID || type == BOOLOID; }

// Whether what hashing calls for values of a type, in line, is the server's own and raises nothing, but for want of
// memory or on damaged data: an error that may take the statement with it. Types' own output functions, and values out
// of line, are contained.
bool IsHarmlessType(Oid type) {
  switch (type) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case UNKNOWNOID:
    case CSTRINGOID:
    case NAMEOID:
    case TEXTOID:
    case VARCHAROID:
    case BYTEAOID:
    case BPCHAROID:
      return true;
    default:
      break;
  }
  if (OidIsValid(get_element_type(type))) return true;  // hashed as it lies in memory
  Oid output;
  bool varlena;
  getTypeOutputInfo(type, &output, &varlena);
  // What shows containers shows their elements too.
  const Oid base = getBaseType(type);
  const char kind = get_typtype(base);
  return output < FirstGenbkiObjectId && !OidIsValid(get_element_type(base)) &&
         (kind == TYPTYPE_BASE || kind == TYPTYPE_ENUM);
}

bool IsHarmlessValue(Oid type, Datum value) {
  if (IsPlainType(type)) return true;
  const bool out_of_line = get_typlen(type) == -1 && VARATT_IS_EXTERNAL(DatumGetPointer(value)) &&
                           !VARATT_IS_EXTERNAL_EXPANDED(DatumGetPointer(value));
  return !out_of_line && IsHarmlessType(type);
}

// Runs `body`, which makes server calls, and returns true; false when it raised anything but a cancel, which goes on,
// or could not be contained and was not run.
template <typename Body>
bool Contained(Body body) {
  if (!CanContainFaults()) return false;
  ErrorData* error = InSubtransaction(body);
  if (error == nullptr) return true;
  FreeErrorData(error);
  return false;
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
    vector->hash = FoldHash(vector->hash, HashOfConstant(constant, kNullHash));
    return false;
  }
  if (IsA(node, Param)) {
    auto* parameter = reinterpret_cast<Param*>(node);
    if (parameter->paramkind == PARAM_EXTERN)
      vector->parameters = bms_add_member(vector->parameters, parameter->paramid);
    return false;
  }
  if (IsA(node, RangeTblEntry)) return false;  // what is in it comes next
  if (IsA(node, Query)) return WalkQuery(reinterpret_cast<::Query*>(node), AddConstants, context);
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
  if (!IsPlainType(data->ptype)) value->elements = HashesOfElements(data->ptype, data->value, &value->element_count);
  value->is_null = false;
}

// The same for most: false when it must be read with care.
bool ReadPlainParameter(ParamListInfo given, ParameterValue* value) {
  if (given == nullptr || given->paramFetch != nullptr || value->number < 1 || value->number > given->numParams)
    return false;
  const ParamExternData& data = given->params[value->number - 1];
  if (!IsPlainType(data.ptype)) return false;
  value->is_null = data.isnull;
  if (!data.isnull) value->hash = HashOrRaise(data.ptype, data.value);
  return true;
}

// Room for the values of an execution, kept for the next one.
ParameterValue* RoomForParameters(int count) {
  static ParameterValue* room = nullptr;
  static int size = 0;
  if (count > size) {
    const int larger = Max(count, 16);
    const Size bytes = sizeof(ParameterValue) * static_cast<Size>(larger);
    auto* values = static_cast<ParameterValue*>(MemoryContextAlloc(TopMemoryContext, bytes));
    if (room != nullptr) pfree(room);
    room = values;
    size = larger;
  }
  return room;
}

// Reads the values that take care into a copy in the current memory context: reading one may run statements, which
// want the room for theirs, and may end in a cancel.
ParameterValue* ReadWithCare(ParamListInfo given, const ParameterValue* values, int count) {
  const Size bytes = sizeof(ParameterValue) * static_cast<Size>(count);
  auto* copy = static_cast<ParameterValue*>(memcpy(palloc(bytes), values, bytes));
  for (int i = 0; i < count; ++i)
    if (!ReadPlainParameter(given, &copy[i])) ReadParameter(given, &copy[i]);
  return copy;
}

// Words of a statement of which nothing is known but its parameters: no constants, all parameters, no comparisons.
BoundConstants ParametersAlone(ParamListInfo given) {
  const int count = given == nullptr ? 0 : given->numParams;
  auto* words = static_cast<uint32*>(palloc0(sizeof(uint32) * static_cast<Size>(kParameterCount + count + 2)));
  words[kParameterCount] = static_cast<uint32>(count);
  for (int i = 1; i <= count; ++i) words[kParameterCount + i] = static_cast<uint32>(i);
  return {words, static_cast<std::size_t>(kParameterCount + count + 2), nullptr, 0};
}

}  // namespace

[[gnu::hot]] uint64 HashOfDatum(Oid type, Datum value) {
  if (IsHarmlessValue(type, value)) return HashOrRaise(type, value);
  uint64 hash = kUnknownHash;
  return Contained([&hash, type, value] { hash = HashOrRaise(type, value); }) ? hash : kUnknownHash;
}

uint64* HashesOfElements(Oid type, Datum value, int* count) {
  *count = 0;
  const Oid element = get_base_element_type(type);
  if (!OidIsValid(element)) return nullptr;
  constexpr auto kMost = static_cast<int>(privacy_score::kMostComparedValues);
  auto* hashes = static_cast<uint64*>(palloc(sizeof(uint64) * static_cast<Size>(kMost + 1)));
  const auto read = [=] {
    ArrayIterator iterator = array_create_iterator(DatumGetArrayTypeP(value), 0, nullptr);
    Datum item;
    bool is_null;
    while (*count < kMost && array_iterate(iterator, &item, &is_null))
      if (!is_null) hashes[(*count)++] = HashOrRaise(element, item);
    array_free_iterator(iterator);
  };
  // An array has its elements in line.
  if (IsHarmlessValue(type, value) && IsHarmlessType(element))
    read();
  else
    (void)Contained(read);
  return hashes;
}

[[gnu::hot]] uint64 HashOfConstant(const Const* constant, uint64 of_null) {
  return constant->constisnull ? of_null : HashOfDatum(constant->consttype, constant->constvalue);
}

ConstantWordsView EncodeConstants(::Query* query, const privacy_score::Statement& statement, const QueryKey* key) {
  static privacy_score::StatementConstants* constants = nullptr;
  static privacy_score::ConstantWords* words = nullptr;
  Vector vector = {0, nullptr};
  if (key == nullptr) AddConstants(reinterpret_cast<Node*>(query), &vector);
  for (int bit = 0; key != nullptr && bit < 64; ++bit)
    if ((key->parameters >> bit & 1) != 0) vector.parameters = bms_add_member(vector.parameters, bit + 1);
  CoreError error;
  bool done = CallCore(&error, [&vector] {
    if (constants == nullptr) constants = new privacy_score::StatementConstants();
    if (words == nullptr) words = new privacy_score::ConstantWords();
    constants->vector = vector.hash;
    constants->parameters.clear();
  });
  for (int number = -1; done && (number = bms_next_member(vector.parameters, number)) >= 0;)
    done = CallCore(&error, [number] { constants->parameters.push_back(number); });
  done = done && CallCore(&error, [&statement] {
           constants->groups = privacy_score::FindComparisons(statement);
           *words = privacy_score::Encode(*constants);
         });
  if (!done) {
    CountScoringError(error.message);
    return {nullptr, 0};
  }
  return {words->data(), static_cast<int>(words->size())};
}

[[gnu::hot]] uint64 VectorOfLiterals(const uint64* hashes, const QueryKey* key) {
  uint64 vector = 0;
  for (int i = 0; i < key->literal_count; ++i)
    vector = FoldHash(vector, key->literals[i]->constisnull ? kNullHash : hashes[i]);
  return vector;
}

BoundConstants ConstantsOfExecution(const PlanMark* mark, ParamListInfo given) {
  BoundConstants bound = mark != nullptr && mark->word_count > 0
                             ? BoundConstants{mark->words, static_cast<std::size_t>(mark->word_count), nullptr, 0}
                             : ParametersAlone(given);
  const int count = static_cast<int>(bound.words[kParameterCount]);
  if (count == 0) return bound;
  ParameterValue* values = RoomForParameters(count);
  bool all_plain = true;
  for (int i = 0; i < count; ++i) {
    values[i] = {static_cast<int>(bound.words[kParameterCount + 1 + i]), true, 0, nullptr, 0};
    all_plain &= ReadPlainParameter(given, &values[i]);
  }
  bound.parameters = all_plain ? values : ReadWithCare(given, values, count);
  bound.parameter_count = static_cast<std::size_t>(count);
  return bound;
}

uint64 VectorOfExecution(const BoundConstants& constants) {
  uint64 vector = 0;
  CoreError error;
  if (constants.count > 0 && !CallCore(&error, [&] {
        std::size_t groups_at = 0;
        vector = privacy_score::ResolveVector(constants, &groups_at);
      }))
    CountScoringError(error.message);
  return vector;
}

bool HashOfParameter(ParamListInfo given, int number, uint64* hash) {
  ParamExternData workspace;
  const ParamExternData* data = Fetch(given, number, &workspace);
  if (data == nullptr || !OidIsValid(data->ptype)) return false;
  *hash = data->isnull ? 0 : HashOfDatum(data->ptype, data->value);
  return true;
}

[[gnu::hot]] bool OneConstantOfExecution(const PlanMark* mark, ParamListInfo given, OneConstant* constant) {
  privacy_score::SoleConstant sole;
  if (!FindSoleConstant(mark->words, static_cast<std::size_t>(mark->word_count), sole)) return false;
  constant->column = sole.column;
  constant->hash = sole.hash;
  if (sole.parameter == 0) return true;
  if (given == nullptr || given->paramFetch != nullptr || sole.parameter < 1 || sole.parameter > given->numParams)
    return false;
  const ParamExternData& data = given->params[sole.parameter - 1];
  if (data.isnull) return false;
  if (data.ptype == INT4OID)
    constant->hash = HashOfNumber(DatumGetInt32(data.value));
  else if (data.ptype == INT8OID)
    constant->hash = HashOfLong(DatumGetInt64(data.value));
  else
    return false;
  return true;
}

}  // namespace privacy_score
