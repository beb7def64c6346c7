/*
 * private_answer.cpp - see private_answer.hpp.
 */
#include "backend/private_sql/private_answer.hpp"

extern "C" {
#include "access/xlog.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/dp/dp_budget.hpp"
#include "backend/private_sql/private_allowed.hpp"
#include "backend/private_sql/private_canonical.hpp"
#include "backend/private_sql/private_domains.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/private_sql/private_norms.hpp"
#include "backend/private_sql/private_reading.hpp"
#include "backend/private_sql/private_rows.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"

namespace privacy_score {

namespace {

constexpr int kNoBudget = MAKE_SQLSTATE('P', 'S', '0', '0', '1');
constexpr const char* kFunction = "noisy_rows";

// A setting as a decimal in normal form.
const char* DecimalOfSetting(const char* name, double value) {
  Datum number = DirectFunctionCall3(numeric_in, CStringGetDatum(psprintf("%.15g", value)),
                                     ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
  return NormalDecimal(name, DatumGetNumeric(number));
}

// The same of what a question spends, of which `most` is allowed.
const char* SpentBySetting(const char* name, double value, double most) {
  if (value > most)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("privacy_score.dp_%s is %.15g, and may be at most %.15g", name, value, most),
             errhint("SET privacy_score.dp_%s to less; a superuser changes privacy_score.dp_max_%s.", name, name)));
  return DecimalOfSetting(psprintf("privacy_score.dp_%s", name), value);
}

const char* AskedEpsilon() { return SpentBySetting("epsilon", ps_settings.dp_epsilon, ps_settings.dp_max_epsilon); }

// What the choice of groups that nobody has declared costs; null when there are none.
const char* AskedDelta(const PrivateLevel* level, const PublicGroups* groups) {
  if (level->key_count == 0 || groups != nullptr) return nullptr;
  if (ps_settings.dp_delta <= 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("groups that nobody has declared need privacy_score.dp_delta above zero"),
                    errhint("SET privacy_score.dp_delta = '1e-6', well below one over the number of persons.")));
  return SpentBySetting("delta", ps_settings.dp_delta, ps_settings.dp_max_delta);
}

// From when on an answer is new enough to be given again; null: always. References stay: they choose bounds only.
const char* OldestAnswer() {
  if (ps_settings.dp_refresh_after == 0) return nullptr;
  const TimestampTz oldest = GetCurrentTimestamp() - ps_settings.dp_refresh_after * USECS_PER_SEC;
  constexpr int64 kUnixEpoch = (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;
  return psprintf("%.6f", static_cast<double>(oldest) / USECS_PER_SEC + static_cast<double>(kUnixEpoch));
}

// In a transaction that is read only answers are given: another process writes what they cost.
void RequireAnswering() {
  if (RecoveryInProgress())
    ereport(ERROR,
            (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("rows of persons are not answered about on a standby"),
             errdetail("An answer is charged before it is given, which only the primary can do."),
             errhint("Send the query to the primary. EXPLAIN and privacy_score.dp_price() tell here what it costs.")));
}

Budget* PayingBudgetOf(const PrivateLevel* level) {
  Budget* budget = FindPersonBudget(kFunction, level->home);
  if (budget == nullptr)
    ereport(ERROR, (errcode(kNoBudget), errmsg("there is no budget for persons of \"%s\"", get_rel_name(level->home)),
                    errhint("The owner of that relation gives one with privacy_score.dp_grant_person().")));
  return budget;
}

// A level that is about to be asked.
struct Asking {
  const PrivateLevel* level;
  ::Query* part;
  const PublicGroups* groups;  // null: there is one only, or they are unknown
  Question question;
};

// Nothing here depends on rows.
Asking BeginAsking(const PrivateLevel* planned, ParamListInfo parameters, bool pays) {
  if (pays) RequireAnswering();
  RequirePaying(kFunction, pays);
  Budget* budget = PayingBudgetOf(planned);
  auto* level = static_cast<PrivateLevel*>(palloc(sizeof(PrivateLevel)));
  *level = *planned;
  level->most_rows = ps_settings.dp_max_rows;
  Asking asking = {level, PartWithConstants(level, parameters), nullptr, {}};
  asking.groups = FindPublicGroups(level, asking.part);
  ClampToDomains(level, asking.part);
  PrepareForOwner(level, asking.part);
  asking.question = {budget,
                     "sql",
                     AskedEpsilon(),
                     AskedDelta(level, asking.groups),
                     CanonicalLevel(level, asking.part, asking.groups),
                     ShapeOf(level),
                     false,
                     OldestAnswer()};
  return asking;
}

// What is left when more is taken away.
Datum LeftAfter(const char* left, const char* taken) {
  return DirectFunctionCall2(numeric_sub, NumericOf(left), NumericOf(taken));
}

// A question of a statement: that of a level, or that for its references.
struct Wanted {
  const Asking* asking;
  Question question;
  ::Query* part;
  Debit debit;
  bool is_answered;
  Payment payment;  // where it is
};

// What is wanted for a level.
struct LevelWants {
  Wanted* own;
  bool is_shared;      // another level asks, and pays for, the same
  Wanted* references;  // null: it needs none
  bool pays_references;
};

// The question among those that are wanted, where an equal one stands once; `is_new` says whether it is the first.
// Raises PS002 where the budget does not hold it.
Wanted* Want(List** all, const Asking* asking, const Question* question, ::Query* part, bool* is_new) {
  auto* wanted = static_cast<Wanted*>(palloc0(sizeof(Wanted)));
  wanted->asking = asking;
  wanted->question = *question;
  wanted->part = part;
  wanted->debit = DebitOf(&wanted->question);
  wanted->is_answered = HeldAnswer(&wanted->debit, &wanted->payment);
  *is_new = false;
  const ListCell* cell;
  foreach (cell, *all) {
    auto* other = static_cast<Wanted*>(lfirst(cell));
    if (!wanted->is_answered && other->question.budget->id == question->budget->id &&
        strcmp(other->debit.hash, wanted->debit.hash) == 0)
      return other;
  }
  *all = lappend(*all, wanted);
  *is_new = true;
  return wanted;
}

LevelWants WantLevel(List** all, const Asking* asking) {
  LevelWants wants = {};
  bool is_new;
  wants.own = Want(all, asking, &asking->question, asking->part, &is_new);
  wants.is_shared = !is_new;
  Question question;
  ::Query* part = nullptr;
  if (wants.own->is_answered || wants.is_shared ||
      !AskForReferences(asking->level, &asking->question, asking->part, asking->groups, &question, &part))
    return wants;
  wants.references = Want(all, asking, &question, part, &is_new);
  wants.pays_references = is_new && !wants.references->is_answered;
  return wants;
}

bool IsForReferences(const Wanted* wanted) { return wanted->part != wanted->asking->part; }

// Reads and measures, where it is charged; `references` are null for the question for these.
void ReadAndMeasure(Wanted* wanted, const char* references) {
  const Asking* asking = wanted->asking;
  const char* answer = nullptr;
  if (wanted->debit.charged) {
    PersonRows* rows = ReadPersons(&wanted->debit, asking->level, wanted->part, asking->groups);
    answer = IsForReferences(wanted)
                 ? MeasuredReferences(asking->level, rows, asking->question.epsilon, asking->question.delta != nullptr)
                 : MeasuredText(asking->level, &wanted->question, rows, references);
  }
  wanted->payment = Settle(&wanted->debit, answer);
  wanted->is_answered = true;
}

// Has a question answered whose statement is paid.
const char* AnswerOfWanted(Wanted* wanted, const char* references, Wanted** current) {
  *current = wanted;
  if (!wanted->is_answered) ReadAndMeasure(wanted, references);
  return wanted->payment.answer;
}

// The part of epsilon that each aggregate's noise is drawn with.
const double* SharesOf(const Asking* asking) {
  const PrivateLevel* level = asking->level;
  auto* shares = static_cast<double*>(palloc0(sizeof(double) * static_cast<Size>(level->measure_count + 1)));
  CallCoreOrRaise([&] {
    const LevelQuestion planned = PlannedQuestion(level, asking->question.epsilon, asking->question.delta != nullptr);
    const MeasurementPlan plan = PlanMeasurements(planned.aggregates, planned.shape, planned.epsilon);
    for (std::size_t i = 0; i < plan.used_by.size(); ++i)
      for (const std::size_t used : plan.used_by[i]) shares[i] += ToDouble(plan.measurements[used].epsilon);
  });
  return shares;
}

// Pays for all that have no answer, or for none.
void PayForAll(const List* all, Wanted** current) {
  auto** debits = static_cast<Debit**>(palloc(sizeof(Debit*) * static_cast<Size>(list_length(all))));
  int count = 0;
  const ListCell* cell;
  foreach (cell, all) {
    auto* wanted = static_cast<Wanted*>(lfirst(cell));
    if (wanted->is_answered) continue;
    *current = wanted;
    PreparePersons(&wanted->question, wanted->asking->level, wanted->part);
    debits[count++] = &wanted->debit;
  }
  ChargeTogether(debits, count);
}

PrivateAnswer* AnswerOfLevel(const LevelWants* wants, const Asking* asking, Wanted** current) {
  const char* references = wants->references == nullptr ? nullptr : AnswerOfWanted(wants->references, nullptr, current);
  (void)AnswerOfWanted(wants->own, references, current);
  const Payment* payment = &wants->own->payment;
  auto* answer = static_cast<PrivateAnswer*>(palloc(sizeof(PrivateAnswer)));
  *answer = {
      asking->level,
      RowsOfText(asking->level, payment->answer),
      payment->repeated || wants->is_shared,
      payment->answered_at,
      asking->question.epsilon,
      asking->question.delta,
      wants->pays_references && !wants->references->payment.repeated ? wants->references->question.epsilon : nullptr,
      payment->epsilon_left,
      SharesOf(asking)};
  return answer;
}

List* AnswersOfLevels(const Asking* asked, const LevelWants* wants, int count, const List* all, Wanted** current) {
  PayForAll(all, current);
  List* answers = NIL;
  for (int i = 0; i < count; ++i) answers = lappend(answers, AnswerOfLevel(&wants[i], &asked[i], current));
  return answers;
}

List* PayAndAnswer(const Asking* asked, const LevelWants* wants, int count, const List* all) {
  MemoryContext context = CurrentMemoryContext;
  // The one at hand: whose error it is.
  auto** current = static_cast<Wanted**>(palloc(sizeof(Wanted*)));
  *current = static_cast<Wanted*>(linitial(all));
  List* answers = NIL;
  PG_TRY();
  { answers = AnswersOfLevels(asked, wants, count, all, current); }
  PG_CATCH();
  { RaiseUntelling(&(*current)->debit, context); }
  PG_END_TRY();
  return answers;
}

}  // namespace

List* AskPrivately(const List* levels, ParamListInfo parameters) {
  const int count = list_length(levels);
  auto* asked = static_cast<Asking*>(palloc(sizeof(Asking) * static_cast<Size>(count)));
  auto* wants = static_cast<LevelWants*>(palloc(sizeof(LevelWants) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i)
    asked[i] = BeginAsking(static_cast<const PrivateLevel*>(list_nth(levels, i)), parameters, true);
  List* all = NIL;
  for (int i = 0; i < count; ++i) wants[i] = WantLevel(&all, &asked[i]);
  return PayAndAnswer(asked, wants, count, all);
}

PrivateCost CostOfLevel(const PrivateLevel* level, ParamListInfo parameters) {
  const Asking asking = BeginAsking(level, parameters, false);
  const Payment payment = CostOf(&asking.question);
  PrivateCost cost = {payment.repeated,
                      payment.answered_at,
                      asking.question.epsilon,
                      asking.question.delta,
                      nullptr,
                      payment.epsilon_left,
                      0,
                      SharesOf(&asking)};
  // What would be refused before it is paid has no price. What is held has been planned.
  if (!cost.repeated) PreparePersons(&asking.question, asking.level, asking.part);
  if (level->key_count > 0) cost.groups = asking.groups == nullptr ? kUnknownGroups : asking.groups->count;
  Question question;
  ::Query* part = nullptr;
  if (!cost.repeated &&
      AskForReferences(asking.level, &asking.question, asking.part, asking.groups, &question, &part) &&
      !CostOf(&question).repeated) {
    cost.once = question.epsilon;
    cost.epsilon_left = numeric_normalize(DatumGetNumeric(LeftAfter(payment.epsilon_left, question.epsilon)));
  }
  return cost;
}

}  // namespace privacy_score
