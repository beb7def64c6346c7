/*
 * dp_budget.hpp - who pays for a noisy answer, and paying: charge first, then answer.
 *
 * A function that gives noisy answers goes through these steps, in this order:
 *
 *   Budget* budget = PayingBudget("dp_count", relation);   // 25006, 42501; locks the relation
 *   Question question = {budget, "count", ...};
 *   Payment payment;
 *   if (!HeldAnswer(&question, &payment)) {                // PS002 before any data is touched
 *     ... read the data (dp_scan.hpp), draw the noise, put the answer into text ...
 *     payment = Pay(&question, answer);                    // durable when it returns, in a transaction of its own
 *   }
 *   ... hand out payment.answer, and nothing else that depends on the data ...
 *
 * The budget that pays is that of the session user, whatever SET ROLE and SECURITY DEFINER functions say: his own when
 * he has one for the relation, else of those of his groups the one that was granted first. There is no second one to
 * fall back on when it is exhausted. Nothing pays within a security-restricted operation (index expressions, REFRESH
 * MATERIALIZED VIEW): code that somebody else has written runs there.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "utils/numeric.h"
}

// A budget as it was found. Lives in the memory context of PayingBudget().
struct Budget {
  int64 id;
  Oid relation;
  Oid owner;                // of the relation
  Oid role;                 // that the budget was granted to
  const char* unit;         // column whose values are protected; null: each row
  int32 max_rows_per_unit;  // 1 without a unit: the sensitivity of a count
  char* settings;           // under which it was granted, NAME=VALUE with '\1' between them (dp_scan.hpp)
  const char* function;     // for errors
};

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
};

// What an answer has cost.
struct Payment {
  const char* answer;  // the one that is paid for: of two who ask the same at the same time both get the first one's
  bool repeated;       // nothing was spent
  const char* epsilon_spent;
  const char* epsilon_left;
};

// The decimal without zeros that say nothing, palloc'd. Raises 22023 naming `parameter` unless the value is a number
// greater than zero of at most 40 digits.
const char* NormalDecimal(const char* parameter, Numeric value);

// The budget that pays for questions of this session about the relation, which is locked against being dropped or
// altered until the end of the transaction. Raises 42501 when there is none, 42P01 when the relation is gone, 25006 on
// a standby unless `pays` is false: then nothing is to be spent.
Budget* PayingBudget(const char* function, Oid relation, bool pays = true);

// True when the question has been answered before and need not be paid again; the payment is then complete. Else raises
// PS002 when the budget cannot pay for it.
bool HeldAnswer(const Question* question, Payment* payment);

// Charges the budget and stores the answer, both durably. When it raises, the answer must not leave: PS002 when others
// were faster; 55P03, 53400, 57P01 when the accountant cannot do its work.
Payment Pay(const Question* question, const char* answer);

// What the question would cost. Nothing is spent, and nobody is asked.
Payment CostOf(const Question* question);
