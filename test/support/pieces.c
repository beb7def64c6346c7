/*
 * pieces.c - a library that plans and runs pieces of a statement by itself, as those do that distribute it over servers:
 * the queries of its WITH list while it is planned, each of which runs before the statement does, and the first of them
 * once more while it runs, planned only then. It does so while the setting pieces.planned is on, for SELECT only. Such
 * libraries also have functions that plan and run a text that they are given, as pieces_read() does.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "fmgr.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;

static planner_hook_type next_planner;
static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;

/* Of the statement that was planned last: copies of its pieces, and their plans. They stay. */
static List *queries;
static List *plans;
static PlannedStmt *whole;
static int depth;
static bool on;

static PlannedStmt *PlanPieces(Query *query, const char *text, int options, ParamListInfo parameters) {
  List *made = NIL;
  List *copies = NIL;
  ListCell *cell;
  PlannedStmt *result;
  foreach (cell, query->cteList) {
    Query *piece = castNode(Query, lfirst_node(CommonTableExpr, cell)->ctequery);
    MemoryContext old;
    if (!on || piece->commandType != CMD_SELECT) continue;
    old = MemoryContextSwitchTo(TopMemoryContext);
    copies = lappend(copies, copyObject(piece));
    MemoryContextSwitchTo(old);
    made = lappend(made, planner(copyObject(piece), text, options, parameters));
  }
  depth++;
  PG_TRY();
  { result = next_planner ? next_planner(query, text, options, parameters) : standard_planner(query, text, options, parameters); }
  PG_FINALLY();
  { depth--; }
  PG_END_TRY();
  if (depth == 0) whole = NULL;
  if (depth == 0 && made != NIL) {
    MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
    made = copyObject(made);
    MemoryContextSwitchTo(old);
    queries = copies;
    plans = made;
    whole = result;
  }
  return result;
}

static void RunPiece(PlannedStmt *plan, const char *text, ParamListInfo parameters) {
  QueryDesc *piece = CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, None_Receiver, parameters, NULL, 0);
  ExecutorStart(piece, 0);
#if PG_VERSION_NUM >= 180000
  ExecutorRun(piece, ForwardScanDirection, 0);
#else
  ExecutorRun(piece, ForwardScanDirection, 0, true);
#endif
  ExecutorFinish(piece);
  ExecutorEnd(piece);
  FreeQueryDesc(piece);
}

PG_FUNCTION_INFO_V1(pieces_read);

Datum pieces_read(PG_FUNCTION_ARGS) {
  const char *sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
  RawStmt *raw = linitial_node(RawStmt, pg_parse_query(sql));
  Query *query = linitial_node(Query, pg_analyze_and_rewrite_fixedparams(raw, sql, NULL, 0, NULL));
  RunPiece(pg_plan_query(query, sql, 0, NULL), sql, NULL);
  PG_RETURN_INT32(1);
}

static void StartPieces(QueryDesc *query, int flags) {
  if (query->plannedstmt == whole) {
    ListCell *cell;
    foreach (cell, plans) RunPiece(lfirst(cell), query->sourceText, query->params);
  }
  if (next_start)
    next_start(query, flags);
  else
    standard_ExecutorStart(query, flags);
}

#if PG_VERSION_NUM >= 180000
static void RunPieces(QueryDesc *query, ScanDirection direction, uint64 count) {
#else
static void RunPieces(QueryDesc *query, ScanDirection direction, uint64 count, bool once) {
#endif
  if (query->plannedstmt == whole) {
    whole = NULL;
    RunPiece(planner(copyObject(linitial(queries)), query->sourceText, 0, query->params), query->sourceText, query->params);
  }
#if PG_VERSION_NUM >= 180000
  if (next_run)
    next_run(query, direction, count);
  else
    standard_ExecutorRun(query, direction, count);
#else
  if (next_run)
    next_run(query, direction, count, once);
  else
    standard_ExecutorRun(query, direction, count, once);
#endif
}

void _PG_init(void);

void _PG_init(void) {
  DefineCustomBoolVariable("pieces.planned", "Plans pieces.", NULL, &on, false, PGC_USERSET, 0, NULL, NULL, NULL);
  next_planner = planner_hook;
  planner_hook = PlanPieces;
  next_start = ExecutorStart_hook;
  ExecutorStart_hook = StartPieces;
  next_run = ExecutorRun_hook;
  ExecutorRun_hook = RunPieces;
}
