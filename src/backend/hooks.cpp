/*
 * hooks.cpp - where statements pass: planner; executor start, run and finish; utility.
 *
 * The planner hook abstracts the analysed query and ties the plan to the abstraction (plan_mark.hpp); executor start
 * counts one event per execution. Hooks are chained; the nesting depth is restored on error.
 *
 * Every statement of everybody passes here. For a role that is not watched each hook but utility is one test.
 */
#include "hooks.hpp"

extern "C" {
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "commands/copy.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
}

#include "abstracting.hpp"
#include "alerts.hpp"
#include "answering.hpp"
#include "compat.hpp"
#include "constants.hpp"
#include "copies.hpp"
#include "error_scrubbing.hpp"
#include "live.hpp"
#include "plan_mark.hpp"
#include "protected_reads.hpp"
#include "renames.hpp"
#include "settings.hpp"
#include "shared_state.hpp"
#include "trigger_reads.hpp"
#include "watching.hpp"

namespace {

planner_hook_type prev_planner = nullptr;
ExecutorStart_hook_type prev_executor_start = nullptr;
ExecutorRun_hook_type prev_executor_run = nullptr;
ExecutorFinish_hook_type prev_executor_finish = nullptr;
ProcessUtility_hook_type prev_utility = nullptr;
ShmemRequestHook prev_shmem_request = nullptr;
shmem_startup_hook_type prev_shmem_startup = nullptr;

// How many statements, plans or functions we are inside of.
int depth = 0;

// Whether a query of a referential-integrity trigger is running: what triggers start within it is somebody's own.
bool inside_integrity_check = false;

// REFRESH ... CONCURRENTLY: once the view's query has run, the statements that merge its rows into the view are the
// server's own (of relations whose names hold an OID, at that); what functions start within them is not.
struct Refresh {
  int depth;
  bool merging;
};
Refresh refresh = {-1, false};

// Whether statements count at this place. A parallel worker runs a piece of the leader's plan; only what functions
// start within that is new.
inline bool CountsHere(const Watch& watch) {
  if (!Counts(watch.role)) return false;
  if (depth == 0 && IsParallelWorker()) return false;
  if (depth > 0 && ps_settings.track != static_cast<int>(TrackLevel::kAll)) return false;
  if (refresh.merging && depth == refresh.depth) return false;
  return !watch.in_integrity_check || inside_integrity_check;
}

// The abstraction of a plan; where that has been forgotten since it was made, what the plan itself says.
inline int64 AbstractionOf(const PlannedStmt* plan) {
  const PlanMark* mark = MarkOfPlan(plan);
  return mark != nullptr && IsRemembered(mark->id) ? mark->id : AbstractPlan(plan);
}

// An execution that is to be counted when it has begun.
struct Execution {
  ExpectedEvent event;
  privacy_score::BoundConstants constants;
  uint64 number;  // 0: the constants were not read, or not needed
};

// How many executions' constants were read. Those of the last one are at hand; what reading and counting them leaves in
// memory goes with the next.
uint64 executions_read = 1;
MemoryContext scratch = nullptr;

// Reads an execution's constants and parameters. A type's output function may run statements of its own, which are read
// into another context.
Execution ReadExecution(ParamListInfo parameters, const PlanMark* mark, int64 id) {
  MemoryContext own = scratch;
  scratch = nullptr;
  ++executions_read;  // what was at hand is gone, also when this ends in an error that somebody catches
  if (own == nullptr)
    own = AllocSetContextCreate(CurrentMemoryContext, "privacy_score execution", ALLOCSET_SMALL_SIZES);
  else
    MemoryContextReset(own);
  MemoryContext old = MemoryContextSwitchTo(own);
  // A cancel takes it along.
  MemoryContextSetParent(own, old);
  const privacy_score::BoundConstants constants = ConstantsOfExecution(mark, parameters);
  MemoryContextSwitchTo(old);
  MemoryContextSetParent(own, TopMemoryContext);
  if (scratch != nullptr) MemoryContextDelete(scratch);
  scratch = own;
  return {{id, {}}, constants, ++executions_read};
}

// Reads what can be read before the executor starts, so that what it is compared with is near when it has.
inline Execution ExpectExecution(const QueryDesc* query) {
  const PlanMark* mark = MarkOfPlan(query->plannedstmt);
  if (mark == nullptr || mark->id == 0 || !IsRemembered(mark->id)) return {};
  OneConstant constant;
  if (OneConstantOfExecution(mark, query->params, &constant)) {
    const ExpectedEvent event = ExpectEvent(mark->id, constant);
    if (event.expected.subject != 0) return {event, {}, 0};
  }
  return ReadExecution(query->params, mark, mark->id);
}

// Counts one execution of a plan with its constants and parameters, which did not take the shortest way.
[[gnu::noinline]] void CountReadExecution(const QueryDesc* query, Execution execution, Oid principal) {
  if (execution.event.id == 0 || execution.number != executions_read) {
    const int64 id = AbstractionOf(query->plannedstmt);
    if (id == 0) return;
    execution = ReadExecution(query->params, MarkOfPlan(query->plannedstmt), id);
  }
  MemoryContext old = MemoryContextSwitchTo(scratch);
  if (!RecordRepeat(execution.event, &execution.constants, principal))
    RecordEvent(execution.event.id, execution.constants);
  MemoryContextSwitchTo(old);
}

// Counts one execution of a plan.
inline void CountExecution(const QueryDesc* query, const Execution& execution, Oid principal) {
  if (execution.number == 0 && execution.event.id != 0 && RecordRepeat(execution.event, nullptr, principal)) return;
  CountReadExecution(query, execution, principal);
}

// Counts a plan that is shown and not run, as EXPLAIN does: the numbers of rows in it are estimated from statistics of
// the values, and from the ends of indexes.
[[gnu::cold]] [[gnu::noinline]] void CountEstimates(const PlannedStmt* plan, ParamListInfo parameters) {
  const int64 id = AbstractEstimates(plan);
  if (id == 0) return;
  const Execution execution = ReadExecution(parameters, MarkOfPlan(plan), id);
  MemoryContext old = MemoryContextSwitchTo(scratch);
  RecordEvent(id, execution.constants);
  MemoryContextSwitchTo(old);
}

// Labels of roles decide on reading protected relations whatever counts: also on EXPLAIN.
bool ReadIsJudged(const Watch& watch) {
  if (!LabelJudges(watch.role)) return false;
  if (depth == 0 && IsParallelWorker()) return false;
  return !watch.in_integrity_check || inside_integrity_check;
}

PlannedStmt* PassToPlanner(Query* query, const char* text, int options, ParamListInfo parameters) {
  return prev_planner ? prev_planner(query, text, options, parameters)
                      : standard_planner(query, text, options, parameters);
}

// Runs `body` as a place within the statement. What it does is undone before `failing` is called on an error, which
// goes on unless this raises another one.
template <typename Body, typename Failing>
inline void RunWithin(bool integrity_check, Body body, Failing failing) {
  const bool before = inside_integrity_check;
  inside_integrity_check = before || integrity_check;
  ++depth;
  PG_TRY()
    ;
    { body(); }
    PG_CATCH();
    {
      inside_integrity_check = before;
      --depth;
      failing();
      PG_RE_THROW();
    }
  PG_END_TRY();
  inside_integrity_check = before;
  --depth;
}

template <typename Body>
void RunWithin(bool integrity_check, Body body) {
  RunWithin(integrity_check, body, [] {});
}

// What a failing statement shows, in PG_CATCH. The error that a parallel worker meets in its leader's plan is the
// leader's.
void JudgeFailure(const PlannedStmt* plan, ParamListInfo parameters, const Node* utility, const Watch& watch) {
  if (depth == 0 && IsParallelWorker()) return;
  JudgeError({plan, parameters, utility, depth == 0}, watch);
}

// Plans as a place within the statement.
PlannedStmt* PlanWithin(Query* query, const char* text, int options, ParamListInfo parameters, const Watch& watch) {
  PlannedStmt* plan = nullptr;
  RunWithin(watch.in_integrity_check, [&] { plan = PassToPlanner(query, text, options, parameters); });
  return plan;
}

// Whether the server is about to show the plan to the client, before anything runs or any right is checked
// (debug_print_plan).
inline bool PlanIsPrinted() { return Debug_print_plan && client_min_messages <= LOG; }

// Plans a statement of our own, which does not count. After an error statements do.
PlannedStmt* PlanUncounted(Query* query, const char* text, int options, ParamListInfo parameters, const Watch& watch) {
  RequireReading(text, RelationsOf(query));
  const UncountedState before = BeginUncounted(Uncounted::kNone);
  PlannedStmt* plan = PlanWithin(query, text, options, parameters, watch);
  EndUncounted(before);
  return plan;
}

[[gnu::hot]] PlannedStmt* ps_planner(Query* query, const char* text, int options, ParamListInfo parameters) {
  const Watch watch = LookAtPrincipal();
  if (watch.passes) return PassToPlanner(query, text, options, parameters);
  if (watch.uncounted) return PlanUncounted(query, text, options, parameters, watch);
  const bool reads = query->commandType != CMD_UTILITY && !QueryAnswers(query);
  const bool counts = reads && CountsHere(watch);
  const bool judged = reads && ReadIsJudged(watch);
  PlanMark* mark = nullptr;
  bool shows = false;
  if (counts)
    mark = AbstractQuery(query, &shows);
  else if (judged)
    shows = PlanningShowsProtected(query);
  // What the planner may hand values to, out of statistics, is judged and counted before it does; running it counts
  // too.
  if (shows && judged) RecordProtectedRead(watch.role);
  if (shows && counts) RecordEvent(mark->id);
  PlannedStmt* plan = PlanWithin(query, text, options, parameters, watch);
  if (counts) MarkPlan(plan, mark);
  if (PlanIsPrinted() && judged && PlanReadsProtected(plan)) RecordProtectedRead(watch.role);
  if (PlanIsPrinted() && counts) CountEstimates(plan, parameters);
  return plan;
}

void PassToExecutorStart(QueryDesc* query, int flags) {
  if (prev_executor_start)
    prev_executor_start(query, flags);
  else
    standard_ExecutorStart(query, flags);
}

// Where nothing is written no trigger runs.
bool MayFireTriggers(const PlannedStmt* plan) { return plan->commandType != CMD_SELECT || plan->hasModifyingCTE; }

// Whether nothing runs when the executor starts but its own code: a plain scan is set up, and no expression evaluated.
inline bool StartsAlone(const PlannedStmt* plan) {
  if (prev_executor_start != nullptr || ExecutorCheckPerms_hook != nullptr || plan->subplans != NIL) return false;
  const NodeTag tag = nodeTag(plan->planTree);
  return tag == T_SeqScan || tag == T_IndexScan || tag == T_IndexOnlyScan;
}

[[gnu::hot]] void ps_executor_start(QueryDesc* query, int flags) {
  const Watch watch = LookAtPrincipal();
  if (watch.passes) {
    PassToExecutorStart(query, flags);
    return;
  }
  const bool answers = PlanAnswers(query->plannedstmt);
  const bool counts = !answers && CountsHere(watch);
  const bool explained = (flags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
  const Execution execution = counts && !explained ? ExpectExecution(query) : Execution{};
  // Permissions are checked in here, and no row is read yet: a statement that is denied has read nothing.
  if (StartsAlone(query->plannedstmt))
    PassToExecutorStart(query, flags);
  else
    RunWithin(watch.in_integrity_check, [query, flags] { PassToExecutorStart(query, flags); });
  if (!answers && ReadIsJudged(watch) && PlanReadsProtected(query->plannedstmt)) RecordProtectedRead(watch.role);
  if (!answers && (flags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && MayFireTriggers(query->plannedstmt)) {
    // What a foreign key starts does not count, but hands rows to triggers as well.
    Watch own = watch;
    own.in_integrity_check = false;
    RecordTriggerReads(query->plannedstmt, watch.role, ReadIsJudged(own), CountsHere(own));
  }
  if (counts && explained)
    CountEstimates(query->plannedstmt, query->params);
  else if (counts)
    CountExecution(query, execution, watch.principal);
}

// The abstraction with which the rows of this run count; 0 when they do not.
int64 RowsCountFor(const QueryDesc* query, const Watch& watch) {
  const PlannedStmt* plan = query->plannedstmt;
  if ((plan->commandType != CMD_SELECT && !plan->hasReturning) || !CountsHere(watch) || PlanAnswers(plan)) return 0;
  return AbstractionOf(plan);
}

// Until version 18 the executor is also told whether it runs once.
template <typename... Once>
void PassToExecutorRun(QueryDesc* query, ScanDirection direction, uint64 count, Once... once) {
  if (prev_executor_run)
    prev_executor_run(query, direction, count, once...);
  else
    standard_ExecutorRun(query, direction, count, once...);
}

template <typename... Once>
[[gnu::hot]] void ps_executor_run(QueryDesc* query, ScanDirection direction, uint64 count, Once... once) {
  const Watch watch = LookAtPrincipal();
  if (watch.passes) {
    PassToExecutorRun(query, direction, count, once...);
    return;
  }
  const int64 rows_of = RowsCountFor(query, watch);
  const auto count_rows = [query, rows_of] {
    if (rows_of != 0) RecordRows(rows_of, static_cast<int64>(query->estate->es_processed));
  };
  RunWithin(
      watch.in_integrity_check, [=] { PassToExecutorRun(query, direction, count, once...); },
      [&] {
        count_rows();  // what a statement has returned before it failed has left
        JudgeFailure(query->plannedstmt, query->params, nullptr, watch);
      });
  count_rows();
  if (depth == refresh.depth && query->dest->mydest == DestTransientRel) refresh.merging = true;
}

void PassToExecutorFinish(QueryDesc* query) {
  if (prev_executor_finish)
    prev_executor_finish(query);
  else
    standard_ExecutorFinish(query);
}

[[gnu::hot]] void ps_executor_finish(QueryDesc* query) {
  if (!MayFireTriggers(query->plannedstmt)) {
    PassToExecutorFinish(query);
    return;
  }
  const Watch watch = LookAtPrincipal();
  if (watch.passes) {
    PassToExecutorFinish(query);
    return;
  }
  RunWithin(
      false, [query] { PassToExecutorFinish(query); },
      [&] { JudgeFailure(query->plannedstmt, query->params, nullptr, watch); });
}

// Whether COPY will get as far as reading: what the server refuses has read nothing.
bool CopyReads(const CopyStmt* copy, Oid relation) {
  if (!CopiesKind(get_rel_relkind(relation))) return false;
  const Oid user = GetUserId();
  if (copy->filename != nullptr &&
      !has_privs_of_role(user, copy->is_program ? ROLE_PG_EXECUTE_SERVER_PROGRAM : ROLE_PG_WRITE_SERVER_FILES))
    return false;
  const bool whole = pg_class_aclcheck(relation, user, ACL_SELECT) == ACLCHECK_OK;
  if (copy->attlist == NIL)
    return whole || pg_attribute_aclcheck_all(relation, user, ACL_SELECT, ACLMASK_ALL) == ACLCHECK_OK;
  Bitmapset* columns = nullptr;
  ListCell* cell;
  foreach (cell, copy->attlist) {
    const AttrNumber column = get_attnum(relation, strVal(lfirst(cell)));
    if (column <= 0 || bms_is_member(column, columns)) return false;
    if (!whole && pg_attribute_aclcheck(relation, column, user, ACL_SELECT) != ACLCHECK_OK) return false;
    columns = bms_add_member(columns, column);
  }
  return true;
}

// COPY table TO never meets the planner, except with row security, when it does. Returns the abstraction it counts as.
int64 CountCopy(const CopyStmt* copy) {
  if (copy->is_from || copy->relation == nullptr) return 0;
  const Watch watch = LookAtPrincipal();
  if (watch.role == RoleClass::kUnwatched) return 0;
  const Oid relation = RangeVarGetRelid(copy->relation, NoLock, true);
  if (!OidIsValid(relation) || check_enable_rls(relation, InvalidOid, true) == RLS_ENABLED ||
      !CopyReads(copy, relation))
    return 0;
  // What is judged must be what COPY opens: once locked, the name cannot pass to another relation.
  LockRelationOid(relation, AccessShareLock);
  if (RangeVarGetRelid(copy->relation, NoLock, true) != relation)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_IN_USE),
             errmsg("relation \"%s\" changed while COPY began", copy->relation->relname), errhint("Try again.")));
  if (ReadIsJudged(watch) && RelationIsProtected(relation)) RecordProtectedRead(watch.role);
  if (!CountsHere(watch)) return 0;
  const int64 id = AbstractCopy(relation, copy->attlist);
  RecordEvent(id);
  return id;
}

