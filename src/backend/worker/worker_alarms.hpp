/*
 * worker_alarms.hpp - how unusual sessions are, told as soon as it is written what they did.
 *
 * Alarms rest on a calibration (core/detection), which this process makes from the sessions of the baselines in force
 * and keeps in privacy_score.calibration: worker_calibration.cpp. The sessions that go on are judged by it with each
 * flush, in the transaction that writes them: worker_alarms.cpp. Both live on a primary only.
 */
#pragma once

#include "backend/worker/worker.hpp"

namespace privacy_score {

// Makes the calibration anew when baselines or expected_novelty are not those that it was made for: for about a second
// at a time.
void CalibrateWhenDue(DatabaseSlot* slot);
// Whether a calibration is being made: the next cycle goes on with it.
bool CalibrationGoesOn();

// The bytes of the calibration in force, in the memory context from before SPI was connected; null when there is none.
bytea* CalibrationInForce();

// Within the transaction that has written what a session did, as its copy shows it: judges it and writes its combined
// number. Returns the alerts that are due, in a memory context, before those that there are; sets `calm` when nothing
// is due for the session and what was before is not any more, as when it was accepted.
DueAlert* JudgeSession(const LiveSession* session, int64 row_id, DueAlert* others, MemoryContext context, bool* calm);
// Takes back what an alarm has set in such a session.
void CalmDown(LiveSession* session);
// Ends what was accepted until now or before; returns how much that is, and when the next of it expires.
uint64 EndExpiredAcceptances(TimestampTz* next);
// Forgets a session that has ended.
void ForgetJudged(int64 row_id);
// The same of one that is put out of memory and may go on.
void PutAwayJudged(int64 row_id);
// Before such a transaction, and when it has committed: without that all is read again.
void BeginJudging();
void SettleJudging();

}  // namespace privacy_score
