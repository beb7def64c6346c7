/*
 * answers.cpp - see answers.hpp.
 */
#include "backend/watch/answers.hpp"

extern "C" {
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
}

#include "backend/query/aggregate_plans.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/core_call.hpp"
#include "backend/state/live_local.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"

namespace privacy_score {

namespace {

AnswerCatcher* CatcherOf(DestReceiver* self) { return reinterpret_cast<AnswerCatcher*>(self); }

// A number of any of the server's types; false for what is none. Raises nothing: a numeric that no double holds is
// infinite.
bool AnswerIn(Oid type, Datum value, double* number) {
  switch (type) {
    case INT8OID:
      *number = static_cast<double>(DatumGetInt64(value));
      return true;
    case INT4OID:
      *number = DatumGetInt32(value);
      return true;
    case INT2OID:
      *number = DatumGetInt16(value);
      return true;
    case FLOAT8OID:
      *number = DatumGetFloat8(value);
      return true;
    case FLOAT4OID:
      *number = static_cast<double>(DatumGetFloat4(value));
      return true;
    case NUMERICOID:
      *number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value));
      return true;
    default:
      return false;
  }
}

void StartUp(DestReceiver* self, int operation, TupleDesc description) {
  DestReceiver* next = CatcherOf(self)->next;
  next->rStartup(next, operation, description);
}

bool CatchRow(TupleTableSlot* slot, DestReceiver* self) {
  AnswerCatcher* catcher = CatcherOf(self);
  const TupleDesc description = slot->tts_tupleDescriptor;
  if (++catcher->rows == 1 && catcher->column <= description->natts) {
    bool null;
    const Datum value = slot_getattr(slot, catcher->column, &null);
    catcher->is_number =
        !null && AnswerIn(TupleDescAttr(description, catcher->column - 1)->atttypid, value, &catcher->answer);
  }
  return catcher->next->receiveSlot(slot, catcher->next);
}

void ShutDown(DestReceiver* self) {
  DestReceiver* next = CatcherOf(self)->next;
  next->rShutdown(next);
}

void Destroy(DestReceiver*) {}

}  // namespace

void BeginCatching(AnswerCatcher* catcher, const PlanMark* mark, QueryDesc* query) {
  *catcher = {};
  catcher->receiver.receiveSlot = CatchRow;
  catcher->receiver.rStartup = StartUp;
  catcher->receiver.rShutdown = ShutDown;
  catcher->receiver.rDestroy = Destroy;
  catcher->receiver.mydest = query->dest->mydest;
  catcher->next = query->dest;
  catcher->column = mark->answer_column;
  query->dest = &catcher->receiver;
}

void EndCatching(const AnswerCatcher& catcher, QueryDesc* query) { query->dest = catcher.next; }

void RecordAnswer(const PlanMark* mark, double answer, const BoundConstants& constants) {
  LiveSession* session = ps_own.session;
  if (session == nullptr || ps_local.scorer == nullptr || !IsRemembered(mark->id)) return;
  AskedAggregate asked;
  asked.answer = answer;
  asked.form = static_cast<std::uint32_t>(mark->id);
  asked.constants = ConstantsOfAggregate(mark, constants);
  CoreError error;
  if (!CallCore(&error, [&] {
        LiveScorer& scorer = ps_local.scorer->scorer;
        if (scorer.Knows(mark->id) && scorer.IsAboutProtected(mark->id))
          asked.shape = ShapeOfAggregate(RememberedTokens(mark->id));
      }))
    CountScoringError(error.message);
  if (asked.shape == 0) return;
  EnterSession(session);
  (void)TakeAnswer(session, asked);
  LeaveSession(session);
}

}  // namespace privacy_score