// Whether the statement commits or prepares the transaction block that it stands in.
bool EndsBlock(const Node* statement) {
  if (!IsA(statement, TransactionStmt) || !IsTransactionBlock() || IsSubTransaction()) return false;
  const TransactionStmtKind kind = castNode(TransactionStmt, statement)->kind;
  return kind == TRANS_STMT_COMMIT || kind == TRANS_STMT_PREPARE;
}

// Once the block has ended the transaction commits: the first thing that it does is to run the triggers that were put
// off until then, whose errors nobody meets but the client. Here they are met.
void FireDeferredTriggers() {
  if (!IsTransactionState() || !Counts(LookAtPrincipal().role)) return;
  ConstraintsSetStmt* all = makeNode(ConstraintsSetStmt);
  all->deferred = false;
  AfterTriggerSetState(all);
}

// A utility statement while it runs.
struct RunningUtility {
  bool nests;  // EXECUTE, EXPLAIN, DECLARE and the like run what the client sent, not something within it
  bool ends_block;
  Refresh outer_refresh;
  CopyingStatement copying;
  Renaming renaming;
};

void LeaveUtility(const RunningUtility* running) {
  refresh = running->outer_refresh;
  LeaveCopying(&running->copying);
  if (running->nests) --depth;
}

void ps_utility(PlannedStmt* plan, const char* text, bool read_only_tree, ProcessUtilityContext context,
                ParamListInfo parameters, QueryEnvironment* environment, DestReceiver* destination,
                QueryCompletion* completion) {
  CheckListening(plan->utilityStmt);
  const int64 copied = IsA(plan->utilityStmt, CopyStmt) ? CountCopy(castNode(CopyStmt, plan->utilityStmt)) : 0;
  const Node* statement = plan->utilityStmt;
  RunningUtility running;
  running.nests = IsA(statement, CallStmt) || IsA(statement, DoStmt);
  running.ends_block = EndsBlock(statement);
  running.outer_refresh = refresh;
  if (running.nests) ++depth;
  if (IsA(statement, RefreshMatViewStmt) && castNode(RefreshMatViewStmt, statement)->concurrent)
    refresh = {depth, false};
  running.renaming = RenamingOf(statement);
  PG_TRY()
    ;
    {
      BeginCopying(&running.copying, plan);
      if (prev_utility)
        prev_utility(plan, text, read_only_tree, context, parameters, environment, destination, completion);
      else
        standard_ProcessUtility(plan, text, read_only_tree, context, parameters, environment, destination, completion);
      FinishCopying(&running.copying);
      FollowRenaming(running.renaming);
      if (running.ends_block) FireDeferredTriggers();
    }
    PG_CATCH();
    {
      LeaveUtility(&running);
      if (IsTransactionState()) JudgeFailure(nullptr, parameters, statement, LookAtPrincipal());
      PG_RE_THROW();
    }
  PG_END_TRY();
  LeaveUtility(&running);
  if (copied != 0 && completion != nullptr) RecordRows(copied, static_cast<int64>(completion->nprocessed));
}

void ps_shmem_request() {
  if (prev_shmem_request) prev_shmem_request();
  RequestSharedMemory();
}

void ps_shmem_startup() {
  if (prev_shmem_startup) prev_shmem_startup();
  StartSharedMemory();
}

}  // namespace

void InstallHooks() {
  prev_shmem_request = HookShmemRequest(ps_shmem_request);
  prev_shmem_startup = shmem_startup_hook;
  shmem_startup_hook = ps_shmem_startup;
  prev_planner = planner_hook;
  planner_hook = ps_planner;
  prev_executor_start = ExecutorStart_hook;
  ExecutorStart_hook = ps_executor_start;
  prev_executor_run = ExecutorRun_hook;
  ExecutorRun_hook = ps_executor_run;
  prev_executor_finish = ExecutorFinish_hook;
  ExecutorFinish_hook = ps_executor_finish;
  prev_utility = ProcessUtility_hook;
  ProcessUtility_hook = ps_utility;
  InstallCopyingHook();
  InstallErrorScrubbing();
}
