/*
 * error_scrubbing.cpp - see error_scrubbing.hpp.
 */
#include "backend/watch/error_scrubbing.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "storage/lwlock.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/watch/broken_waits.hpp"
#include "backend/watch/enforce.hpp"
#include "backend/watch/late_errors.hpp"
#include "backend/watch/shown_by_errors.hpp"
#include "backend/watch/statement_place.hpp"

namespace privacy_score {

namespace {

// In ErrorData.saved_errno: the error was looked at. Copies of an error keep it, and once the message is made nothing
// reads it.
constexpr int kLookedAt = 0x50530001;

constexpr const char* kHint = "The server's log has the rest, which may show values of protected relations.";

emit_log_hook_type prev_emit_log = nullptr;

// Errors that neither rows nor values bring about: cancels, conflicts, locks, settings, our own.
bool ComesFromNoValue(int code) {
  switch (ERRCODE_TO_CATEGORY(code)) {
    case MAKE_SQLSTATE('P', 'S', '0', '0', '0'):
    case ERRCODE_OPERATOR_INTERVENTION:
    case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
    case ERRCODE_INVALID_TRANSACTION_STATE:
    case ERRCODE_TRANSACTION_ROLLBACK:
      return true;
    default:
      return false;
  }
}

// Whether the constraint is broken that the error is about.
bool BreaksConstraint(int code) {
  return ERRCODE_TO_CATEGORY(code) == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION ||
         code == ERRCODE_WITH_CHECK_OPTION_VIOLATION;
}

// Whether all primary messages of a code are made of names and of numbers that do not come from rows.
bool MessageHoldsNoValue(const ErrorData* error) {
  const int code = error->sqlerrcode;
  switch (code) {
    case ERRCODE_DIVISION_BY_ZERO:
    case ERRCODE_CARDINALITY_VIOLATION:
    case ERRCODE_STRING_DATA_RIGHT_TRUNCATION:
    case ERRCODE_NULL_VALUE_NOT_ALLOWED:
    case ERRCODE_NO_DATA_FOUND:
    case ERRCODE_TOO_MANY_ROWS:
    case ERRCODE_STATEMENT_TOO_COMPLEX:
      return true;
    case ERRCODE_INSUFFICIENT_PRIVILEGE:
      // A policy of row security; others name large objects and settings.
      return error->funcname != nullptr && strcmp(error->funcname, "ExecWithCheckOptions") == 0;
    default:
      return BreaksConstraint(code) || ERRCODE_TO_CATEGORY(code) == ERRCODE_INSUFFICIENT_RESOURCES;
  }
}

// Whether a function in PL/pgSQL has raised it by RAISE or ASSERT.
bool IsRaised(const ErrorData* error) {
  return error->funcname != nullptr &&
         (strcmp(error->funcname, "exec_stmt_raise") == 0 || strcmp(error->funcname, "exec_stmt_assert") == 0);
}

// The relation that the broken foreign key of a relation refers to; InvalidOid when there is none.
Oid ReferredRelation(const ErrorData* error, Oid relation) {
  if (error->constraint_name == nullptr) return InvalidOid;
  const Oid constraint = get_relation_constraint_oid(relation, error->constraint_name, true);
  HeapTuple tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
  if (!HeapTupleIsValid(tuple)) return InvalidOid;
  const Oid referred = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(tuple))->confrelid;
  ReleaseSysCache(tuple);
  return referred;
}

// Whether a foreign key is: a row is missing, or one is there.
bool BreaksForeignKey(int code) { return code == ERRCODE_FOREIGN_KEY_VIOLATION || code == ERRCODE_RESTRICT_VIOLATION; }

// `relation`: the one that the error names.
bool NamesProtected(const ErrorData* error, Oid relation) {
  if (!BreaksConstraint(error->sqlerrcode) || !OidIsValid(relation)) return false;
  if (RelationIsProtected(relation)) return true;
  if (!BreaksForeignKey(error->sqlerrcode)) return false;
  const Oid referred = ReferredRelation(error, relation);
  return OidIsValid(referred) && KeysAreProtected(referred);
}

bool PlanConcernsProtected(const PlannedStmt* plan) {
  if (PlanReadsProtected(plan)) return true;
  ListCell* cell;
  foreach (cell, plan->rtable) {
    const auto* rte = lfirst_node(RangeTblEntry, cell);
    if (rte->rtekind == RTE_RELATION && rte->relid >= FirstNormalObjectId && ProtectedEntry(FindRelation(rte->relid)))
      return true;
  }
  return false;
}

// The name of that relation.
const RangeVar* HandledName(const Node* utility) {
  switch (nodeTag(utility)) {
    case T_AlterTableStmt:
      return reinterpret_cast<const AlterTableStmt*>(utility)->relation;
    case T_IndexStmt:
      return reinterpret_cast<const IndexStmt*>(utility)->relation;
    case T_CopyStmt:
      return reinterpret_cast<const CopyStmt*>(utility)->relation;
    case T_RefreshMatViewStmt:
      return reinterpret_cast<const RefreshMatViewStmt*>(utility)->relation;
    case T_ClusterStmt:
      return reinterpret_cast<const ClusterStmt*>(utility)->relation;
    default:
      return nullptr;
  }
}

bool ConcernsProtected(const FailedStatement& failed, const ErrorData* error, Oid named) {
  if (NamesProtected(error, named)) return true;
  if (failed.plan != nullptr) return PlanConcernsProtected(failed.plan);
  return OidIsValid(failed.handled) && RelationIsProtected(failed.handled);
}

// Whether message or detail may hold a value that no constraint is about.
bool MayHoldValues(const ErrorData* error) {
  if (BreaksConstraint(error->sqlerrcode) || ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES)
    return false;
  return !MessageHoldsNoValue(error) || error->detail != nullptr;
}

// Whether errors are kept from a role's eyes.
bool IsScrubbedFor(RoleClass role) {
  return role == RoleClass::kDpOnly || (role == RoleClass::kWatched && ModeInForce() == WatchMode::kEnforce);
}

// One line more for the server's log.
char* AddLine(char* lines, const char* what, const char* line) {
  if (line == nullptr) return lines;
  char* added = *what == '\0' ? pstrdup(line) : psprintf("%s: %s", what, line);
  return lines == nullptr ? added : psprintf("%s\n%s", lines, added);
}

// Takes out what may hold values, in the current memory context.
void Scrub(ErrorData* error) {
  const bool message = !MessageHoldsNoValue(error);
  if (!message && error->detail == nullptr && error->context == nullptr) return;
  char* kept = AddLine(nullptr, "Message", message ? error->message : nullptr);
  kept = AddLine(kept, "", error->detail_log != nullptr ? error->detail_log : error->detail);
  kept = AddLine(kept, "Query", message ? error->internalquery : nullptr);
  kept = AddLine(kept, "Hint", error->hint);
  error->detail_log = AddLine(kept, "Context", error->context);
  if (message) error->message = pstrdup("error message withheld, as it may show values of protected relations");
  error->detail = error->context = error->internalquery = nullptr;
  error->internalpos = 0;
  error->hint = pstrdup(kHint);
}

// What was not looked at was raised where no statement ran, or ends the session: of constraints, and of waits for their
// keys.
void ps_emit_log(ErrorData* error) {
  if (prev_emit_log != nullptr) prev_emit_log(error);
  if (error->elevel >= ERROR && error->saved_errno != kLookedAt && Counts(ps_last_watch.watch.role) &&
      BrokeWaitUnseen(error, ps_place.inside_integrity_check)) {
    KeepLateError(error);
    return;
  }
  if (error->elevel != ERROR || error->saved_errno == kLookedAt || !BreaksConstraint(error->sqlerrcode)) return;
  if (Counts(ps_last_watch.watch.role) && !IsRaised(error)) KeepLateError(error);
  if (IsScrubbedFor(ps_last_watch.watch.role) && !IsRaised(error)) Scrub(error);
}

// An error that holds no value may still tell of a key by breaking off the wait for it.
void JudgeBrokenWait(const FailedStatement& failed, const Watch& watch) {
  MemoryContext before = MemoryContextSwitchTo(CurTransactionContext);
  ErrorData* error = CopyErrorData();
  if (error->saved_errno == kLookedAt || error->elevel != ERROR || !BrokeWait(error, watch.in_integrity_check)) {
    FreeErrorData(error);
    MemoryContextSwitchTo(before);
    return;
  }
  FlushErrorState();
  LWLockReleaseAll();
  error->saved_errno = kLookedAt;
  Watch own = watch;
  own.in_integrity_check = false;
  const Oid copied = failed.utility != nullptr && IsA(failed.utility, CopyStmt) ? failed.handled : InvalidOid;
  if (CountsHere(own)) RecordBrokenWait({failed.plan, failed.parameters, error, copied, watch.in_integrity_check});
  ReThrowError(error);
}

}  // namespace

