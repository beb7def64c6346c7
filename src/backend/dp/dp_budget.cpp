/*
 * dp_budget.cpp - see dp_budget.hpp.
 *
 * What is left is looked at twice: here, so that an exhausted budget makes no load; and by the accountant, which
 * decides.
 *
 * Sessions with the same question wait for one another on a lock that is named by the question's hash: the first one
 * has left its order to store the answer when it lets go, and the accountant carries that out before the next one's
 * charge. A question that was charged and has no answer may be on its way, so whoever finds one waits for it, too.
 */
#include "backend/dp/dp_budget.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/code_search.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_lock.hpp"
#include "backend/dp/dp_accountant.hpp"
#include "backend/dp/dp_ledger.hpp"
#include "backend/dp/dp_settings.hpp"
#include "backend/server/keyed_digest.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"

namespace {

constexpr int kExhausted = MAKE_SQLSTATE('P', 'S', '0', '0', '2');
constexpr int kBroken = MAKE_SQLSTATE('P', 'S', '0', '0', '4');
constexpr Size kLeastWidth = 128;
constexpr int kMostDigits = 40;
// How long to wait for somebody who is changing the budget.
constexpr int kBusyTries = 100;
constexpr long kBusyPauseMilliseconds = 50;
// Tells the locks of questions from those that users take.
constexpr uint16 kQuestionLock = 0x5053;

LedgerStatement find_budgets = {
    "SELECT n.id, n.role_oid, n.unit, n.max_rows_per_unit, pg_catalog.array_to_string(n.settings, pg_catalog.chr(1)), "
    "n.constant_work "
    "FROM privacy_score.budget_now n "
    "WHERE n.relation_oid = $1::pg_catalog.oid AND n.role_oid <> 0 AND n.revoked_at IS NULL AND n.id = ANY (ARRAY("
    "SELECT b.id FROM privacy_score.budget b WHERE b.relation_oid = $1::pg_catalog.oid AND b.relation_oid <> 0 "
    "UNION SELECT b.id FROM privacy_score.budget b WHERE b.relation_name = $2)) ORDER BY n.id",
    2, nullptr};
LedgerStatement find_key = {"SELECT pg_catalog.encode(k.key, 'hex') FROM privacy_score.ledger_key k", 0, nullptr};
// The fifth column finds the newest answer to the same question, the last one whether one may be on its way.
LedgerStatement look_ahead = {
    "SELECT " SQL_EPSILON_LEFT("$2") ", n.period_ends, "
    "(SELECT pg_catalog.max(r.id) FROM privacy_score.release r WHERE r.budget_id = n.id AND r.answer IS NOT NULL "
    "AND r.question = pg_catalog.decode($3, 'hex')), " SQL_DELTA_LEFT("$4") ", "
    "EXISTS (SELECT FROM privacy_score.release r WHERE r.budget_id = n.id AND r.answer IS NULL AND r.repeat_of IS NULL "
    "AND r.question = pg_catalog.decode($3, 'hex'))"
    " FROM privacy_score.budget_now n WHERE n.id = $1::pg_catalog.int8 AND n.revoked_at IS NULL",
    4, nullptr};
LedgerStatement read_answer = {
    "SELECT r.answer FROM privacy_score.release r WHERE r.id = $1::pg_catalog.int8 AND r.answer IS NOT NULL", 1,
    nullptr};

// What the ledger says of a question before it is asked.
struct Outlook {
  char* left;
  bool fits;
  char* left_after;
  char* period_ends;  // null: never
  char* release;      // that answers it; null: none
  bool delta_fits;
  char* delta_left;  // null: no limit
  bool unanswered;   // it was charged, and has no answer yet
};

// Who asks: the role that has logged in, or, where statements are those of the current user, the role that is set.
// Functions with SECURITY DEFINER do not change it.
Oid WhoAsks() {
  return ps_settings.principal == static_cast<int>(Principal::kCurrentUser) ? GetOuterUserId() : GetSessionUserId();
}

[[noreturn]] void RaiseNoBudget(const char* function, Oid relation) {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
           errmsg("role \"%s\" has no privacy budget for relation \"%s\"", GetUserNameFromId(WhoAsks(), false),
                  get_rel_name(relation)),
           ps_settings.principal == static_cast<int>(Principal::kCurrentUser)
               ? errdetail("%s() is paid for by the role that is set or a group of it; a grant counts once it is "
                           "committed.",
                           function)
               : errdetail("%s() is paid for by the role that logged in or a group of it; a grant counts once "
                           "it is committed.",
                           function),
           errhint("The owner of the relation gives a budget with privacy_score.dp_grant().")));
}

