/*
 * worker_day_scores.cpp - see worker_day_scores.hpp.
 */
#include "backend/worker/worker_day_scores.hpp"

extern "C" {
#include "commands/extension.h"
}

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/rates/model_wire.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_model.hpp"
#include "backend/worker/worker.hpp"
#include "core/base/rows.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

namespace {

// N-grams and sessions that are kept of all days together, some 60 MB; a day that has more by itself is not kept.
constexpr std::size_t kMostKeptOfDays = 400000;
// Sessions whose new parts are in memory at a time.
constexpr std::size_t kSessionsAtOnce = 256;

struct GrowingDay {
  std::unique_ptr<DayScorer> scorer;
  ScoreSettings settings;
  Oid extension = InvalidOid;  // whose tables it has read
  int32 rounds = 0;            // of rates
  bool lacks_rates = false;    // which the next round may bring
  bool settled = false;        // else an error has left it half-way
  uint64 used = 0;             // when, counted in uses
};
// On the C++ heap, by principal and day.
using GrowingDays = std::unordered_map<std::string, GrowingDay>;
GrowingDays* growing = nullptr;
uint64 uses = 0;

const char* const kSessionsOfDay =
    "SELECT s.id, s.queries FROM privacy_score.session s WHERE s.role = $1::pg_catalog.name "
    "AND s.day = $2::pg_catalog.date AND s.end_user IS NULL AND $3 = ''";
const char* const kSessionsOfEndUser =
    "SELECT s.id, s.queries FROM privacy_score.session s WHERE s.role = $1::pg_catalog.name "
    "AND s.day = $2::pg_catalog.date AND s.end_user = $3";
const char* const kPartsFrom =
    "SELECT p.session_id, p.part, p.ids, p.runs FROM ROWS FROM (pg_catalog.unnest($1::pg_catalog.int8[]), "
    "pg_catalog.unnest($2::pg_catalog.int8[])) w(session_id, part) JOIN privacy_score.session_part p "
    "ON p.session_id = w.session_id AND p.part >= w.part ORDER BY p.session_id, p.part";

// Where there is no room for all of it in shared memory it is read from the tables, and not kept.
bool ReadsShared(DatabaseSlot* slot, const char* role) {
  return DsaPointerIsValid(slot->model) && slot->rates_period == 0 && !IsLeftOut(slot, role);
}

// The day as it is kept, made when it is not; another model has had all of them forgotten. Null when core has failed.
GrowingDay* FindGrowing(DatabaseSlot* slot, const LiveSession* session, CoreError* error) {
  GrowingDay* day = nullptr;
  const Oid extension = get_extension_oid("privacy_score", false);
  CallCore(error, [&] {
    if (growing == nullptr) growing = new GrowingDays();
    std::string key = PrincipalKey(NameStr(session->role_name), EndUserOf(session));
    key += '\0' + std::to_string(session->day);
    day = &(*growing)[key];
    const bool stands = day->settled && day->extension == extension && day->settings == session->settings &&
                        !(day->lacks_rates && day->rounds != slot->rounds);
    if (!stands) day->scorer.reset();
    day->extension = extension;
  });
  return day;
}

// A day without any session, under the model in force.
std::unique_ptr<DayScorer> NewDay(DatabaseSlot* slot, const LiveSession* session) {
  const char* role = NameStr(session->role_name);
  return std::make_unique<DayScorer>(std::make_shared<const Model>(Model::Parse(BytesInForce(slot).Source(), role)),
                                     role, session->settings, EndUserOf(session));
}

// Takes in a piece of what is wanted.
bool TakePiece(DayScorer* scorer, const std::vector<DayScorer::Wanted>& wanted, std::size_t first, CoreError* error) {
  struct Texts {
    std::string sessions, from, unknown;
  };
  auto* texts = NewCoreObject<Texts>();
  if (!CallCore(error, [&] {
        std::vector<std::int64_t> sessions, from;
        for (std::size_t i = first; i < std::min(first + kSessionsAtOnce, wanted.size()); ++i) {
          sessions.push_back(wanted[i].session);
          from.push_back(wanted[i].from);
        }
        texts->sessions = ArrayText(sessions);
        texts->from = ArrayText(from);
      }))
    return false;
  StringInfoData parts;
  initStringInfo(&parts);
  const char* which[] = {texts->sessions.c_str(), texts->from.c_str()};
  AppendLongSection<SessionPartSection>(&parts, kPartsFrom, lengthof(which), which);
  const bool taken = CallCore(error, [&] {
    scorer->TakeParts(WireBytes(&parts));
    texts->unknown = ArrayText(scorer->Unknown());
  });
  pfree(parts.data);
  if (!taken) return false;
  StringInfoData tokens;
  initStringInfo(&tokens);
  const char* unknown = texts->unknown.c_str();
  AppendLongSection<TokenSection>(&tokens, SQL_TOKENS("WHERE a.id = ANY ($1::pg_catalog.int8[]) ORDER BY a.id"), 1,
                                  &unknown);
  const bool defined = CallCore(error, [&] {
    scorer->Define(WireBytes(&tokens));
    scorer->Score();
  });
  pfree(tokens.data);
  return defined;
}

// Takes in what sessions have written since. `stands`: what was taken in before is still so. False when core has
// failed.
bool TakeNew(DayScorer* scorer, const LiveSession* session, bool* stands, CoreError* error) {
  StringInfoData sessions;
  initStringInfo(&sessions);
  const char* end_user = EndUserOf(session);
  const char* args[] = {NameStr(session->role_name), TextOfDay(session->day), end_user};
  AppendKeptSection<DaySessionSection>(&sessions, end_user[0] == '\0' ? kSessionsOfDay : kSessionsOfEndUser,
                                       lengthof(args), args);
  auto* wanted = NewCoreObject<std::vector<DayScorer::Wanted>>();
  *stands = false;
  bool done = CallCore(error, [&] {
    auto found = scorer->Follow(WireBytes(&sessions));
    *stands = found.has_value();
    if (found) *wanted = std::move(*found);
  });
  pfree(sessions.data);
  const std::size_t count = wanted->size();
  for (std::size_t first = 0; done && first < count; first += kSessionsAtOnce)
    done = TakePiece(scorer, *wanted, first, error);
  return done;
}

// Forgets what was used the longest time ago while there is too much.
void ForgetLongUnused() {
  for (;;) {
    std::size_t all = 0;
    auto oldest = growing->end();
    for (auto day = growing->begin(); day != growing->end(); ++day) {
      if (day->second.scorer != nullptr) all += day->second.scorer->size();
      if (oldest == growing->end() || day->second.used < oldest->second.used) oldest = day;
    }
    if (all + growing->size() <= kMostKeptOfDays || oldest == growing->end()) return;
    growing->erase(oldest);
  }
}

bool ScoreKeptDay(DatabaseSlot* slot, const LiveSession* session, CoreHolder<DayScore>* result, CoreError* error) {
  GrowingDay* day = FindGrowing(slot, session, error);
  if (day == nullptr) return false;
  bool stands = false;
  bool done = true;
  for (int tries = 0; done && !stands && tries < 2; ++tries) {
    day->settled = false;
    done = CallCore(error, [&] {
      if (day->scorer == nullptr) day->scorer = NewDay(slot, session);
      day->settings = session->settings;
      day->rounds = slot->rounds;
    });
    done = done && TakeNew(day->scorer.get(), session, &stands, error);
    if (!stands) day->scorer.reset();
  }
  return done && stands && CallCore(error, [&] {
           result->Reset(new DayScore(day->scorer->Score()));
           day->lacks_rates = !result->object->missing.empty();
           day->used = ++uses;
           day->settled = true;
           ForgetLongUnused();
         });
}

bool ScoreDayFromTables(const LiveSession* session, CoreHolder<DayScore>* result, CoreError* error) {
  const char* role = NameStr(session->role_name);
  StringInfoData wire;
  initStringInfo(&wire);
  AppendModel(&wire, ModelScope::kBaselines, nullptr, role);
  auto* scorer = NewCoreHolder<DayScorer>(CurrentMemoryContext);
  bool stands = false;
  bool done = CallCore(error, [&] {
    scorer->Reset(new DayScorer(std::make_shared<const Model>(Model::Parse(WireBytes(&wire))), role, session->settings,
                                EndUserOf(session)));
  });
  pfree(wire.data);
  done = done && TakeNew(scorer->object, session, &stands, error) &&
         CallCore(error, [&] { result->Reset(new DayScore(scorer->object->Score())); });
  scorer->Reset(nullptr);
  return done;
}

}  // namespace

void ForgetDayScores() {
  if (growing != nullptr) growing->clear();
}

CoreHolder<DayScore>* ScoreRecordedDay(DatabaseSlot* slot, const LiveSession* session) {
  CoreHolder<DayScore>* result = NewCoreHolder<DayScore>(CurrentMemoryContext);
  WorkTransaction work;
  BeginWork(&work);
  CoreError error = {};
  const bool done = ReadsShared(slot, NameStr(session->role_name)) ? ScoreKeptDay(slot, session, result, &error)
                                                                   : ScoreDayFromTables(session, result, &error);
  EndWork(&work);
  if (!done) pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  return done ? result : nullptr;
}

}  // namespace privacy_score
