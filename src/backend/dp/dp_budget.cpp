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
#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include <algorithm>

#include "backend/catalog/catalog_relations.hpp"
#include "backend/catalog/code_search.hpp"
#include "backend/catalog/function_arguments.hpp"
#include "backend/dp/dp_accountant.hpp"
#include "backend/dp/dp_ledger.hpp"
#include "backend/dp/dp_settings.hpp"
#include "backend/server/keyed_digest.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wait_events.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

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

LedgerStatement find_key = {"SELECT pg_catalog.encode(k.key, 'hex') FROM privacy_score.ledger_key k", 0, nullptr};
// The fifth column finds the newest answer to the same question, the last one whether one may be on its way.
LedgerStatement look_ahead = {
    "SELECT " SQL_EPSILON_LEFT("$2") ", n.period_ends, "
    "(SELECT pg_catalog.max(r.id) FROM privacy_score.release r WHERE r.budget_id = n.id AND r.answer IS NOT NULL "
    "AND r.question = pg_catalog.decode($3, 'hex') AND ($5 IS NULL OR r.at >= pg_catalog.to_timestamp($5::pg_catalog.float8))), "
    SQL_DELTA_LEFT("$4") ", "
    "EXISTS (SELECT FROM privacy_score.release r WHERE r.budget_id = n.id AND r.answer IS NULL AND r.repeat_of IS NULL "
    "AND r.question = pg_catalog.decode($3, 'hex'))"
    " FROM privacy_score.budget_now n WHERE n.id = $1::pg_catalog.int8 AND n.revoked_at IS NULL",
    5, nullptr};
LedgerStatement read_answer = {
    "SELECT r.at, r.answer FROM privacy_score.release r WHERE r.id = $1::pg_catalog.int8 AND r.answer IS NOT NULL", 1,
    nullptr};
LedgerStatement read_time = {
    "SELECT r.at FROM privacy_score.release r WHERE r.id = $1::pg_catalog.int8 AND r.answer IS NOT NULL", 1, nullptr};

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

// `detail`: what is asked for, where that is several questions.
[[noreturn]] void RaiseExhausted(const Budget* budget, const char* parameter, const char* asked, const char* left,
                                 const char* period_ends, const char* detail) {
  ereport(
      ERROR,
      (errcode(kExhausted), errmsg("privacy budget exhausted: %s %s is asked for, %s is left", parameter, asked, left),
       detail != nullptr ? errdetail("The statement asks for %s.", detail) : 0,
       period_ends != nullptr
           ? errhint("The budget is full again at %s. Answers that were paid for are repeated for free.", period_ends)
           : errhint("Answers that were paid for are repeated for free. The owner of the relation may raise "
                     "the limit with privacy_score.%s().",
                     budget->scope == BudgetScope::kPerson ? "dp_grant_person" : "dp_grant")));
}

