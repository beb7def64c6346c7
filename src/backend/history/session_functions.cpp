/*
 * session_functions.cpp - the sessions that the shared state shows, and the day that they belong to.
 */
#include "backend/state/live_session.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/role_access.hpp"
#include "backend/state/shared_state.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
}

#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_live_sessions);
PG_FUNCTION_INFO_V1(ps_today);
}

namespace {

// Tokens of an abstraction among definitions not yet written, as text[]; 0 when it is not there. The lists are only
// changed by their owner at the end and by the worker under the slot's lock, which the caller holds.
Datum PendingTokens(const PendingHistory* history, int64 id) {
  NoteReader reader(history->definitions);
  for (DefinitionHead head; reader.Next(&head);) {
    const auto length = static_cast<Size>(head.length);
    if (head.id == id) return TokenArrayOf({ReadNoteText(&reader, head.length), length});
    reader.Read(nullptr, length);
  }
  return Datum(0);
}

void PutSession(FunctionCallInfo fcinfo, LiveSession* copy) {
  const privacy_score::SessionSummary& summary = copy->summary;
  Datum tokens = PendingTokens(&copy->open, copy->last_id);
  if (tokens == 0) tokens = PendingTokens(&copy->sealed, copy->last_id);
  const ConnectionContext& context = copy->context;
  const char* method = AuthenticationName(context);
  Datum address = Datum(0);
  if (context.address[0] != '\0') address = DirectFunctionCall1(inet_in, CStringGetDatum(context.address));
  constexpr int kReachColumns = 16;  // the first of them
  constexpr int kColumns = kReachColumns + privacy_score::kReachFigureCount + 11;
  Datum values[kColumns] = {Int32GetDatum(copy->pid),
                            NameGetDatum(&copy->role_name),
                            CStringGetTextDatum(copy->session),
                            TimestampTzGetDatum(copy->started),
                            Int64GetDatum(summary.queries),
                            Int64GetDatum(summary.ngrams),
                            Int64GetDatum(summary.mismatched),
                            Float8GetDatum(summary.score),
                            Float8GetDatum(summary.max_score),
                            Float8GetDatum(summary.normalised),
                            BoolGetDatum(summary.estimated || summary.peer_estimated),
                            TimestampTzGetDatum(copy->last_at),
                            Int64GetDatum(copy->last_id),
                            tokens,
                            Float8GetDatum(summary.statement_score),
                            Int64GetDatum(copy->rows),
                            Int64GetDatum(copy->reach.values[0]),
                            Int64GetDatum(copy->reach.values[1]),
                            Int32GetDatum(static_cast<int32>(copy->reach.values[2])),
                            Float8GetDatum(summary.statement_score),  // enforced: of a session it is that
                            CStringGetTextDatum(EndUserOf(copy)),
                            address,
                            CStringGetTextDatum(context.program),
                            BoolGetDatum(context.tls),
                            CStringGetTextDatum(method),
                            Float8GetDatum(summary.peer_score),
                            Int64GetDatum(copy->reach.addressed),
                            Int64GetDatum(copy->reach.person),
                            Int64GetDatum(copy->differ),
                            BoolGetDatum(copy->unverified)};
  bool nulls[kColumns] = {};
  nulls[0] = copy->pid == 0;
  nulls[13] = tokens == 0;
  nulls[kColumns - 10] = EndUserOf(copy)[0] == '\0';
  nulls[kColumns - 9] = context.address[0] == '\0';
  nulls[kColumns - 8] = nulls[kColumns - 7] = !context.known;
  nulls[kColumns - 6] = method[0] == '\0';
  nulls[kColumns - 5] = summary.peer_score < 0;
  nulls[kColumns - 4] = nulls[kColumns - 3] = !copy->reach_known;
  for (int figure = 0; figure < privacy_score::kReachFigureCount; ++figure)
    nulls[kReachColumns + figure] = !copy->reach_known;
  PutResultRow(fcinfo, values, nulls);
}

}  // namespace

// live_sessions(): copies each session under its mutex; the slot's lock keeps it from being freed meanwhile.
Datum ps_live_sessions(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  DatabaseSlot* slot = RequireSlotOfDatabase();
  LWLockAcquire(slot->lock, LW_SHARED);
  for (LiveSession *next, *session = slot->sessions; session != nullptr; session = next) {
    LiveSession copy;
    CopySession(session, &copy);
    if (!copy.closed && MayReadRole(copy.role)) PutSession(fcinfo, &copy);
    next = copy.next;
  }
  LWLockRelease(slot->lock);
  return Datum(0);
}

// today()
Datum ps_today(PG_FUNCTION_ARGS) { PG_RETURN_DATEADT(DayOf(GetCurrentTimestamp())); }

}  // namespace privacy_score