[[noreturn]] void RaiseExhausted(const char* parameter, const char* asked, const char* left, const char* period_ends) {
  ereport(
      ERROR,
      (errcode(kExhausted), errmsg("privacy budget exhausted: %s %s is asked for, %s is left", parameter, asked, left),
       period_ends != nullptr
           ? errhint("The budget is full again at %s. Answers that were paid for are repeated for free.", period_ends)
           : errhint("Answers that were paid for are repeated for free. The owner of the relation may raise "
                     "the limit with privacy_score.dp_grant().")));
}

// An answer in the width in which it is stored: what the ledger grows by is the same for all answers of a kind. Texts
// of numbers and arrays may have blanks behind.
const char* Padded(const char* answer) {
  Size width = kLeastWidth;
  while (width < strlen(answer)) width *= 2;
  return psprintf("%-*s", static_cast<int>(width), answer);
}

// Raises unless the column that names whom to protect is still there.
void RequireUnitOf(const Budget* budget) {
  if (budget->unit == nullptr || get_attnum(budget->relation, budget->unit) > 0) return;
  ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                  errmsg("column \"%s\" of relation \"%s\", the unit of protection, does not exist", budget->unit,
                         get_rel_name(budget->relation)),
                  errhint("The owner of the relation names another one with privacy_score.dp_grant().")));
}

// Raises when a question costs less than the least that its budget was granted for: the ledger has a row for each.
void RequireLeastEpsilon(const Question* question) {
  const char* least = GrantedSetting(question->budget, "privacy_score.dp_least_epsilon", "0.001");
  if (!DatumGetBool(DirectFunctionCall2(numeric_lt, NumericOf(question->epsilon), NumericOf(least)))) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("epsilon must be at least %s for relation \"%s\", not %s", least, question->budget->name,
                         question->epsilon),
                  errhint("The owner of the relation changes that with the setting privacy_score.dp_least_epsilon and "
                          "another privacy_score.dp_grant().")));
}

// Finds the budget that pays; false when there is none.
bool FindBudget(Budget* budget) {
  const Oid user = WhoAsks();
  const char* args[] = {TextOfOid(budget->relation), CanonicalRelationName(budget->relation)};
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(&find_budgets, args);
  for (uint64 row = 0; row < SPI_processed; ++row) {
    const Oid role = static_cast<Oid>(LedgerNumber(row, 1));
    const bool own = role == user;
    if (!own && (OidIsValid(budget->role) || !is_member_of_role_nosuper(user, role))) continue;
    budget->id = LedgerNumber(row, 0);
    budget->role = role;
    budget->unit = FieldText(row, 2);
    budget->max_rows_per_unit = static_cast<int32>(LedgerNumber(row, 3));
    budget->settings = FieldText(row, 4);
    budget->constant_work = LedgerFlag(row, 5);
    if (own) break;
  }
  LeaveInternal(&scope);
  return OidIsValid(budget->role);
}

// The keyed hash of all that the answer depends on, in hexadecimal.
char* HashOf(const Question* question) {
  StringInfoData text;
  initStringInfo(&text);
  appendStringInfo(&text, "1\n%s\n%s\n%s\n%s\n%d\n%s", question->kind, question->epsilon,
                   question->delta == nullptr ? "" : question->delta,
                   question->budget->unit == nullptr ? "" : QuoteName(question->budget->unit),
                   question->budget->max_rows_per_unit, question->canonical);
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(&find_key, nullptr);
  char* key = SPI_processed == 0 ? nullptr : FieldText(0, 0);
  LeaveInternal(&scope);
  if (key == nullptr) elog(ERROR, "the ledger has no key");
  return KeyedDigest(key, text.data);
}

Outlook LookAhead(const Question* question, const char* hash) {
  const char* args[] = {TextOfInteger(question->budget->id), question->epsilon, hash, question->delta};
  Outlook outlook = {};
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(&look_ahead, args);
  if (SPI_processed > 0)
    outlook = {FieldText(0, 0), LedgerFlag(0, 1), FieldText(0, 2), FieldText(0, 3),
               FieldText(0, 4), LedgerFlag(0, 5), FieldText(0, 6), LedgerFlag(0, 7)};
  LeaveInternal(&scope);
  if (outlook.left == nullptr) RaiseNoBudget(question->budget->function, question->budget->relation);
  return outlook;
}

