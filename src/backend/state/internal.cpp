/*
 * internal.cpp - see internal.hpp.
 */
#include "backend/state/internal.hpp"

extern "C" {
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/kept_plans.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/watching.hpp"

namespace privacy_score {

void EnterInternal(InternalScope* scope, Oid user) {
  if (!OidIsValid(user)) user = RequireExtension();
  GetUserIdAndSecContext(&scope->user, &scope->security_context);
  SetUserIdAndSecContext(user, scope->security_context | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  scope->guc_nest_level = NewGUCNestLevel();
  SetWithin("search_path", "pg_catalog, pg_temp");
  // Of catalogs and arrays of which nothing is known so much is expected that compiling a query takes a second and
  // running it none.
  SetWithin("jit", "off");
  // Plans of ours that the client has printed would tell how many rows our tables have.
  const bool prints = Debug_print_plan || Debug_print_parse || Debug_print_rewritten;
  if (prints && client_min_messages <= LOG) SetWithin("client_min_messages", "notice");
  ConnectSpi();
  scope->uncounted = BeginUncounted(Uncounted::kAll);
}

void LeaveInternal(const InternalScope* scope) {
  EndUncounted(scope->uncounted);
  SPI_finish();
  AtEOXact_GUC(false, scope->guc_nest_level);
  SetUserIdAndSecContext(scope->user, scope->security_context);
}

namespace {

int ExecuteInternal(const char* sql, int nargs, const char* const* args) {
  TextArguments arguments;
  FillTextArguments(&arguments, nargs, args);
  return SPI_execute_with_args(sql, nargs, arguments.types, arguments.values, arguments.nulls, false, 0);
}

}  // namespace

uint64 RunInternal(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal statement");
  if (SPI_tuptable != nullptr) SPI_freetuptable(SPI_tuptable);
  return SPI_processed;
}

void QueryInternal(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal query");
}

char* InternalValue(const char* sql, int nargs, const char* const* args) {
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal query");
  if (SPI_tuptable == nullptr || SPI_processed == 0) return nullptr;
  return FieldText(0, 0);
}

char* KeptInternalValue(const char* sql, int nargs, const char* const* args) {
  TextArguments arguments;
  FillTextArguments(&arguments, nargs, args);
  if (SPI_execute_plan(KeptPlan(sql, nargs), arguments.values, arguments.nulls, false, 0) < 0)
    elog(ERROR, "could not run an internal query");
  return SPI_processed == 0 ? nullptr : FieldText(0, 0);
}

Oid InternalOid(const char* sql, Oid argument) {
  const char* args[] = {TextOfOid(argument)};
  InternalScope scope;
  EnterInternal(&scope);
  const char* text = InternalValue(sql, 1, args);
  LeaveInternal(&scope);
  return text == nullptr ? InvalidOid : static_cast<Oid>(strtoul(text, nullptr, 10));
}

void PutInternalRows(FunctionCallInfo fcinfo, const char* sql, int nargs, const char* const* args) {
  InitMaterializedSRF(fcinfo, 0);
  auto* info = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  InternalScope scope;
  EnterInternal(&scope);
  SetWithin("datestyle", "ISO");
  if (ExecuteInternal(sql, nargs, args) < 0) elog(ERROR, "could not run an internal query");
  for (uint64 row = 0; row < SPI_processed; ++row) tuplestore_puttuple(info->setResult, SPI_tuptable->vals[row]);
  LeaveInternal(&scope);
}

void KeepAbstractions() { RunInternal("LOCK TABLE privacy_score.abstraction IN ROW SHARE MODE"); }

void LockAbstractions() { RunInternal("LOCK TABLE privacy_score.abstraction IN SHARE ROW EXCLUSIVE MODE"); }

void SetWithin(const char* name, const char* value) {
  set_config_option(name, value, PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

}  // namespace privacy_score
