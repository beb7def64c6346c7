/*
 * utility_hook.cpp - utility statements: COPY, what copies columns or renames them, and the end of a transaction block.
 */
#include "backend/watch/utility_hook.hpp"

extern "C" {
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "commands/prepare.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
}

#include <string>
#include <unordered_set>

#include "backend/query/abstracting.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/alerts.hpp"
#include "backend/state/end_user.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/node_sender.hpp"
#include "backend/state/prepared_changes.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/copy_recording.hpp"
#include "backend/watch/cursor_reads.hpp"
#include "backend/watch/error_scrubbing.hpp"
#include "backend/watch/late_errors.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/maintenance_reads.hpp"
#include "backend/watch/renames.hpp"
#include "backend/watch/setting_notices.hpp"
#include "backend/watch/statement_place.hpp"
#include "backend/watch/type_reads.hpp"
#include "backend/watch/write_oracles.hpp"

namespace privacy_score {

namespace {

ProcessUtility_hook_type prev_utility = nullptr;

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
  const Watch watch = WatchInForce();
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
  if (watch.may_be_sent && ps_place.depth == 0 && ReadsShardsOnly(list_make1_oid(relation)) && SentByNode()) return 0;
  const int64 id = AbstractCopy(relation, copy->attlist);
  RecordEvent(id);
  return id;
}

// A change of a domain reads the columns that have it.
void CountDomain(const AlterDomainStmt* alter) {
  const Watch watch = WatchInForce();
  if (watch.role == RoleClass::kUnwatched) return;
  RecordDomainReads(alter, watch.role, ReadIsJudged(watch), CountsHere(watch));
}

// What defines or maintains a copy reads its rows for the functions that it has.
void CountMaintenance(const Node* statement) {
  const Watch watch = WatchInForce();
  if (watch.role == RoleClass::kUnwatched) return;
  RecordMaintenanceReads(statement, watch.role, ReadIsJudged(watch), CountsHere(watch));
}

// Whether the statement commits or prepares the transaction block that it stands in.
bool EndsBlock(const Node* statement) {
  if (!IsA(statement, TransactionStmt) || !IsTransactionBlock() || IsSubTransaction()) return false;
  const TransactionStmtKind kind = castNode(TransactionStmt, statement)->kind;
  return kind == TRANS_STMT_COMMIT || kind == TRANS_STMT_PREPARE;
}

// The name of the transaction that the statement prepares, or commits as a prepared one; null when it does not.
const char* TransactionNamedBy(const Node* statement, TransactionStmtKind kind) {
  if (!IsA(statement, TransactionStmt) || !IsTransactionState()) return nullptr;
  const auto* named = castNode(TransactionStmt, statement);
  return named->kind == kind ? named->gid : nullptr;
}

// Once the block has ended the transaction commits: the first thing that it does is to run the triggers that were put
// off until then, whose errors nobody meets but the client. Here they are met.
void FireDeferredTriggers() {
  if (!IsTransactionState() || !Counts(WatchInForce().role)) return;
  ConstraintsSetStmt* all = makeNode(ConstraintsSetStmt);
  all->deferred = false;
  AfterTriggerSetState(all);
}

// Whether a pooler gives the connection to another client, so that what follows is another session. Whom session_limit
// refuses does not begin anew that way.
bool BeginsSession(const Node* statement) {
  return IsA(statement, DiscardStmt) && castNode(DiscardStmt, statement)->target == DISCARD_ALL &&
         !(ModeInForce() == WatchMode::kEnforce && ps_settings.session_limit >= 0);
}

// Refuses `dp only` roles what tells of rows that are there.
void JudgeWriting(const Node* statement) {
  if (!IsA(statement, AlterTableStmt) && !IsA(statement, CopyStmt)) return;
  const Watch watch = WatchInForce();
  if (watch.role == RoleClass::kDpOnly && ReadIsJudged(watch) && UtilityTellsByWriting(statement)) RefuseTellingWrite();
}

// The statement with which EXECUTE names what was prepared, also within EXPLAIN and CREATE TABLE AS; null: none.
const ExecuteStmt* ExecuteWithin(const Node* statement) {
  const Node* query = nullptr;
  if (IsA(statement, ExecuteStmt)) return castNode(ExecuteStmt, statement);
  if (IsA(statement, ExplainStmt)) query = castNode(ExplainStmt, statement)->query;
  if (IsA(statement, CreateTableAsStmt)) query = castNode(CreateTableAsStmt, statement)->query;
  if (query == nullptr || !IsA(query, Query) || AsQuery(query)->utilityStmt == nullptr) return nullptr;
  return ExecuteWithin(AsQuery(query)->utilityStmt);
}

// The statements that functions have prepared: what stands in their text the client has not sent.
std::unordered_set<std::string>* prepared_within = nullptr;

void NotePrepared(const Node* statement, bool sent) {
  if (!IsA(statement, PrepareStmt) || (sent && prepared_within == nullptr)) return;
  const char* name = castNode(PrepareStmt, statement)->name;
  CoreError error;
  if (!CallCore(&error, [name, sent] {
        if (prepared_within == nullptr) prepared_within = new std::unordered_set<std::string>();
        if (sent)
          prepared_within->erase(name);
        else
          prepared_within->insert(name);
      }))
    CountScoringError(error.message);
}

bool WasPreparedWithin(const char* name) {
  bool within = true;
  CoreError error;
  if (!CallCore(&error, [name, &within] { within = prepared_within != nullptr && prepared_within->count(name) != 0; }))
    CountScoringError(error.message);
  return within;
}

// A copy of the text that was prepared, since what runs may deallocate it; null when the statement runs none.
const char* PreparedText(const Node* statement) {
  const ExecuteStmt* execute = SpeaksForOthers() ? ExecuteWithin(statement) : nullptr;
  if (execute == nullptr || WasPreparedWithin(execute->name)) return nullptr;
  const PreparedStatement* prepared = FetchPreparedStatement(execute->name, false);
  return prepared == nullptr ? nullptr : pstrdup(prepared->plansource->query_string);
}

// A utility statement while it runs.
struct RunningUtility {
  const char* outer_executed;
  Oid handled;
  bool nests;  // EXECUTE, EXPLAIN, DECLARE and the like run what the client sent, not something within it
  bool ends_block;
  int outer_refresh_depth;
  bool outer_merging;
  bool outer_in_plan;
  CopyingStatement copying;
  Renaming renaming;
};

void LeaveUtility(const RunningUtility* running) {
  NoteExecutedText(running->outer_executed);
  ps_place.refresh_depth = running->outer_refresh_depth;
  ps_place.merging = running->outer_merging;
  ps_place.in_plan = running->outer_in_plan;
  LeaveCopying(&running->copying);
  if (running->nests) --ps_place.depth;
}

void ps_utility(PlannedStmt* plan, const char* text, bool read_only_tree, ProcessUtilityContext context,
                ParamListInfo parameters, QueryEnvironment* environment, DestReceiver* destination,
                QueryCompletion* completion) {
  RecordLateError();  // first: it is of who spoke before
  CountFetchedBefore();
  // What COMMIT fires is of who spoke last.
  if (ps_place.depth == 0 && !IsA(plan->utilityStmt, TransactionStmt)) NoteStatementText(text);
  CheckListening(plan->utilityStmt);
  int64 returns = IsA(plan->utilityStmt, CopyStmt) ? CountCopy(castNode(CopyStmt, plan->utilityStmt)) : 0;
  if (IsA(plan->utilityStmt, FetchStmt)) returns = CountFetch(castNode(FetchStmt, plan->utilityStmt));
  if (IsA(plan->utilityStmt, AlterDomainStmt)) CountDomain(castNode(AlterDomainStmt, plan->utilityStmt));
  const Node* statement = plan->utilityStmt;
  if (IsMaintenance(statement)) CountMaintenance(statement);
  JudgeWriting(statement);
  RunningUtility running;
  running.handled = HandledRelation(statement);
  running.nests = IsA(statement, CallStmt) || IsA(statement, DoStmt);
  running.ends_block = EndsBlock(statement);
  running.outer_refresh_depth = ps_place.refresh_depth;
  running.outer_merging = ps_place.merging;
  running.outer_in_plan = ps_place.in_plan;
  ps_place.in_plan = false;
  if (running.nests) ++ps_place.depth;
  if (IsA(statement, RefreshMatViewStmt) && castNode(RefreshMatViewStmt, statement)->concurrent) {
    ps_place.refresh_depth = ps_place.depth;
    ps_place.merging = false;
  }
  running.renaming = RenamingOf(statement);
  const bool sent = ps_place.depth == 0 && context == PROCESS_UTILITY_TOPLEVEL;
  const char* prepared = sent ? PreparedText(statement) : nullptr;
  running.outer_executed = NoteExecutedText(prepared);
  const char* preparing = TransactionNamedBy(statement, TRANS_STMT_PREPARE);
  const char* committing = TransactionNamedBy(statement, TRANS_STMT_COMMIT_PREPARED);
  PG_TRY();
  {
    if (preparing != nullptr && IsTransactionBlock()) KeepChangesForPrepared(preparing);
    const KeptChanges committed = committing == nullptr ? KeptChanges{} : ChangesOfPrepared(committing);
    BeginCopying(&running.copying, plan);
    if (prev_utility)
      prev_utility(plan, text, read_only_tree, context, parameters, environment, destination, completion);
    else
      standard_ProcessUtility(plan, text, read_only_tree, context, parameters, environment, destination, completion);
    if (committing != nullptr) AnnounceKept(committed);
    FinishCopying(&running.copying);
    FollowRenaming(running.renaming);
    NoteRoleSetting(statement);
    NotePrepared(statement, sent);
    if (IsA(statement, VariableSetStmt)) NoteApplicationName();
    if (IsA(statement, FetchStmt)) NoteFetched(castNode(FetchStmt, statement));
    if (IsA(statement, DeclareCursorStmt)) NoteCursor(castNode(DeclareCursorStmt, statement));
    if (BeginsSession(statement)) CloseSession();
    if (running.ends_block) FireDeferredTriggers();
  }
  PG_CATCH();
  {
    LeaveUtility(&running);
    if (IsTransactionState()) {
      const Watch watch = WatchInForce();
      if (ReadIsJudged(watch)) HintAtNoisyAnswers(watch.role, nullptr, statement, running.handled);
      JudgeFailure(nullptr, parameters, statement, running.handled, watch);
    }
    PG_RE_THROW();
  }
  PG_END_TRY();
  LeaveUtility(&running);
  if (returns != 0 && completion != nullptr) RecordRows(returns, static_cast<int64>(completion->nprocessed));
}

}  // namespace

void InstallUtilityHook() {
  prev_utility = ProcessUtility_hook;
  ProcessUtility_hook = ps_utility;
}

}  // namespace privacy_score
