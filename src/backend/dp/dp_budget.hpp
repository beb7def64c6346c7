/*
 * dp_budget.hpp - paying for a noisy answer: charge first, then read, then answer. Who pays: dp_payer.hpp.
 *
 * A function that gives noisy answers goes through these steps, in this order:
 *
 *   Budget* budget = PayingBudget("dp_count", relation);   // 25006, 42501; locks the relation
 *   Question question = {budget, "count", ...};            // text and catalogs: PS003, 42703, ...
 *   Payment payment = AnswerOf(&question, [&](Debit* debit) -> const char* {
 *     // A held answer is given, and PS002 raised, before it comes to this.
 *     if (!ReadRelation(debit, ...)) return nullptr;       // dp_scan.hpp: locks, then ChargeNow(), then the first row
 *     ... draw the noise, put the answer into text ...
 *   });
 *   ... hand out payment.answer, and nothing else that depends on the data ...
 *
 * The charge is durable, in a transaction of its own, before a row is read or statistics of rows are looked at.
 * Whatever comes after, an error of any kind, a cancel, the end of the session, a crash, leaves it charged. Errors
 * after it are one (PS004), whatever went wrong. The answer is stored by a second order that nobody waits for: a crash
 * in between costs a held answer. Sessions that ask the same question at once go one after another, and get the first
 * one's answer.
 */
#pragma once

#include "backend/dp/dp_payer.hpp"

extern "C" {

#include "datatype/timestamp.h"
#include "utils/numeric.h"
}

namespace privacy_score {

// What is asked. All text is in the database's encoding and outlives the question.
struct Question {
  const Budget* budget;
  const char* kind;       // of the ledger: count, histogram, sum, ...
  const char* epsilon;    // exact decimal in normal form (NormalDecimal)
  const char* delta;      // likewise; null when there is none
  const char* canonical;  // all that tells it from other questions of its kind: predicate, columns, bounds, keys. Holds
                          // constants, and leaves this process as a keyed hash only
  const char* shape;      // for people, without constants; null: none
  bool fresh;             // do not look for an earlier answer
  const char* newer_than = nullptr;  // seconds since 1970: answers from before are not looked for
};

// What an answer has cost.
struct Payment {
  const char* answer;
  bool repeated;  // nothing was spent
  const char* epsilon_spent;
  const char* epsilon_left;
  TimestampTz answered_at;  // when the answer was charged; of what has none, 0
};

// The decimal without zeros that say nothing, palloc'd. Raises 22023 naming `parameter` unless the value is a number
// greater than zero of at most 40 digits.
const char* NormalDecimal(const char* parameter, Numeric value);

// A question that is being answered.
struct Debit {
  const Question* question;
  const char* hash;  // keyed, of all that the answer depends on
  bool locked;       // against others who ask the same
  bool charged;
  bool reads;        // rows may have been seen
  int64 release;     // of the ledger: what was charged, or the answer that there is
  const char* left;  // of the budget then
  TimestampTz at;    // of the charge
};

// True when the question has been answered before and need not be paid again; the payment is then complete. Else raises
// PS002 when the budget cannot pay for it, 22023 when it costs less than a question may.
bool HeldAnswer(Debit* debit, Payment* payment);

// Charges the budget, durably, after all that is locked for the answer. False when there is an answer meanwhile, and
// nothing was charged; true when it has been charged before. Raises PS002 when others were faster; 55P03, 53400, 57P01
// when the accountant cannot do its work.
bool ChargeNow(Debit* debit);

// The same of several questions of one statement: all that have no answer meanwhile are charged by one order, or none.
// Raises PS002 naming all of them.
void ChargeTogether(Debit* const* debits, int count);

// Has the answer stored, if one was charged for, and lets others who ask the same go on; null stands for the answer
// that there is.
Payment Settle(Debit* debit, const char* answer);

// Within PG_CATCH: raises the error anew, as one that tells nothing when rows may have been read.
[[noreturn]] void RaiseUntelling(const Debit* debit, MemoryContext context);

inline Debit DebitOf(const Question* question) { return {question, nullptr, false, false, false, 0, nullptr, 0}; }

// The steps from a question to its payment (see above); `work` returns the answer, or null for that which there is.
template <typename Work>
Payment AnswerOf(const Question* question, Work work) {
  Debit debit = DebitOf(question);
  Payment payment;
  if (HeldAnswer(&debit, &payment)) return payment;
  MemoryContext context = CurrentMemoryContext;
  PG_TRY();
  { payment = Settle(&debit, work(&debit)); }
  PG_CATCH();
  { RaiseUntelling(&debit, context); }
  PG_END_TRY();
  return payment;
}

// What the question would cost. Nothing is spent, and nobody is asked.
Payment CostOf(const Question* question);

}  // namespace privacy_score
