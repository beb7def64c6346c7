/*
 * private_feedback.cpp - see private_feedback.hpp.
 */
#include "backend/private_sql/private_feedback.hpp"

extern "C" {
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
}

#include <cmath>

#include "backend/catalog/function_arguments.hpp"
#include "backend/private_sql/private_answer.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_last_answer);
}

namespace {

// A column of the last answer.
struct AnsweredColumn {
  int level;
  NameData name;
  double epsilon;
  bool repeated;
  TimestampTz answered_at;
  ColumnLaw law;
};

// The last answer, in a memory context of its own; null: none yet.
struct LastAnswer {
  Oid role;  // who has logged in when it was asked
  int count;
  AnsweredColumn columns[FLEXIBLE_ARRAY_MEMBER];
};

LastAnswer* last_answer = nullptr;

void Keep(const List* answers) {
  int count = 0;
  const ListCell* cell;
  foreach (cell, answers) count += static_cast<PrivateAnswer*>(lfirst(cell))->level->measure_count;
  auto* kept = static_cast<LastAnswer*>(
      MemoryContextAllocZero(TopMemoryContext, offsetof(LastAnswer, columns) + sizeof(AnsweredColumn) * Max(count, 1)));
  kept->role = GetSessionUserId();
  foreach (cell, answers) {
    const auto* answer = static_cast<PrivateAnswer*>(lfirst(cell));
    for (int m = 0; m < answer->level->measure_count; ++m) {
      AnsweredColumn* column = &kept->columns[kept->count++];
      *column = {foreach_current_index(cell) + 1,
                 {},
                 answer->shares[m],
                 answer->repeated,
                 answer->answered_at,
                 answer->rows->laws[m]};
      namestrcpy(&column->name, NameOfMeasure(answer->level, m));
    }
  }
  if (last_answer != nullptr) pfree(last_answer);
  last_answer = kept;
}

void AppendHalfWidth(StringInfo text, const PrivateAnswer* answer, int measure) {
  const ColumnLaw& law = answer->rows->laws[measure];
  appendStringInfo(text, "%s%s: ", measure == 0 ? "" : "\n", NameOfMeasure(answer->level, measure));
  if (std::isinf(law.half_width))
    appendStringInfoString(text, "may be off by any amount");
  else
    appendStringInfo(text, "within %.4g with 95 %% confidence", law.half_width);
  if (std::isnan(law.left_out))
    appendStringInfo(text, ", beside what persons with more than %.4g have beyond that", law.bound);
  else if (law.left_out > 0)
    appendStringInfo(text, ", beside %.2g %% that persons with more than %.4g have beyond that", 100 * law.left_out,
                     law.bound);
}

// One NOTICE a level.
void NotifyClient(const PrivateAnswer* answer) {
  const char* home = get_rel_name(answer->level->home);
  StringInfoData columns;
  initStringInfo(&columns);
  const bool full = ps_settings.dp_notice == static_cast<int>(AnswerNotice::kFull);
  for (int m = 0; full && m < answer->level->measure_count; ++m) AppendHalfWidth(&columns, answer, m);
  StringInfoData cost;
  initStringInfo(&cost);
  if (answer->repeated)
    appendStringInfo(&cost, "an answer is repeated for nothing, as of %s", timestamptz_to_str(answer->answered_at));
  else
    appendStringInfo(&cost, "an answer has cost epsilon %s", answer->epsilon);
  if (!answer->repeated && answer->delta != nullptr) appendStringInfo(&cost, " and delta %s", answer->delta);
  if (answer->once != nullptr) appendStringInfo(&cost, ", and %s once for queries of its shape", answer->once);
  ereport(NOTICE, (errmsg("%s; %s is left for persons of \"%s\"", cost.data, answer->epsilon_left, home),
                   columns.len > 0 ? errdetail("%s", columns.data) : 0));
}

Datum NumericOfDouble(double value) { return NumericOf(psprintf("%.15g", value)); }

}  // namespace

void TellOfAnswers(const List* answers) {
  Keep(answers);
  if (ps_settings.dp_notice == static_cast<int>(AnswerNotice::kOff)) return;
  const ListCell* cell;
  foreach (cell, answers) NotifyClient(static_cast<const PrivateAnswer*>(lfirst(cell)));
}

// last_answer()
Datum ps_last_answer(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  const LastAnswer* last = last_answer;
  for (int i = 0; last != nullptr && last->role == GetSessionUserId() && i < last->count; ++i) {
    const AnsweredColumn& column = last->columns[i];
    Datum values[] = {Int32GetDatum(column.level),
                      NameGetDatum(&column.name),
                      NumericOfDouble(column.epsilon),
                      BoolGetDatum(column.repeated),
                      TimestampTzGetDatum(column.answered_at),
                      Float8GetDatum(column.law.bound),
                      Float8GetDatum(column.law.left_out),
                      Float8GetDatum(column.law.half_width)};
    bool nulls[lengthof(values)] = {};
    nulls[lengthof(values) - 2] = std::isnan(column.law.left_out);
    PutResultRow(fcinfo, values, nulls);
  }
  return Datum(0);
}

}  // namespace privacy_score
