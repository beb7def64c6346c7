/*
 * pending_alerts.hpp - the alerts that a session has raised and nobody has stored yet.
 */
#pragma once

#include "backend/state/alerts.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/principal_session.hpp"

namespace privacy_score {

// Visits them as AlertRecords, the oldest first, and at last the one that there was no room for.
template <typename Visit>
void ForEachPendingAlert(const LiveSession* copy, const PendingHistory& sealed, Visit visit) {
  NoteReader reader(sealed.alerts);
  for (AlertHead head; reader.Next(&head);) {
    const AlertRecord record = {head.at,
                                NameStr(copy->role_name),
                                EndUserOf(copy),
                                copy->session,
                                head.kind,
                                head.score,
                                head.limit,
                                head.blocked,
                                ReadNoteText(&reader, head.length),
                                &head.context};
    visit(record);
  }
  if (sealed.room == RoomAlert::kNone) return;
  const AlertRecord record = {copy->last_at,
                              NameStr(copy->role_name),
                              EndUserOf(copy),
                              copy->session,
                              AlertKindName(kAlertMemory),
                              0,
                              0,
                              sealed.room == RoomAlert::kRefused,
                              "{\"version\": 1, \"cause\": \"memory\"}",
                              &copy->context};
  visit(record);
}

}  // namespace privacy_score
