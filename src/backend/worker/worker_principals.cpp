/*
 * worker_principals.cpp - see worker_principals.hpp.
 */
#include "backend/worker/worker_principals.hpp"

extern "C" {
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
}

#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/stored_principal.hpp"
#include "backend/worker/worker_alarms.hpp"

namespace privacy_score {

namespace {

// So many at a time; the pool is looked at in between.
constexpr int32 kPutOutAtOnce = 64;

Datum NGramArray(const NGram& ngram) {
  Datum ids[kRecordedLength];
  for (int i = 0; i < kRecordedLength; ++i) ids[i] = Int64GetDatum(ngram[static_cast<std::size_t>(i)]);
  return PointerGetDatum(
      construct_array(ids, kRecordedLength, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// Whether somebody holds what is stored of a principal: who forgets her and has not committed yet. Nobody's history
// waits for that; what is stored is written with the next flush.
bool StoredIsHeld(const LiveSession* session) {
  const char* args[] = {NameStr(session->role_name), EndUserOf(session)};
  if (InternalValue("SELECT 1 FROM privacy_score.principal_session WHERE role = $1::pg_catalog.name AND end_user = $2 "
                    "FOR NO KEY UPDATE SKIP LOCKED",
                    lengthof(args), args) != nullptr)
    return false;
  return InternalValue(
             "SELECT 1 FROM privacy_score.principal_session WHERE role = $1::pg_catalog.name AND end_user = $2",
             lengthof(args), args) != nullptr;
}

void StorePrincipal(const LiveSession* session, int64 row_id, const NGram& follows, const bytea* asked) {
  const uint32 held =
      (session->alarmed_by_novelty ? kHeldByNovelty : 0) | (session->alarmed_by_extent ? kHeldByExtent : 0);
  NameData role = session->role_name;
  Oid types[] = {NAMEOID, TEXTOID, INT8OID, INT8ARRAYOID, INT4OID, BYTEAOID};
  Datum values[] = {NameGetDatum(&role),
                    CStringGetTextDatum(EndUserOf(session)),
                    Int64GetDatum(row_id),
                    NGramArray(follows),
                    Int32GetDatum(static_cast<int32>(session->alerted | held)),
                    PointerGetDatum(asked)};
  const char nulls[] = {' ', ' ', ' ', ' ', ' ', asked == nullptr ? 'n' : ' ', '\0'};
  if (SPI_execute_with_args(
          "INSERT INTO privacy_score.principal_session (role, end_user, session_id, follows, alerted, asked) VALUES "
          "($1, $2, $3, $4, $5, $6) ON CONFLICT (role, end_user) DO UPDATE SET session_id = EXCLUDED.session_id, "
          "follows = EXCLUDED.follows, alerted = EXCLUDED.alerted, asked = EXCLUDED.asked",
          lengthof(types), types, values, nulls, false, 0) != SPI_OK_INSERT)
    elog(ERROR, "could not keep the session of a principal");
}

// A session that is on its way out; null: it stays.
struct LeavingPrincipal {
  LiveSession* session;
  int64 row_id;
  uint64 turn;  // when it was stored
};

LeavingPrincipal StoreLeaving(LiveSession* session) {
  SpinLockAcquire(&session->mutex);
  const LiveSession copy = *session;
  const NGram follows = FollowedNext(session->part);
  const uint64 turn = session->part->turn;
  SpinLockRelease(&session->mutex);
  if (StoredIsHeld(&copy)) return {nullptr, copy.row_id, turn};
  const bytea* asked = SealAsked(session);
  StorePrincipal(&copy, copy.row_id, follows, asked);
  return {asked == nullptr ? nullptr : session, copy.row_id, turn};
}

}  // namespace

void KeepPrincipal(const LiveSession* session, int64 row_id, const NGram& follows) {
  if (!IsShared(session) || row_id == 0 || StoredIsHeld(session)) return;
  if (!session->closed) {
    StorePrincipal(session, row_id, follows, nullptr);
    return;
  }
  const char* args[] = {NameStr(session->role_name), EndUserOf(session), TextOfInteger(row_id)};
  RunInternal(
      "DELETE FROM privacy_score.principal_session WHERE role = $1::pg_catalog.name AND end_user = $2 "
      "AND session_id = $3::pg_catalog.int8",
      lengthof(args), args);
}

void PutOutPrincipals(DatabaseSlot* slot) {
  if (RecoveryInProgress() || !PoolIsScarce()) return;
  while (!PoolIsRelieved()) {
    LiveSession* away[kPutOutAtOnce];
    const int32 count = LongestAway(slot, away, kPutOutAtOnce);
    if (count == 0) return;
    LeavingPrincipal leaving[kPutOutAtOnce];
    WorkTransaction work;
    BeginWork(&work);
    for (int32 i = 0; i < count; ++i) leaving[i] = StoreLeaving(away[i]);
    EndWork(&work);
    int32 gone = 0;
    // Whoever is not needed stays, and is written once more when she leaves.
    for (int32 i = 0; i < count && !PoolIsRelieved(); ++i) {
      if (leaving[i].session == nullptr || !PutOut(slot, leaving[i].session, leaving[i].turn)) continue;
      PutAwayJudged(leaving[i].row_id);
      ++gone;
    }
    if (gone == 0) return;
    ConditionVariableBroadcast(&slot->flushed);
  }
}

void TidyPrincipals() {
  RunInternal(
      "DELETE FROM privacy_score.principal_session p WHERE NOT EXISTS (SELECT FROM privacy_score.session s WHERE s.id "
      "= p.session_id AND s.day >= privacy_score.today() - 1)");
}

}  // namespace privacy_score
