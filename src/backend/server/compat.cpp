/*
 * compat.cpp - see compat.hpp.
 */
#include "backend/server/compat.hpp"

extern "C" {
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#else
#include "storage/lwlock.h"
#include "storage/shmem.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/defrem.h"
#endif
#if PG_VERSION_NUM < 150000
#include "funcapi.h"
#include "utils/int8.h"
#include "utils/tuplestore.h"
#endif
}

namespace privacy_score {

#if PG_VERSION_NUM >= 170000
void* SharedOnFirstUse(const char* name, Size size, void (*init)(void* place)) {
  bool found;
  return GetNamedDSMSegment(name, size, init, &found);
}
#else
void* SharedOnFirstUse(const char* name, Size size, void (*init)(void* place)) {
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  void* place = ShmemInitStruct(name, size, &found);
  if (!found) init(place);
  LWLockRelease(AddinShmemInitLock);
  return place;
}
#endif

#if PG_VERSION_NUM >= 180000
namespace {

const ExplainOption* own_option = nullptr;
int own_id = 0;
ExplainOneQuery_hook_type prev_explain_query = nullptr;
explain_per_plan_hook_type prev_explain_plan = nullptr;

void ps_explain_option(ExplainState* explain, DefElem* given, ParseState*) {
  SetExplainExtensionState(explain, own_id, defGetBoolean(given) ? own_option->begin() : nullptr);
}

void ps_explain_one_query(::Query* query, int options, IntoClause* into, ExplainState* explain, const char* text,
                          ParamListInfo parameters, QueryEnvironment* environment) {
  if (void* kept = GetExplainExtensionState(explain, own_id)) own_option->before_planning(kept, query);
  if (prev_explain_query)
    prev_explain_query(query, options, into, explain, text, parameters, environment);
  else
    standard_ExplainOneQuery(query, options, into, explain, text, parameters, environment);
}

void ps_explain_plan(PlannedStmt* plan, IntoClause* into, ExplainState* explain, const char* text,
                     ParamListInfo parameters, QueryEnvironment* environment) {
  if (prev_explain_plan) prev_explain_plan(plan, into, explain, text, parameters, environment);
  if (void* kept = GetExplainExtensionState(explain, own_id)) own_option->after_plan(kept, plan, explain);
}

}  // namespace

void AddExplainOption(const ExplainOption* option) {
  own_option = option;
  own_id = GetExplainExtensionId("privacy_score");
  RegisterExtensionExplainOption(option->name, ps_explain_option);
  prev_explain_query = ExplainOneQuery_hook;
  ExplainOneQuery_hook = ps_explain_one_query;
  prev_explain_plan = explain_per_plan_hook;
  explain_per_plan_hook = ps_explain_plan;
}
#else
void AddExplainOption(const ExplainOption*) {}
#endif

#if PG_VERSION_NUM < 150000
void InitMaterializedSRF(FunctionCallInfo fcinfo, bits32) {
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  if (result == nullptr || !IsA(result, ReturnSetInfo))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("set-valued function called in context that cannot accept a set")));
  if ((result->allowedModes & SFRM_Materialize) == 0)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("materialize mode required, but it is not allowed in this context")));
  MemoryContext before = MemoryContextSwitchTo(result->econtext->ecxt_per_query_memory);
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  result->returnMode = SFRM_Materialize;
  result->setResult = tuplestore_begin_heap((result->allowedModes & SFRM_Materialize_Random) != 0, false, work_mem);
  result->setDesc = columns;
  MemoryContextSwitchTo(before);
}

int64 pg_strtoint64(const char* text) {
  int64 value;
  (void)scanint8(text, false, &value);
  return value;
}
#endif

}  // namespace privacy_score
