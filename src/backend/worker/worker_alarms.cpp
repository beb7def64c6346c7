/*
 * worker_alarms.cpp - judging sessions as they go on (see worker_alarms.hpp).
 *
 * What is known of open sessions is in the memory of this process. What it does not have, after a start or an error, it
 * reads from what is stored.
 */
#include "backend/worker/worker_alarms.hpp"

extern "C" {
#include "access/xlog.h"
#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
}

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "backend/rates/model_wire.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "core/detection/detection_sections.hpp"
#include "core/detection/role_alarm.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

using privacy_score::AcceptedOfRole;
using privacy_score::AlarmThreshold;
using privacy_score::Figure;
using privacy_score::JudgedSession;
using privacy_score::RoleAlarm;

namespace {

// What few sessions show says nothing of how rare anything is.
constexpr int64 kFewestCalibrated = 10;
// Abstractions of the sessions and baselines that are remembered, some 200 MB; with more of them all are read again.
constexpr std::size_t kMostRememberedOfAlarms = 1000000;

// A session that goes on.
struct Judged {
  Judged(RoleAlarm& alarm, const privacy_score::Accepted* accepted) : session(alarm, accepted) {}
  JudgedSession session;
  std::string principal;
  const privacy_score::AlarmLaw* law = nullptr;
  double combined = -1;  // as it is stored; below 0: it is not
  double new_number = -1;
};

// What a principal's sessions that have ended add up to.
struct Drips {
  double unusual = 0;
  double of_new = 0;
};

// On the C++ heap.
struct Alarms {
  std::string bytes;                                                  // the calibration
  std::unordered_map<std::string, std::unique_ptr<RoleAlarm>> roles;  // null: it has none
  std::unordered_map<int64, std::unique_ptr<Judged>> sessions;        // by row of privacy_score.session
  std::size_t remembered = 0;                                         // abstractions of both
  std::unordered_map<std::string, Drips> drips;                       // by principal
  std::optional<privacy_score::FlatSet> of_roles;  // abstractions of the baselines of all roles, once they are read
  std::string in_force;                            // ids of what is accepted
  std::unordered_map<std::string, std::unique_ptr<AcceptedOfRole>> accepted;  // by role
  std::string wanted;                                                         // abstractions, an array
  std::string detail;
};
Drips After(const privacy_score::AlarmLaw& law, const Drips& before, double combined, double new_number) {
  return {law.drip.After(before.unusual, combined), law.new_drip.After(before.of_new, new_number)};
}

Alarms* alarms = nullptr;
int64 loaded = 0;               // the calibration that `alarms` has
bool alarms_unsettled = false;  // what was taken in may not be stored
bool looked = false;            // for another calibration, in this transaction

void ForgetAlarms() {
  delete alarms;
  alarms = nullptr;
  loaded = 0;
}

// Has the calibration in force at hand; false when there is none.
bool LoadCalibration() {
  if (looked) return alarms != nullptr;
  looked = true;
  if (SPI_execute("SELECT c.id FROM privacy_score.calibration c", true, 1) != SPI_OK_SELECT || SPI_processed == 0) {
    ForgetAlarms();
    return false;
  }
  const int64 id = FieldNumber(0, 0);
  const char* accepted = InternalValue(
      "SELECT pg_catalog.string_agg(a.id::text, ' ' ORDER BY a.id) FROM privacy_score.acceptance_in_force a");
  const char* in_force = accepted == nullptr ? "" : accepted;
  // What is accepted changes what sessions have done so far: all of it is read again.
  if (alarms != nullptr && id == loaded && alarms->in_force == in_force) return true;
  ForgetAlarms();
  const bytea* bytes = CalibrationInForce();
  if (bytes == nullptr) return false;
  if (!Counted([&] {
        auto made = std::make_unique<Alarms>();
        made->bytes.assign(VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
        made->in_force = in_force;
        alarms = made.release();
      }))
    return false;
  loaded = id;
  return true;
}

// What sessions of the role are judged by; null when it has no calibration.
RoleAlarm* AlarmOf(const char* role) {
  RoleAlarm* alarm = nullptr;
  bool known = false;
  if (!Counted([&] {
        const auto found = alarms->roles.find(role);
        known = found != alarms->roles.end();
        if (known) alarm = found->second.get();
      }) ||
      known)
    return alarm;
  StringInfoData wire;
  initStringInfo(&wire);
  AppendLongSection<TokenSection>(&wire, SQL_TOKENS_OF_BASELINE, 1, &role);
  Counted([&] {
    privacy_score::WireReader reader(WireBytes(&wire));
    auto calibration = privacy_score::ReadRoleCalibration(alarms->bytes, role);
    auto& place = alarms->roles[role];
    if (calibration) place = std::make_unique<RoleAlarm>(std::move(*calibration), reader);
    alarm = place.get();
    if (alarm != nullptr) alarms->remembered += alarm->size();
  });
  return alarm;
}

// What is accepted of sessions of the principal; null for nothing. False after an error.
bool FindAccepted(const LiveSession* session, const privacy_score::Accepted** accepted) {
  *accepted = nullptr;
  if (alarms->in_force.empty()) return true;
  const char* role = NameStr(session->role_name);
  bool known = false;
  const auto look = [&] {
    const auto found = alarms->accepted.find(role);
    known = found != alarms->accepted.end();
    if (known) *accepted = found->second->Of(EndUserOf(session));
  };
  if (!Counted(look)) return false;
  if (known) return true;
  StringInfoData wire;
  initStringInfo(&wire);
  AppendAcceptedOf(&wire, role);
  return Counted([&] {
    privacy_score::WireReader reader(WireBytes(&wire));
    alarms->accepted.emplace(role, std::make_unique<AcceptedOfRole>(reader));
    look();
  });
}

// What the principal's sessions that have ended add up to: the one that ended last has it. It begins anew
// when a drip is accepted.
Drips DripsBefore(const LiveSession* session, const std::string& principal) {
  constexpr std::size_t kMostPrincipals = 100000;
  std::optional<Drips> known;
  if (!Counted([&] {
        const auto found = alarms->drips.find(principal);
        if (found != alarms->drips.end()) known = found->second;
      }) ||
      known)
    return known.value_or(Drips());
  const char* args[] = {NameStr(session->role_name), EndUserOf(session), TextOfInteger(session->day),
                        TextOfInteger(session->started)};
  const char* stored = InternalValue(
      "SELECT pg_catalog.concat_ws(' ', s.drip, COALESCE(s.new_drip, 0)) FROM privacy_score.session s WHERE s.role = $1::pg_catalog.name "
      "AND COALESCE(s.end_user, '') = $2 AND s.day <= " SQL_DAY("$3") " AND s.drip IS NOT NULL "
      "AND s.last_at <= " SQL_MOMENT("$4")
      " AND s.day > (SELECT pg_catalog.max(b.to_day) FROM privacy_score.baseline b WHERE b.active AND b.end_user IS "
      "NULL AND b.role = $1::pg_catalog.name) AND s.last_at > COALESCE((SELECT pg_catalog.max(f.since) FROM "
      "privacy_score.acceptance_in_force f WHERE f.kind = 'drip' AND f.role = $1::pg_catalog.name AND (f.end_user IS "
      "NULL OR f.end_user = $2)), '-infinity') ORDER BY s.day DESC, s.last_at DESC, s.id DESC LIMIT 1",
      lengthof(args), args);
  Drips drips;
  if (stored != nullptr) {
    char* rest = nullptr;
    drips.unusual = strtod(stored, &rest);
    drips.of_new = strtod(rest, nullptr);
  }
  Counted([&] {
    if (alarms->drips.size() >= kMostPrincipals) alarms->drips.clear();
    alarms->drips[principal] = drips;
  });
  return drips;
}

// Has the abstractions of all roles' baselines at hand, for what a role's own one lacks; false when that fails.
bool LoadOfRoles() {
  if (alarms->of_roles) return true;
  StringInfoData wire;
  initStringInfo(&wire);
  AppendLongSection<IdSection>(&wire, SQL_IDS_OF_ROLES);
  return Counted([&] {
    privacy_score::FlatSet ids;
    privacy_score::WireReader reader(WireBytes(&wire));
    reader.EachRow(IdSection::kColumns, [&](const Row& row) {
      const auto id = static_cast<std::uint64_t>(ParseInteger(*row[IdSection::kId]));
      privacy_score::FlatSet::Slot& slot = ids.SlotOf(id);
      if (slot.key == 0) ids.Insert(slot, id, {});
    });
    constexpr std::size_t kIdsOfOne = 10;  // take as much memory as one that is remembered
    alarms->remembered += ids.size() / kIdsOfOne;
    alarms->of_roles = std::move(ids);
  });
}

// Takes in executions whose tokens, where they are needed, are stored. `read` calls its argument with each.
template <typename Read>
bool TakeEntries(Judged* judged, Read read) {
  bool any = false;
  if (!Counted([&] {
        std::vector<std::int64_t> wanted;
        read([&](int64 id, int64 run) {
          if (run > 0 && judged->session.Wants(id)) wanted.push_back(id);
        });
        any = !wanted.empty();
        alarms->wanted = privacy_score::ArrayText(wanted);
      }))
    return false;
  StringInfoData wire;
  initStringInfo(&wire);
  const char* args[] = {alarms->wanted.c_str()};
  if (any && !LoadOfRoles()) return false;
  if (any)
    AppendLongSection<TokenSection>(&wire, SQL_TOKENS("WHERE a.id = ANY ($1::pg_catalog.int8[])"), lengthof(args),
                                    args);
  return Counted([&] {
    privacy_score::WireReader reader(WireBytes(&wire));
    const privacy_score::TokenMap tokens = any ? privacy_score::ReadTokens(reader) : privacy_score::TokenMap();
    read([&](int64 id, int64 run) {
      if (run <= 0) return;
      const auto found = tokens.find(id);
      const bool of_roles = any && alarms->of_roles->Find(static_cast<std::uint64_t>(id)) != nullptr;
      judged->session.Take(id, run, found == tokens.end() ? nullptr : &found->second, of_roles);
    });
  });
}

WIRE_SECTION(ExecutedSection, kId, kExecutions);

// Takes in what the session had written before.
bool TakeStored(Judged* judged, int64 row_id, int before_part) {
  StringInfoData wire;
  initStringInfo(&wire);
  const char* args[] = {TextOfInteger(row_id), TextOfInteger(before_part)};
  AppendLongSection<ExecutedSection>(
      &wire,
      "SELECT r.id, pg_catalog.sum(r.run)::pg_catalog.int8 AS executions FROM privacy_score.session_part p, ROWS FROM ("
      "pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs)) r(id, run) WHERE p.session_id = "
      "$1::pg_catalog.int8 AND p.part < $2::pg_catalog.int4 AND r.run > 0 GROUP BY r.id",
      lengthof(args), args);
  return TakeEntries(judged, [&wire](const auto& take) {
    privacy_score::WireReader reader(WireBytes(&wire));
    reader.EachRow(ExecutedSection::kColumns, [&](const Row& row) {
      take(ParseInteger(*row[ExecutedSection::kId]), ParseInteger(*row[ExecutedSection::kExecutions]));
    });
  });
}

// Takes in what was written now.
bool TakeSealed(Judged* judged, const PendingHistory* sealed) {
  return TakeEntries(judged, [sealed](const auto& take) {
    for (const EventChunk* chunk = sealed->chunks_first; chunk != nullptr; chunk = chunk->next)
      for (int i = 0; i < chunk->used; ++i) take(chunk->entries[i].id, chunk->entries[i].run);
    if (sealed->uncounted > 0) take(UnparsedId(), sealed->uncounted);
  });
}

// The session with all that it did up to what was written now; null when that cannot be had.
Judged* JudgedOf(const LiveSession* session, int64 row_id, RoleAlarm* alarm) {
  Judged* judged = nullptr;
  if (!Counted([&] {
        const auto found = alarms->sessions.find(row_id);
        if (found != alarms->sessions.end()) judged = found->second.get();
      }))
    return nullptr;
  if (judged == nullptr) {
    const privacy_score::Accepted* accepted = nullptr;
    if (!FindAccepted(session, &accepted)) return nullptr;
    if (!Counted([&] {
          auto& place = alarms->sessions[row_id];
          place = std::make_unique<Judged>(*alarm, accepted);
          judged = place.get();
          judged->principal = privacy_score::PrincipalKey(NameStr(session->role_name), EndUserOf(session));
          judged->law = &alarm->calibration().alarm;
        }))
      return nullptr;
  }
  const std::size_t before = judged->session.size();
  const bool begins = before == 0 && session->next_part > 0;
  if ((begins && !TakeStored(judged, row_id, session->next_part)) || !TakeSealed(judged, &session->sealed)) {
    // What was taken in by half is read again.
    alarms->sessions.erase(row_id);
    return nullptr;
  }
  alarms->remembered += judged->session.size() - before;
  return judged;
}

// What the row of the session says that its principal has come to know of one subject, as of this transaction.
std::optional<std::int64_t> KnownOf(int64 row_id) {
  const char* args[] = {TextOfInteger(row_id)};
  const char* known =
      InternalValue("SELECT s.known FROM privacy_score.session s WHERE s.id = $1::pg_catalog.int8", 1, args);
  if (known == nullptr) return std::nullopt;
  return strtoll(known, nullptr, 10);
}

void StoreJudgement(int64 row_id, const privacy_score::Judgement& judgement, const Drips& drips) {
  const char* args[] = {TextOfInteger(row_id), psprintf("%.17g", judgement.combined),
                        judgement.reason ? pstrdup(NameOf(*judgement.reason).data()) : nullptr,
                        psprintf("%.17g", drips.unusual), psprintf("%.17g", drips.of_new)};
  RunInternal(
      "UPDATE privacy_score.session SET unusual = $2::pg_catalog.float8, unusual_figure = $3, "
      "drip = $4::pg_catalog.float8, new_drip = $5::pg_catalog.float8 WHERE id = $1::pg_catalog.int8",
      lengthof(args), args);
}

// An alert whose detail is in hand, before the others. `reason`: the figure that has raised it.
DueAlert* Due(const PassedLimit& passed, std::optional<Figure> reason, DueAlert* others, MemoryContext context) {
  const bool novelty = reason && privacy_score::IsNovelty(*reason);
  auto* alert = static_cast<DueAlert*>(MemoryContextAlloc(context, sizeof(DueAlert)));
  *alert = {others, passed, MemoryContextStrdup(context, alarms->detail.c_str()),
            novelty ? &LiveSession::alarmed_by_novelty : &LiveSession::alarmed_by_extent};
  return alert;
}

DueAlert* Judge(const LiveSession* session, int64 row_id, DueAlert* others, MemoryContext context, bool* calm) {
  const double rate = ps_settings.alarm_rate;
  if (!LoadCalibration()) return others;
  RoleAlarm* alarm = AlarmOf(NameStr(session->role_name));
  if (alarm == nullptr) return others;
  alarms_unsettled = true;
  Judged* judged = JudgedOf(session, row_id, alarm);
  if (judged == nullptr) return others;
  privacy_score::Judgement judgement;
  AlarmThreshold threshold;
  const Drips before = DripsBefore(session, judged->principal);
  const std::optional<std::int64_t> known = KnownOf(row_id);
  Drips drips;
  Drips limits;
  if (!Counted([&] {
        privacy_score::StoredFigures stored;
        if (session->reach_known) {
          stored.addressed = session->reach.addressed;
          stored.person = session->reach.person;
        }
        stored.most_rows = session->most_rows;
        stored.known = known;
        stored.differ = session->differ;
        judged->session.Take(stored);
        judgement = judged->session.Judge();
        const privacy_score::AlarmLaw& law = alarm->calibration().alarm;
        threshold = law.Threshold(rate);
        drips = After(law, before, judgement.combined, judgement.new_number);
        limits = {law.DripLimit(rate), law.NewDripLimit(rate)};
      }))
    return others;
  if (judgement.combined != judged->combined || judgement.new_number != judged->new_number) {
    StoreJudgement(row_id, judgement, drips);
    judged->combined = judgement.combined;
    judged->new_number = judgement.new_number;
  }
  if (threshold.calibrated_on < kFewestCalibrated) return others;
  const bool unusual = judgement.combined > threshold.value;
  const bool drips_over = drips.unusual > limits.unusual || drips.of_new > limits.of_new;
  *calm = !unusual && !(drips_over && (session->alerted & kAlertDrip) != 0);
  if (unusual && Counted([&] { alarms->detail = UnusualJson(judged->session, alarm->calibration(), threshold); }))
    others = Due({kAlertUnusual, judgement.combined, threshold.value}, judgement.reason, others, context);
  // Told as it passes the limit, and not again with each session that follows; nor by one that is told of by itself.
  const auto tell = [&](privacy_score::DripKind kind, double Drips::*of) {
    const double limit = limits.*of;
    if (unusual || !(drips.*of > limit && before.*of <= limit) ||
        !Counted([&] { alarms->detail = DripJson(judged->session, kind, drips.*of, limit); }))
      return false;
    others = Due({kAlertDrip, drips.*of, limit}, judgement.reason, others, context);
    return true;
  };
  if (!tell(privacy_score::DripKind::kUnusual, &Drips::unusual)) tell(privacy_score::DripKind::kNew, &Drips::of_new);
  return others;
}

}  // namespace

DueAlert* JudgeSession(const LiveSession* session, int64 row_id, DueAlert* others, MemoryContext context, bool* calm) {
  if (row_id == 0 || ps_settings.alarm_rate <= 0 || RecoveryInProgress()) return others;
  // What this transaction has written is read.
  PushActiveSnapshot(GetLatestSnapshot());
  others = Judge(session, row_id, others, context, calm);
  PopActiveSnapshot();
  return others;
}

uint64 EndExpiredAcceptances(TimestampTz* next) {
  WorkTransaction work;
  BeginWork(&work);
  const uint64 ended = RunInternal(
      "UPDATE privacy_score.acceptance SET ended_at = expires WHERE ended_at IS NULL AND expires <= "
      "pg_catalog.clock_timestamp()");
  const char* soonest = InternalValue(
      "SELECT (EXTRACT(epoch FROM pg_catalog.min(a.expires) - '2000-01-01 00:00:00+00'::pg_catalog.timestamptz) * "
      "1000000)::pg_catalog.int8 FROM privacy_score.acceptance a WHERE a.ended_at IS NULL");
  *next = soonest == nullptr ? DT_NOEND : strtoll(soonest, nullptr, 10);
  EndWork(&work);
  return ended;
}

void CalmDown(LiveSession* session) {
  SpinLockAcquire(&session->mutex);
  session->alarmed_by_novelty = session->alarmed_by_extent = false;
  session->alerted &= ~static_cast<uint32>(kAlertUnusual);
  SpinLockRelease(&session->mutex);
}

void ForgetJudged(int64 row_id) {
  if (alarms == nullptr) return;
  const auto found = alarms->sessions.find(row_id);
  if (found == alarms->sessions.end()) return;
  const Judged& judged = *found->second;
  const auto drip = alarms->drips.find(judged.principal);
  if (drip != alarms->drips.end() && judged.combined >= 0)
    drip->second = After(*judged.law, drip->second, judged.combined, judged.new_number);
  alarms->remembered -= std::min(alarms->remembered, found->second->session.size());
  alarms->sessions.erase(found);
}

void PutAwayJudged(int64 row_id) {
  if (alarms == nullptr) return;
  const auto found = alarms->sessions.find(row_id);
  if (found == alarms->sessions.end()) return;
  // What it adds up to is read from what is stored, should it not come back.
  alarms->drips.erase(found->second->principal);
  alarms->remembered -= std::min(alarms->remembered, found->second->session.size());
  alarms->sessions.erase(found);
}

void BeginJudging() {
  looked = false;
  if (alarms_unsettled) ForgetAlarms();
  if (alarms == nullptr || alarms->remembered <= kMostRememberedOfAlarms) return;
  alarms->sessions.clear();
  alarms->roles.clear();
  alarms->accepted.clear();
  alarms->remembered = 0;
}

void SettleJudging() { alarms_unsettled = false; }

}  // namespace privacy_score
