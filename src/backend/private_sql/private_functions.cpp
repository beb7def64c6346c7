/*
 * private_functions.cpp - see private_functions.hpp.
 *
 * Which functions need a guard says backend/dp/dp_expressions.hpp. A guard is a call of the extension's own that calls
 * what it guards and makes NULL of errors of data (SQLSTATE classes 22 and 54, and 0A: NaN has no integer, a type not
 * all fields). There is no subtransaction: what is guarded is pure.
 */
#include "backend/private_sql/private_functions.hpp"

extern "C" {
#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

#include "backend/dp/dp_expressions.hpp"
#include "backend/private_sql/private_trees.hpp"
#include "backend/server/compat.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_guarded);
}

namespace {

Oid GuardFunction() {
  const Oid schema = GetSysCacheOid1(NAMESPACENAME, Anum_pg_namespace_oid, CStringGetDatum("privacy_score"));
  const Oid types[] = {OIDOID, ANYOID};
  return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("guarded"),
                         PointerGetDatum(buildoidvector(types, 2)), ObjectIdGetDatum(schema));
}

Node* Guarded(Oid function, List* arguments, Oid type, Oid collation, Oid input_collation) {
  Const* inner = makeConst(OIDOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(function), false, true);
  return reinterpret_cast<Node*>(
      makeFuncExpr(GuardFunction(), type, lcons(inner, arguments), collation, input_collation, COERCE_EXPLICIT_CALL));
}

bool NeedsGuard(Oid function) { return RuleOfServerFunction(function).use == ExpressionUse::kGuarded; }

// What sums and averages of a type may be over, so that no number of rows makes them overflow: the squares of floats
// are summed, too. Null text: no such type.
struct SumBound {
  const char* text;
  Oid absolute;
};

SumBound BoundOfSum(Oid function) {
  switch (function) {
    case F_SUM_NUMERIC:
    case F_AVG_NUMERIC:
      return {"1e1000", F_ABS_NUMERIC};
    case F_SUM_FLOAT8:
    case F_AVG_FLOAT8:
      return {"1e100", F_ABS_FLOAT8};
    case F_SUM_FLOAT4:
    case F_AVG_FLOAT4:
      return {"1e10", F_ABS_FLOAT4};
    default:
      return {nullptr, InvalidOid};
  }
}

// CASE WHEN abs(value) < bound THEN value END
Node* Bounded(Node* value, SumBound bound) {
  const Oid type = exprType(value);
  Oid input;
  Oid parameter;
  getTypeInputInfo(type, &input, &parameter);
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  Const* most = makeConst(type, -1, InvalidOid, length,
                          OidInputFunctionCall(input, const_cast<char*>(bound.text), parameter, -1), false, by_value);
  auto* size =
      makeFuncExpr(bound.absolute, type, list_make1(CopyNode(value)), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
  auto* is_less = castNode(
      OpExpr, make_opclause(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr, BOOLOID, false,
                            reinterpret_cast<::Expr*>(size), reinterpret_cast<::Expr*>(most), InvalidOid, InvalidOid));
  set_opfuncid(is_less);
  auto* branch = makeNode(CaseWhen);
  branch->expr = reinterpret_cast<::Expr*>(is_less);
  branch->result = reinterpret_cast<::Expr*>(value);
  branch->location = -1;
  auto* choice = makeNode(CaseExpr);
  choice->casetype = type;
  choice->args = list_make1(branch);
  choice->defresult = reinterpret_cast<::Expr*>(makeNullConst(type, exprTypmod(value), InvalidOid));
  choice->location = -1;
  return reinterpret_cast<Node*>(choice);
}

struct GuardedFunction {
  Oid oid;
  FmgrInfo call;
};

// Raises unless the call is one that GuardCalls() has made: of a function that may be guarded, with arguments of its
// types, and as a value of its type, which no call in SQL is.
void RequireOwnCall(FmgrInfo* call, Oid function, int count) {
  Oid* types = nullptr;
  int type_count = 0;
  bool own = NeedsGuard(function) && OidIsValid(get_func_signature(function, &types, &type_count)) &&
             get_fn_expr_rettype(call) == get_func_rettype(function);
  const bool takes_more = own && get_func_variadictype(function) == ANYOID;
  own = own && (takes_more ? count >= type_count : count == type_count);
  for (int i = 0; own && i < type_count; ++i) own = IsBinaryCoercible(get_fn_expr_argtype(call, i + 1), types[i]);
  if (!own)
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("guarded() is no function to be called"),
                    errhint("Plans that answer privately call it.")));
}

// The call of the function itself, from which those that take any type learn theirs.
Node* CallWithin(FmgrInfo* guard, Oid function) {
  MemoryContext old = MemoryContextSwitchTo(guard->fn_mcxt);
  auto* call = castNode(FuncExpr, CopyTree(guard->fn_expr));
  call->funcid = function;
  call->args = list_delete_first(call->args);
  MemoryContextSwitchTo(old);
  return reinterpret_cast<Node*>(call);
}