Oid HandledRelation(const Node* utility) {
  const RangeVar* name = HandledName(utility);
  return name == nullptr ? InvalidOid : RangeVarGetRelid(name, NoLock, true);
}

// Whether a plan that runs within another statement has broken a constraint that has nothing to do with what is
// protected. It is one of a relation that the plan writes, or of one below it; what ran within the plan was looked at.
static bool ConcernsNobody(const FailedStatement& failed) {
  const int code = geterrcode();
  if (failed.outermost || failed.plan == nullptr ||
      (code != ERRCODE_UNIQUE_VIOLATION && code != ERRCODE_NOT_NULL_VIOLATION && code != ERRCODE_CHECK_VIOLATION &&
       code != ERRCODE_EXCLUSION_VIOLATION))
    return false;
  ListCell* cell;
  foreach (cell, failed.plan->rtable) {
    const auto* rte = lfirst_node(RangeTblEntry, cell);
    if (rte->rtekind == RTE_RELATION && rte->relid >= FirstNormalObjectId && KeysAreProtected(rte->relid)) return false;
  }
  return !PlanConcernsProtected(failed.plan);
}

void JudgeError(const FailedStatement& failed, const Watch& watch) {
  if (!Counts(watch.role) || !IsTransactionState()) return;
  if (ComesFromNoValue(geterrcode())) {
    if (MayBreakWait(geterrcode())) JudgeBrokenWait(failed, watch);
    return;
  }
  if (ConcernsNobody(failed)) return;
  MemoryContext before = MemoryContextSwitchTo(CurTransactionContext);
  ErrorData* error = CopyErrorData();
  if (error->saved_errno == kLookedAt || error->elevel != ERROR) {
    FreeErrorData(error);
    MemoryContextSwitchTo(before);
    return;
  }
  FlushErrorState();
  // The abort that follows lets go of these first of all; with one in hand no catalog could be read before.
  LWLockReleaseAll();
  const Oid named = NamedRelation(error);
  const bool concerns = !IsRaised(error) && ConcernsProtected(failed, error, named);
  if (concerns || failed.outermost) error->saved_errno = kLookedAt;
  Watch own = watch;
  own.in_integrity_check = false;
  if (concerns && CountsHere(own))
    RecordShownByError({error, named, failed.plan, failed.utility, failed.handled, MayHoldValues(error)});
  if (concerns && IsScrubbedFor(watch.role)) Scrub(error);
  ReThrowError(error);
}