const char* ReadAnswer(int64 release) {
  const char* args[] = {TextOfInteger(release)};
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(&read_answer, args);
  const char* answer = SPI_processed == 0 ? nullptr : FieldText(0, 0);
  LeaveInternal(&scope);
  if (answer == nullptr) elog(ERROR, "an answer of the ledger is gone");
  return answer;
}

// Waits a moment for somebody who is changing the budget.
void PauseForBusy(int tries, const Question* question) {
  if (tries >= kBusyTries)
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("the privacy budget for relation \"%s\" is being changed by another transaction",
                           get_rel_name(question->budget->relation)),
                    errhint("Try again when that transaction, maybe your own, has ended.")));
  CHECK_FOR_INTERRUPTS();
  Pause(OwnWait::kBudget, kBusyPauseMilliseconds);
}

// Has the accountant carry out an order, and raises what it refuses.
ChargeReply Order(const Question* question, const char* hash, OrderKind kind) {
  const Budget* budget = question->budget;
  const Charge charge = {kind,
                         0,
                         budget->id,
                         budget->role,
                         budget->relation,
                         question->fresh,
                         {question->epsilon, question->delta, question->kind, GetUserNameFromId(WhoAsks(), false), hash,
                          question->shape, nullptr}};
  for (int tries = 0;; ++tries) {
    const ChargeReply reply = CarryOut(&charge);
    switch (reply.outcome) {
      case ChargeOutcome::kCharged:
      case ChargeOutcome::kRepeated:
        return reply;
      case ChargeOutcome::kExhausted:
        RaiseExhausted("epsilon", question->epsilon, reply.left, nullptr);
      case ChargeOutcome::kNoDelta:
        RaiseExhausted("delta", question->delta, reply.left, nullptr);
      case ChargeOutcome::kNoBudget:
        RaiseNoBudget(budget->function, budget->relation);
      case ChargeOutcome::kFailed:
        ereport(ERROR, (errcode(reply.sqlstate), errmsg("could not charge the privacy budget: %s", reply.message),
                        errdetail("No answer is given."), errhint("The server log may say more.")));
      case ChargeOutcome::kBusy:
        PauseForBusy(tries, question);
    }
  }
}

// The lock of a question, in the class of advisory locks.
LOCKTAG LockOf(const Debit* debit) {
  uint32 key[2];
  hex_decode(debit->hash, 2 * sizeof key, reinterpret_cast<char*>(key));
  LOCKTAG tag;
  SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, key[0], key[1] ^ static_cast<uint32>(debit->question->budget->id),
                       kQuestionLock);
  return tag;
}

// Waits for who asks the same. A fresh answer is nobody else's.
void LockQuestion(Debit* debit) {
  if (debit->locked || debit->question->fresh) return;
  const LOCKTAG tag = LockOf(debit);
  (void)LockAcquire(&tag, ExclusiveLock, false, false);
  debit->locked = true;
}

void UnlockQuestion(Debit* debit) {
  if (!debit->locked) return;
  const LOCKTAG tag = LockOf(debit);
  (void)LockRelease(&tag, ExclusiveLock, false);
  debit->locked = false;
}

// Whether what an error says depends on who asks, names, rights and the server, but not on rows.
bool TellsNothing(const Debit* debit, const ErrorData* error) {
  if (!debit->charged) return true;
  const int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
  if (category == ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION)) return true;
  return category == ERRCODE_TO_CATEGORY(kBroken) || (IsRefusal(error) && !debit->reads);
}

}  // namespace

const char* NormalDecimal(const char* parameter, Numeric value) {
  const char* text = numeric_is_nan(value) || numeric_is_inf(value) ? nullptr : numeric_normalize(value);
  const char* shown = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
  if (text == nullptr || text[0] == '-' || strcmp(text, "0") == 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s must be greater than zero, not %s", parameter, shown),
             errhint("Give a positive decimal number.")));
  if (strlen(text) > kMostDigits + 1)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s has more than %d digits", parameter, kMostDigits),
             errhint("Give it with fewer digits.")));
  return text;
}

