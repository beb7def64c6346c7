/*
 * hooks.cpp - where statements pass: planner; executor start, run and finish (of utility statements: utility_hook.cpp).
 *
 * The planner hook abstracts the analysed query and ties the plan to the abstraction (plan_mark.hpp); executor start
 * counts one event per execution. Hooks are chained; the nesting depth is restored on error.
 *
 * Every statement of everybody passes here. For a role that is not watched each hook but utility is one test.
 */
#include "backend/watch/hooks.hpp"

extern "C" {
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/planner.h"
#include "storage/ipc.h"
#include "utils/guc.h"
#include "utils/memutils.h"
}

#include "backend/query/abstracting.hpp"
#include "backend/query/constants.hpp"
#include "backend/query/empty_results.hpp"
#include "backend/query/pieces.hpp"
#include "backend/query/plan_mark.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/node_sender.hpp"
#include "backend/state/shared_state.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/answers.hpp"
#include "backend/watch/copy_recording.hpp"
#include "backend/watch/cursor_reads.hpp"
#include "backend/watch/error_scrubbing.hpp"
#include "backend/watch/late_errors.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/noisy_answer_reads.hpp"
#include "backend/watch/statement_place.hpp"
#include "backend/watch/tried_keys.hpp"
#include "backend/watch/trigger_reads.hpp"
#include "backend/watch/utility_hook.hpp"
#include "backend/watch/write_oracles.hpp"

