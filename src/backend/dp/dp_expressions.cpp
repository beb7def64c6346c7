/*
 * dp_expressions.cpp - what may run on persons' rows, by OID; dp_expression() (see dp_expressions.hpp).
 */
#include "backend/dp/dp_expressions.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include <string>
#include <string_view>
#include <vector>

#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_dp_expression);
}

namespace {

const char* NameOfType(Oid type) {
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return "";
  const char* name = pstrdup(NameStr(reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typname));
  ReleaseSysCache(tuple);
  return name;
}

// What core says of a name and of the names of `count` types.
ServerFunctionRule RuleOfNames(const char* name, const char* const* types, int count) {
  std::string_view reason;
  ExpressionRule* rule = NewCoreObject<ExpressionRule>();
  CallCoreOrRaise([&] {
    *rule = RuleOfFunction(name, std::vector<std::string_view>(types, types + count));
    reason = rule->reason;
  });
  const char* shown =
      rule->use == ExpressionUse::kRefused ? pnstrdup(reason.data(), static_cast<Size>(reason.size())) : nullptr;
  return {rule->use, rule->constant_arguments, shown};
}

constexpr const char* kUses[] = {"safe", "guarded", "refused"};

}  // namespace

ServerFunctionRule RuleOfServerFunction(Oid function) {
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION), errmsg("function with OID %u does not exist", function),
                    errhint("Look it up in pg_proc.")));
  auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
  ServerFunctionRule rule = {ExpressionUse::kRefused, 0, nullptr};
  if (function >= FirstGenbkiObjectId || form->pronamespace != PG_CATALOG_NAMESPACE) {
    rule.reason = "it is not one of the server's own";
  } else if (form->prokind != PROKIND_FUNCTION) {
    rule.reason = "it is computed from more than one row";
  } else {
    const char* types[FUNC_MAX_ARGS];
    const int count = form->pronargs;
    for (int i = 0; i < count; ++i) types[i] = NameOfType(form->proargtypes.values[i]);
    rule = RuleOfNames(pstrdup(NameStr(form->proname)), types, count);
    if (rule.use != ExpressionUse::kRefused && (form->provolatile == PROVOLATILE_VOLATILE || form->proretset))
      rule = {ExpressionUse::kRefused, 0, "it does not give one value for one row"};
  }
  ReleaseSysCache(tuple);
  return rule;
}

// dp_expression(function)
Datum ps_dp_expression(PG_FUNCTION_ARGS) {
  const ServerFunctionRule rule = RuleOfServerFunction(PG_GETARG_OID(0));
  TupleDesc shape = nullptr;
  if (get_call_result_type(fcinfo, nullptr, &shape) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "dp_expression() must return a row");
  Datum constants[FUNC_MAX_ARGS];
  int count = 0;
  for (int i = 0; i < 32; ++i)
    if ((rule.constant_arguments >> i & 1U) != 0) constants[count++] = Int32GetDatum(i + 1);
  Datum values[] = {CStringGetTextDatum(kUses[static_cast<int>(rule.use)]),
                    count > 0 ? PointerGetDatum(construct_array(constants, count, INT4OID, 4, true, TYPALIGN_INT)) : 0,
                    rule.reason != nullptr ? CStringGetTextDatum(rule.reason) : 0};
  bool nulls[] = {false, count == 0, rule.reason == nullptr};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(shape), values, nulls)));
}

}  // namespace privacy_score