Budget* PayingBudget(const char* function, Oid relation, bool pays) {
  if (pays) RequirePrimary(function);
  if (IsInParallelMode())
    ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                    errmsg("cannot spend a privacy budget during a parallel operation"),
                    errhint("A function that calls %s() must not be declared PARALLEL SAFE.", function)));
  if (InSecurityRestrictedOperation())
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("cannot spend a privacy budget within a security-restricted operation"),
                    errdetail("Materialized views, indexes and the like run the code of their owner."),
                    errhint("Ask in a statement of its own.")));
  (void)RequireRelation(relation);
  auto* budget = static_cast<Budget*>(palloc0(sizeof(Budget)));
  budget->relation = relation;
  budget->function = function;
  if (!FindBudget(budget)) RaiseNoBudget(function, relation);
  // Only who has a budget may hold up others with a lock.
  LockForReading(relation);
  budget->name = get_rel_name(relation);
  budget->owner = OwnerOfRelation(relation);
  RequireUnitOf(budget);
  return budget;
}

bool HeldAnswer(Debit* debit, Payment* payment) {
  const Question* question = debit->question;
  debit->hash = HashOf(question);
  Outlook outlook = LookAhead(question, debit->hash);
  if (!question->fresh && outlook.release == nullptr && outlook.unanswered) {
    LockQuestion(debit);
    (void)Order(question, debit->hash, OrderKind::kWait);
    outlook = LookAhead(question, debit->hash);
  }
  if (!question->fresh && outlook.release != nullptr) {
    const ChargeReply reply = Order(question, debit->hash, OrderKind::kRepeat);
    debit->release = reply.release;
    debit->left = pstrdup(reply.left);
    *payment = Settle(debit, nullptr);
    return true;
  }
  RequireLeastEpsilon(question);
  if (!outlook.fits) RaiseExhausted("epsilon", question->epsilon, outlook.left, outlook.period_ends);
  if (!outlook.delta_fits) RaiseExhausted("delta", question->delta, outlook.delta_left, outlook.period_ends);
  CallAccountant();
  return false;
}

bool ChargeNow(Debit* debit) {
  LockQuestion(debit);
  const ChargeReply reply = Order(debit->question, debit->hash, OrderKind::kCharge);
  debit->charged = reply.outcome == ChargeOutcome::kCharged;
  debit->release = reply.release;
  debit->left = pstrdup(reply.left);
  return debit->charged;
}

Payment Settle(Debit* debit, const char* answer) {
  const Question* question = debit->question;
  if (answer != nullptr) {
    const Budget* budget = question->budget;
    Charge charge = {OrderKind::kStore, debit->release, budget->id, budget->role, budget->relation, false, {}};
    charge.texts[kOrderAnswer] = Padded(answer);
    LeaveOrder(&charge);
  }
  UnlockQuestion(debit);
  if (answer != nullptr) return {answer, false, question->epsilon, debit->left};
  return {ReadAnswer(debit->release), true, "0", debit->left};
}

void RaiseUntelling(const Debit* debit, MemoryContext context) {
  MemoryContextSwitchTo(context);
  ErrorData* error = CopyErrorData();
  FlushErrorState();
  const char* name = debit->question->budget->name;
  if (TellsNothing(debit, error)) {
    // The query is nobody's but ours.
    error->context = nullptr;
    error->internalquery = nullptr;
    error->internalpos = 0;
    ReThrowError(error);
  }
  ereport(LOG_SERVER_ONLY, (errmsg("could not read relation \"%s\" for a noisy answer: %s", name, error->message),
                            errhidestmt(true), errhidecontext(true)));
  ereport(ERROR, (errcode(kBroken), errmsg("could not read relation \"%s\" for a noisy answer", name),
                  errdetail("The question is charged: rows may have been read."),
                  errhint("The server log says what went wrong."), errhidecontext(true)));
}

Payment CostOf(const Question* question) {
  const char* hash = HashOf(question);
  Outlook outlook = LookAhead(question, hash);
  if (outlook.release == nullptr && outlook.unanswered && !RecoveryInProgress()) {
    (void)Order(question, hash, OrderKind::kWait);
    outlook = LookAhead(question, hash);
  }
  if (outlook.release != nullptr) return {nullptr, true, "0", outlook.left};
  RequireLeastEpsilon(question);
  return {nullptr, false, question->epsilon, outlook.left_after};
}