namespace {

// The error at hand, which no longer is, when it denies a right and has no hint; else null.
ErrorData* TakeDenial() {
  if (geterrcode() != ERRCODE_INSUFFICIENT_PRIVILEGE) return nullptr;
  MemoryContext before = MemoryContextSwitchTo(CurTransactionContext);
  ErrorData* error = CopyErrorData();
  const bool denied = error->saved_errno != kLookedAt && error->hint == nullptr && error->funcname != nullptr &&
                      strcmp(error->funcname, "aclcheck_error") == 0;
  if (!denied) {
    FreeErrorData(error);
    MemoryContextSwitchTo(before);
    return nullptr;
  }
  FlushErrorState();
  LWLockReleaseAll();
  return error;
}

}  // namespace

// Functions may have raised it; what they say is looked at as ever.
void HintWhilePlanning() {
  ErrorData* error = TakeDenial();
  if (error == nullptr) return;
  error->hint = pstrdup(NoisyAnswerHint());
  ReThrowError(error);
}

void HintAtNoisyAnswers(RoleClass role, const PlannedStmt* plan, const Node* utility, Oid handled) {
  if (role != RoleClass::kDpOnly) return;
  if (plan == nullptr && (!IsA(utility, CopyStmt) || !OidIsValid(handled))) return;
  ErrorData* error = TakeDenial();
  if (error == nullptr) return;
  // What a function raises has another name in it, which may be a value.
  const char* name = plan == nullptr ? get_rel_name(handled) : nullptr;
  const bool concerns =
      plan != nullptr ? PlanReadsProtected(plan)
                      : name != nullptr && strstr(error->message, name) != nullptr && RelationIsProtected(handled);
  if (concerns) {
    error->hint = pstrdup(NoisyAnswerHint());
    error->saved_errno = kLookedAt;
  }
  ReThrowError(error);
}

void InstallErrorScrubbing() {
  PrepareLateErrors();
  prev_emit_log = emit_log_hook;
  emit_log_hook = ps_emit_log;
}

}  // namespace privacy_score