namespace privacy_score {

namespace {

planner_hook_type prev_planner = nullptr;
ExecutorStart_hook_type prev_executor_start = nullptr;
ExecutorRun_hook_type prev_executor_run = nullptr;
ExecutorFinish_hook_type prev_executor_finish = nullptr;
ShmemRequestHook prev_shmem_request = nullptr;
shmem_startup_hook_type prev_shmem_startup = nullptr;

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

// Whether the client may see the plan of what runs: EXPLAIN ANALYZE, or a library that writes plans to the log of
// which the client asks for a copy.
inline bool PlanMayBeShown(const QueryDesc* query) {
  return query->instrument_options != 0 || client_min_messages <= LOG;
}

// Counts one execution of a plan with its constants and parameters, which did not take the shortest way.
[[gnu::noinline]] void CountReadExecution(const QueryDesc* query, Execution execution, Oid principal) {
  if (execution.event.id == 0 || execution.number != executions_read) {
    const int64 id = AbstractionOf(query->plannedstmt);
    if (id == 0) {
      if (PlanMayBeShown(query) && IsExcused(query->plannedstmt)) CountEstimates(query->plannedstmt, query->params);
      TellClient();
      return;
    }
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

// Counts the keys that a plan with ON CONFLICT tries.
[[gnu::cold]] [[gnu::noinline]] void CountTriedKeys(const QueryDesc* query) {
  const Execution execution = ReadExecution(query->params, MarkOfPlan(query->plannedstmt), 0);
  RecordTriedKeys(query->plannedstmt, query->params, VectorOfExecution(execution.constants));
}

PlannedStmt* PassToPlanner(::Query* query, const char* text, int options, ParamListInfo parameters) {
  return prev_planner ? prev_planner(query, text, options, parameters)
                      : standard_planner(query, text, options, parameters);
}

// Plans as a place within the statement. The right to read a view is asked for by the planner.
PlannedStmt* PlanWithin(::Query* query, const char* text, int options, ParamListInfo parameters, const Watch& watch,
                        bool has_pieces) {
  PlannedStmt* plan = nullptr;
  const bool hints = watch.role == RoleClass::kDpOnly && QueryReadsProtected(query);
  RunWithin(
      {watch.in_integrity_check, has_pieces}, [&] { plan = PassToPlanner(query, text, options, parameters); },
      [hints] {
        if (hints) HintWhilePlanning();
      });
  return plan;
}

// Whether the server is about to show the plan to the client, before anything runs or any right is checked
// (debug_print_plan).
inline bool PlanIsPrinted() { return Debug_print_plan && client_min_messages <= LOG; }

// Plans a statement of our own, or a piece of its plan, which does not count. After an error statements do.
PlannedStmt* PlanUncounted(::Query* query, const char* text, int options, ParamListInfo parameters,
                           const Watch& watch) {
  const UncountedState before = BeginUncounted(Uncounted::kNone);
  PlannedStmt* plan = PlanWithin(query, text, options, parameters, watch, true);
  EndUncounted(before);
  return plan;
}

// Plans a piece of another plan. Functions that run meanwhile are not of it. A piece of what we read is the library's
// choice of relations, for those that were asked for.
[[gnu::cold]] [[gnu::noinline]] PlannedStmt* PlanPiece(::Query* query, const char* text, int options,
                                                       ParamListInfo parameters, const Watch& watch) {
  PlannedStmt* plan = watch.uncounted ? PlanUncounted(query, text, options, parameters, watch)
                                      : PlanWithin(query, text, options, parameters, watch, true);
  MarkPlan(plan, NewPieceMark(Excuse::kPiece));
  return plan;
}

// Whether another node sends the query as a piece of a statement: such read shards. What it sends otherwise somebody
// may have had it send word by word.
[[gnu::cold]] [[gnu::noinline]] bool IsSentPiece(::Query* query) {
  return ReadsShardsOnly(RelationsOf(query)) && !MayInline(query) && SentByNode();
}

// Plans it. What has come into the plan by a function of somebody's, and keys that are tried, the node that sends does
// not see.
[[gnu::cold]] [[gnu::noinline]] PlannedStmt* PlanSent(::Query* query, const char* text, int options,
                                                      ParamListInfo parameters, const Watch& watch) {
  const bool has_pieces = MayHavePieces(query);
  PlannedStmt* plan = PlanWithin(query, text, options, parameters, watch, has_pieces);
  if (!ReadsShardsOnly(plan->relationOids) || TriesKeys(plan)) return plan;
  PlanMark* mark = NewPieceMark(Excuse::kSent);
  mark->has_pieces = has_pieces;
  MarkPlan(plan, mark);
  return plan;
}

[[gnu::hot]] PlannedStmt* ps_planner(::Query* query, const char* text, int options, ParamListInfo parameters) {
  Watch watch = WatchInForce();
  if (watch.passes) return PassToPlanner(query, text, options, parameters);
  RecordLateError();  // first: it is of who spoke before
  CountFetchedBefore();
  if (ps_place.depth == 0 && NoteStatementText(text)) watch = WatchInForce();
  if (IsPieceOfPlan()) return PlanPiece(query, text, options, parameters, watch);
  if (watch.uncounted) {
    RequireReading(text, RelationsOf(query));
    return PlanUncounted(query, text, options, parameters, watch);
  }
  if (watch.may_be_sent && ps_place.depth == 0 && IsSentPiece(query))
    return PlanSent(query, text, options, parameters, watch);
  const bool reads = query->commandType != CMD_UTILITY && !QueryAnswers(query);
  const bool counts = reads && CountsHere(watch);
  const bool judged = reads && ReadIsJudged(watch);
  PlanMark* mark = nullptr;
  bool shows = false;
  if (counts)
    mark = AbstractQuery(query, &shows);
  else if (judged)
    shows = PlanningShowsProtected(query);
  const bool has_pieces = mark != nullptr ? mark->has_pieces != 0 : LibrariesPlan() && MayHavePieces(query);
  // What the planner may hand values to, out of statistics, is judged and counted before it does; running it counts
  // too.
  if (shows && judged) RecordProtectedRead(watch.role);
  if (shows && counts) RecordEvent(mark->id);
  // A plan for certain parameters may be empty because of them.
  const bool limited = counts && IsLimitedToNothing(query);
  PlannedStmt* plan = PlanWithin(query, text, options, parameters, watch, has_pieces);
  if (counts && !shows && (limited || parameters == nullptr) && PlanReturnsNothing(plan, limited))
    ExcuseExecutions(mark);
  if (counts) MarkPlan(plan, mark);
  if (PlanIsPrinted() && judged && PlanReadsProtected(plan)) RecordProtectedRead(watch.role);
  if (PlanIsPrinted() && counts) CountEstimates(plan, parameters);
  return plan;
}

// Whether a plan runs as a piece of another one, or of what another node counts. A library may run a piece through a
// portal of its own, and may plan one past all hooks.
inline bool RunsAsPiece(const PlannedStmt* plan, const Watch& watch) {
  const PlanMark* mark = BareMark(plan);
  if (mark == nullptr) return IsPieceOfPlan();
  if (!IsPiece(mark)) return false;
  if (mark->excuse == Excuse::kPiece) return ps_place.in_plan;
  return watch.may_be_sent && ps_place.depth == 0 && SentByNode();
}

// Whether a plan that runs may have pieces. What nobody has watched when it was planned has none, but for what we read.
inline bool HasPieces(const PlannedStmt* plan, const Watch& watch, bool piece) {
  const PlanMark* mark = BareMark(plan);
  if (mark != nullptr && mark->excuse != Excuse::kPiece) return mark->has_pieces != 0;
  return piece || watch.uncounted;
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
  Watch watch = WatchInForce();
  if (watch.passes) {
    PassToExecutorStart(query, flags);
    return;
  }
  RecordLateError();
  CountFetchedBefore();
  if (ps_place.depth == 0 && NoteStatementText(query->sourceText)) watch = WatchInForce();
  const bool answers = PlanAnswers(query->plannedstmt);
  const bool piece = RunsAsPiece(query->plannedstmt, watch);
  const bool counts = !answers && !piece && CountsHere(watch);
  const bool explained = (flags & EXEC_FLAG_EXPLAIN_ONLY) != 0;
  const Execution execution = counts && !explained ? ExpectExecution(query) : Execution{};
  // Permissions are checked in here, and no row is read yet: a statement that is denied has read nothing.
  if (StartsAlone(query->plannedstmt) && watch.role != RoleClass::kDpOnly)
    PassToExecutorStart(query, flags);
  else
    RunWithin(
        {watch.in_integrity_check, HasPieces(query->plannedstmt, watch, piece)},
        [query, flags] { PassToExecutorStart(query, flags); },
        [query, &watch] { HintAtNoisyAnswers(watch.role, query->plannedstmt, nullptr, InvalidOid); });
  if (!answers && !piece && ReadIsJudged(watch) && PlanReadsProtected(query->plannedstmt) &&
      (explained || PlanMayBeShown(query) || !IsExcused(query->plannedstmt)))
    RecordProtectedRead(watch.role);
  if (!answers && (flags & EXEC_FLAG_EXPLAIN_ONLY) == 0 && MayFireTriggers(query->plannedstmt)) {
    // What a foreign key starts does not count, but hands rows to triggers as well.
    Watch own = watch;
    own.in_integrity_check = false;
    if (own.role == RoleClass::kDpOnly && ReadIsJudged(own) && PlanTellsByWriting(query->plannedstmt))
      RefuseTellingWrite();
    RecordTriggerReads(query->plannedstmt, watch.role, ReadIsJudged(own), CountsHere(own));
    if (counts && TriesKeys(query->plannedstmt)) CountTriedKeys(query);
  }
  if (counts && explained)
    CountEstimates(query->plannedstmt, query->params);
  else if (counts)
    CountExecution(query, execution, watch.principal);
}

// The abstraction with which the rows of this run count; 0 when they do not.
int64 RowsCountFor(const QueryDesc* query, const Watch& watch, bool piece) {
  const PlannedStmt* plan = query->plannedstmt;
  if ((plan->commandType != CMD_SELECT && !plan->hasReturning) || !CountsHere(watch) || PlanAnswers(plan) || piece)
    return 0;
  return AbstractionOf(plan);
}

// Compares the answer of an aggregate with the session's others.
[[gnu::cold]] [[gnu::noinline]] void CountAnswer(const QueryDesc* query, const PlanMark* mark, double answer) {
  const Execution execution = ReadExecution(query->params, mark, mark->id);
  MemoryContext old = MemoryContextSwitchTo(scratch);
  RecordAnswer(mark, answer, execution.constants);
  MemoryContextSwitchTo(old);
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
  const Watch watch = WatchInForce();
  if (watch.passes) {
    PassToExecutorRun(query, direction, count, once...);
    return;
  }
  // Somebody else may have begun it: a cursor, or a statement that is fetched in pieces. What the server keeps nobody
  // has.
  if (watch.role == RoleClass::kDpOnly && query->dest->mydest != DestTuplestore) JudgeRows(query->plannedstmt, watch);
  if (ps_has_cursors) CountFetchFromRunning();
  const bool piece = RunsAsPiece(query->plannedstmt, watch);
  const int64 rows_of = RowsCountFor(query, watch, piece);
  const auto count_rows = [query, rows_of] {
    if (rows_of != 0) RecordRows(rows_of, static_cast<int64>(query->estate->es_processed));
  };
  const PlanMark* aggregate = rows_of == 0 ? nullptr : MarkOfAggregate(query);
  AnswerCatcher catcher;
  if (aggregate != nullptr) BeginCatching(&catcher, aggregate, query);
  RunWithin(
      {watch.in_integrity_check, HasPieces(query->plannedstmt, watch, piece)},
      [=] { PassToExecutorRun(query, direction, count, once...); },
      [&] {
        if (aggregate != nullptr) EndCatching(catcher, query);
        count_rows();  // what a statement has returned before it failed has left
        JudgeFailure(query->plannedstmt, query->params, nullptr, InvalidOid, watch);
      });
  if (aggregate != nullptr) EndCatching(catcher, query);
  count_rows();
  if (aggregate != nullptr && HasAnswer(catcher)) CountAnswer(query, aggregate, catcher.answer);
  if (ps_place.depth == ps_place.refresh_depth && query->dest->mydest == DestTransientRel) ps_place.merging = true;
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
  const Watch watch = WatchInForce();
  if (watch.passes) {
    PassToExecutorFinish(query);
    return;
  }
  RunWithin(
      {false, false}, [query] { PassToExecutorFinish(query); },
      [&] { JudgeFailure(query->plannedstmt, query->params, nullptr, InvalidOid, watch); });
}

void ps_shmem_request() {
  if (prev_shmem_request) prev_shmem_request();
  RequestSharedMemory();
  RequestSenders();
}

void ps_shmem_startup() {
  if (prev_shmem_startup) prev_shmem_startup();
  StartSharedMemory();
  StartSenders();
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
  InstallUtilityHook();
  InstallCopyingHook();
  InstallErrorScrubbing();
}

}  // namespace privacy_score