// An answer in the width in which it is stored: what the ledger grows by is the same for all answers of a kind. Texts
// of numbers and arrays may have blanks behind.
const char* Padded(const char* answer) {
  Size width = kLeastWidth;
  while (width < strlen(answer)) width *= 2;
  return psprintf("%-*s", static_cast<int>(width), answer);
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

// The keyed hash of all that the answer depends on, in hexadecimal.
char* QuestionHash(const Question* question) {
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
  const char* args[] = {TextOfInteger(question->budget->id), question->epsilon, hash, question->delta,
                        question->newer_than};
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

// When a held answer was charged, and its text, where `statement` reads that.
TimestampTz ReadHeld(LedgerStatement* statement, int64 release, const char** answer) {
  const char* args[] = {TextOfInteger(release)};
  InternalScope scope;
  EnterInternal(&scope);
  RunLedger(statement, args);
  const bool held = SPI_processed > 0;
  const TimestampTz at = held ? LedgerTime(0, 0) : 0;
  if (held && answer != nullptr) *answer = FieldText(0, 1);
  LeaveInternal(&scope);
  if (!held) elog(ERROR, "an answer of the ledger is gone");
  return at;
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

Charge ChargeFor(const Question* question, const char* hash, OrderKind kind) {
  const Budget* budget = question->budget;
  return {kind,
          0,
          budget->id,
          budget->role,
          budget->granted_for,
          question->fresh,
          {question->epsilon, question->delta, question->kind, GetUserNameFromId(WhoAsks(), false), hash,
           question->shape, nullptr, question->newer_than}};
}

bool IsCarriedOut(const ChargeReply* reply) {
  return reply->outcome == ChargeOutcome::kCharged || reply->outcome == ChargeOutcome::kRepeated;
}

bool IsExhausted(const ChargeReply* reply) {
  return reply->outcome == ChargeOutcome::kExhausted || reply->outcome == ChargeOutcome::kNoDelta;
}

// Raises what the accountant refuses; false when somebody is changing the budget.
bool RequireCarriedOut(const Question* question, const ChargeReply* reply) {
  const Budget* budget = question->budget;
  switch (reply->outcome) {
    case ChargeOutcome::kCharged:
    case ChargeOutcome::kRepeated:
      return true;
    case ChargeOutcome::kExhausted:
      RaiseExhausted(budget, "epsilon", question->epsilon, reply->left, nullptr, nullptr);
    case ChargeOutcome::kNoDelta:
      RaiseExhausted(budget, "delta", question->delta, reply->left, nullptr, nullptr);
    case ChargeOutcome::kNoBudget:
      RaiseNoBudget(budget->function, budget->relation);
    case ChargeOutcome::kFailed:
      ereport(ERROR, (errcode(reply->sqlstate), errmsg("could not charge the privacy budget: %s", reply->message),
                      errdetail("No answer is given."), errhint("The server log may say more.")));
    case ChargeOutcome::kBusy:
      break;
  }
  return false;
}

// Has the accountant carry out an order, and raises what it refuses.
ChargeReply Order(const Question* question, const char* hash, OrderKind kind) {
  const Charge charge = ChargeFor(question, hash, kind);
  ChargeReply reply;
  for (int tries = 0;; ++tries) {
    CarryOut(&charge, 1, &reply);
    if (RequireCarriedOut(question, &reply)) return reply;
    PauseForBusy(tries, question);
  }
}

// What several questions to one budget cost together, as one question; the texts of what each costs in `detail`.
Question SumOf(Debit* const* debits, int count, const Budget* budget, StringInfo detail) {
  Question sum = {};
  Datum epsilon = NumericOf("0");
  Datum delta = NumericOf("0");
  bool has_delta = false;
  for (int i = 0; i < count; ++i) {
    const Question* question = debits[i]->question;
    if (question->budget->id != budget->id) continue;
    sum = *question;
    epsilon = DirectFunctionCall2(numeric_add, epsilon, NumericOf(question->epsilon));
    appendStringInfo(detail, "%s%s for %s (%s)", detail->len == 0 ? "" : ", ", question->epsilon, question->shape,
                     question->kind);
    if (question->delta == nullptr) continue;
    has_delta = true;
    delta = DirectFunctionCall2(numeric_add, delta, NumericOf(question->delta));
  }
  sum.epsilon = numeric_normalize(DatumGetNumeric(epsilon));
  sum.delta = has_delta ? numeric_normalize(DatumGetNumeric(delta)) : nullptr;
  return sum;
}

// Raises PS002, naming all of them, unless each budget holds what is asked of it together.
void RequireRoomForAll(Debit* const* debits, int count) {
  for (int i = 0; i < count; ++i) {
    StringInfoData detail;
    initStringInfo(&detail);
    const Question sum = SumOf(debits, count, debits[i]->question->budget, &detail);
    const Outlook outlook = LookAhead(&sum, debits[i]->hash);
    if (!outlook.fits)
      RaiseExhausted(sum.budget, "epsilon", sum.epsilon, outlook.left, outlook.period_ends, detail.data);
    if (!outlook.delta_fits)
      RaiseExhausted(sum.budget, "delta", sum.delta, outlook.delta_left, outlook.period_ends, detail.data);
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

bool HeldAnswer(Debit* debit, Payment* payment) {
  const Question* question = debit->question;
  debit->hash = QuestionHash(question);
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
  if (!outlook.fits)
    RaiseExhausted(question->budget, "epsilon", question->epsilon, outlook.left, outlook.period_ends, nullptr);
  if (!outlook.delta_fits)
    RaiseExhausted(question->budget, "delta", question->delta, outlook.delta_left, outlook.period_ends, nullptr);
  CallAccountant();
  return false;
}

bool ChargeNow(Debit* debit) {
  if (!debit->charged) ChargeTogether(&debit, 1);
  return debit->charged;
}

void ChargeTogether(Debit* const* debits, int count) {
  if (count == 0) return;
  if (count > 1) RequireRoomForAll(debits, count);
  // In one order for all sessions, so that none waits for another in a circle.
  auto** sorted = static_cast<Debit**>(palloc(sizeof(Debit*) * static_cast<Size>(count)));
  memcpy(sorted, debits, sizeof(Debit*) * static_cast<Size>(count));
  std::sort(sorted, sorted + count, [](const Debit* a, const Debit* b) { return strcmp(a->hash, b->hash) < 0; });
  for (int i = 0; i < count; ++i) LockQuestion(sorted[i]);
  auto* charges = static_cast<Charge*>(palloc(sizeof(Charge) * static_cast<Size>(count)));
  auto* replies = static_cast<ChargeReply*>(palloc0(sizeof(ChargeReply) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) charges[i] = ChargeFor(debits[i]->question, debits[i]->hash, OrderKind::kCharge);
  for (int tries = 0, settled = 0; settled < count; ++tries) {
    CarryOut(charges, count, replies);
    for (settled = 0; settled < count && IsCarriedOut(&replies[settled]);) ++settled;
    if (settled == count) break;
    // Others were faster with what there was.
    if (count > 1 && IsExhausted(&replies[settled])) RequireRoomForAll(debits, count);
    if (!RequireCarriedOut(debits[settled]->question, &replies[settled]))
      PauseForBusy(tries, debits[settled]->question);
  }
  for (int i = 0; i < count; ++i) {
    debits[i]->charged = replies[i].outcome == ChargeOutcome::kCharged;
    debits[i]->release = replies[i].release;
    debits[i]->left = pstrdup(replies[i].left);
    debits[i]->at = replies[i].at;
  }
}

Payment Settle(Debit* debit, const char* answer) {
  const Question* question = debit->question;
  if (answer != nullptr) {
    const Budget* budget = question->budget;
    Charge charge = {OrderKind::kStore, debit->release, budget->id, budget->role, budget->granted_for, false, {}};
    charge.texts[kOrderAnswer] = Padded(answer);
    LeaveOrder(&charge);
  }
  UnlockQuestion(debit);
  if (answer != nullptr) return {answer, false, question->epsilon, debit->left, debit->at};
  const char* held = nullptr;
  const TimestampTz at = ReadHeld(&read_answer, debit->release, &held);
  return {held, true, "0", debit->left, at};
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
  const char* hash = QuestionHash(question);
  Outlook outlook = LookAhead(question, hash);
  if (outlook.release == nullptr && outlook.unanswered && !RecoveryInProgress()) {
    (void)Order(question, hash, OrderKind::kWait);
    outlook = LookAhead(question, hash);
  }
  if (outlook.release != nullptr)
    return {nullptr, true, "0", outlook.left, ReadHeld(&read_time, pg_strtoint64(outlook.release), nullptr)};
  RequireLeastEpsilon(question);
  return {nullptr, false, question->epsilon, outlook.left_after, 0};
}

}  // namespace privacy_score