bool IsOfData(int sqlstate) {
  // Arrays of what cannot be compared, and values that are larger than memory takes, depend on the row, too.
  if (sqlstate == ERRCODE_UNDEFINED_FUNCTION || sqlstate == ERRCODE_OUT_OF_MEMORY || sqlstate == ERRCODE_INTERNAL_ERROR)
    return true;
  const int category = ERRCODE_TO_CATEGORY(sqlstate);
  return category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) ||
         category == ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED) ||
         category == ERRCODE_TO_CATEGORY(ERRCODE_FEATURE_NOT_SUPPORTED);
}

}  // namespace

Node* GuardCalls(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, Query)) return reinterpret_cast<Node*>(MutateQuery(AsQuery(node), GuardCalls, context));
  Node* copy = MutateChildren(node, GuardCalls, context);
  if (IsA(copy, FuncExpr)) {
    const auto* call = castNode(FuncExpr, copy);
    if (NeedsGuard(call->funcid)) {
      Node* guarded = Guarded(call->funcid, call->args, call->funcresulttype, call->funccollid, call->inputcollid);
      castNode(FuncExpr, guarded)->funcvariadic = call->funcvariadic;
      return guarded;
    }
  } else if (IsA(copy, OpExpr)) {
    const auto* call = castNode(OpExpr, copy);
    const Oid function = OidIsValid(call->opfuncid) ? call->opfuncid : get_opcode(call->opno);
    if (NeedsGuard(function))
      return Guarded(function, call->args, call->opresulttype, call->opcollid, call->inputcollid);
  }
  return copy;
}

Node* BoundSums(Node* node, void* context) {
  if (node == nullptr || IsA(node, Query)) return node;
  Node* copy = MutateChildren(node, BoundSums, context);
  if (!IsA(copy, Aggref)) return copy;
  auto* aggregate = castNode(Aggref, copy);
  const SumBound bound = BoundOfSum(aggregate->aggfnoid);
  if (bound.text == nullptr || IsBoundedSum(aggregate)) return copy;
  auto* argument = linitial_node(TargetEntry, aggregate->args);
  argument->expr = reinterpret_cast<::Expr*>(Bounded(reinterpret_cast<Node*>(argument->expr), bound));
  return copy;
}

bool IsBoundedSum(const Aggref* aggregate) {
  const SumBound bound = BoundOfSum(aggregate->aggfnoid);
  if (bound.text == nullptr || list_length(aggregate->args) != 1) return false;
  auto* argument = reinterpret_cast<Node*>(linitial_node(TargetEntry, aggregate->args)->expr);
  if (!IsA(argument, CaseExpr) || castNode(CaseExpr, argument)->args == NIL) return false;
  auto* value = reinterpret_cast<Node*>(linitial_node(CaseWhen, castNode(CaseExpr, argument)->args)->result);
  return exprType(value) == exprType(argument) && equal(argument, Bounded(value, bound));
}

// guarded(function, arguments ...): what the function makes of them, NULL where it fails. Called by plans of ours only.
Datum ps_guarded(PG_FUNCTION_ARGS) {
  auto* guarded = static_cast<GuardedFunction*>(fcinfo->flinfo->fn_extra);
  if (guarded == nullptr) {
    const Oid oid = PG_GETARG_OID(0);
    RequireOwnCall(fcinfo->flinfo, oid, PG_NARGS() - 1);
    guarded = static_cast<GuardedFunction*>(MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(GuardedFunction)));
    guarded->oid = oid;
    fmgr_info_cxt(oid, &guarded->call, fcinfo->flinfo->fn_mcxt);
    fmgr_info_set_expr(CallWithin(fcinfo->flinfo, oid), &guarded->call);
    fcinfo->flinfo->fn_extra = guarded;
  }
  const int count = PG_NARGS() - 1;
  LOCAL_FCINFO(inner, FUNC_MAX_ARGS);
  InitFunctionCallInfoData(*inner, &guarded->call, static_cast<short>(count), fcinfo->fncollation, nullptr, nullptr);
  for (int i = 0; i < count; ++i) {
    inner->args[i] = fcinfo->args[i + 1];
    if (inner->args[i].isnull && guarded->call.fn_strict) PG_RETURN_NULL();
  }
  volatile Datum result = 0;
  volatile bool failed = false;
  MemoryContext context = CurrentMemoryContext;
  PG_TRY();
  { result = FunctionCallInvoke(inner); }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    ErrorData* error = CopyErrorData();
    if (!IsOfData(error->sqlerrcode)) PG_RE_THROW();
    FreeErrorData(error);
    FlushErrorState();
    failed = true;
  }
  PG_END_TRY();
  if (failed || inner->isnull) PG_RETURN_NULL();
  return result;
}

}  // namespace privacy_score
