/*
 * worker_days.cpp - how far the sessions of a principal's day reach together: what they tell is added up in the memory
 * of this process (core/scoring/day_reach.hpp) and stored with the history that it came with.
 *
 * On a standby, where nothing can be stored, the figures go on from those of the primary and are alerted by the log.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xlog.h"
}

#include <algorithm>
#include <unordered_map>

#include "backend/rates/model_wire.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/state/shared_model.hpp"
#include "core/base/wire_section.hpp"
#include "core/scoring/day_reach.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/reach_limits.hpp"

namespace privacy_score {

using privacy_score::DayReach;
using privacy_score::kReachFigureCount;
using privacy_score::StoredSubjects;

namespace {

constexpr std::size_t kMostRememberedOfDays = 500000;  // about 75 MB
constexpr std::size_t kMostSavedWords = 128 * 1024;    // at most 1/64 of max_memory, too
constexpr int kMostParts = 64;                         // of the stored subjects of a day, before they are made one

// What this process remembers, and what is in hand of the session that is being taken in. On the C++ heap.
struct Days {
  DayReach reach{kMostRememberedOfDays};
  std::string principal;
  std::vector<std::uint64_t> words;
  std::size_t restored = 0;  // of them, from an earlier process
  DayReach::Day* day = nullptr;
  privacy_score::ReachFigures figures;
  std::vector<privacy_score::ReachExcess> excesses;
  std::string unknown;    // abstractions, an array
  StoredSubjects learnt;  // what is known of subjects of which the session tells more than was known on the day
  StoredSubjects changed;
  std::string sets;        // an array
  std::string sketch;      // of all subjects, in hexadecimal
  std::int64_t known = 0;  // most columns of a subject of which more is known than before
  std::string detail;
};
Days* days = nullptr;
uint64 loaded_version = 0;  // of the definitions that `days` has loaded
bool changed_since_saved = false;
bool days_unsettled = false;  // something was taken in and may not be stored

// Takes over what the worker before has saved. Only workers of this database look at it, one at a time.
void Restore(const DatabaseSlot* slot) {
  if (!DsaPointerIsValid(slot->days)) return;
  const auto* words = SharedAt<std::uint64_t>(slot->days);
  days->reach.Restore({words, words + slot->days_length / static_cast<int64>(sizeof *words)});
}

// Makes what is remembered ready for the model in force; false when there is none.
bool PrepareDays(DatabaseSlot* slot) {
  const uint64 version = slot->definitions_version;
  if (version == 0) return false;
  if (days != nullptr && version == loaded_version) return true;
  if (!Counted([&] {
        const bool begins = days == nullptr;
        if (begins) days = new Days();
        days->reach.Load(BytesInForce(slot).Source());
        if (begins) Restore(slot);
      })) {
    // Of days that are half judged nothing can be said.
    ForgetDays();
    return false;
  }
  loaded_version = version;
  return true;
}

// Reads what the session has told, and what it was the first to define; false when that cannot be read.
bool ReadTold(const LiveSession* session, const PendingHistory* sealed) {
  return Counted([&] {
    days->principal = privacy_score::PrincipalKey(NameStr(session->role_name), EndUserOf(session));
    days->words = days->reach.TakeRestored(days->principal, session->day);
    days->restored = days->words.size();
    NoteReader reader(sealed->told);
    for (ToldHead head; reader.Next(&head);) {
      const std::size_t from = days->words.size();
      days->words.resize(from + static_cast<std::size_t>(head.words));
      reader.Read(days->words.data() + from, static_cast<Size>(head.words) * sizeof(std::uint64_t));
    }
    // These are being written by the same transaction; on a standby they stay with the session.
    for (const NoteList* list : {&sealed->definitions, &session->open.definitions}) {
      NoteReader definitions(*list);
      for (DefinitionHead head; definitions.Next(&head);) {
        std::string text(static_cast<std::size_t>(head.length), '\0');
        definitions.Read(text.data(), text.size());
        days->reach.Define(head.id, SplitTokens(text));
      }
    }
  });
}

// Looks up the abstractions that are not known here.
template <typename Unknown>
bool Define(const Unknown& unknown_ids) {
  bool any = false;
  if (!Counted([&] {
        const auto unknown = unknown_ids();
        any = !unknown.empty();
        days->unknown = privacy_score::ArrayText(unknown);
      }))
    return false;
  if (!any) return true;
  const char* args[] = {days->unknown.c_str()};
  StringInfoData wire;
  initStringInfo(&wire);
  AppendLongSection<TokenSection>(&wire, SQL_TOKENS("WHERE a.id = ANY ($1::pg_catalog.int8[])"), 1, args);
  return Counted([&] {
    privacy_score::WireReader reader(WireBytes(&wire));
    for (auto& [id, tokens] : privacy_score::ReadTokens(reader)) days->reach.Define(id, std::move(tokens));
  });
}

bool DefineTold() {
  return Define([] { return days->reach.Unknown(days->words); });
}

// Leaves out what an earlier process has handed over.
void LeaveOutRestored() {
  days->words.erase(days->words.begin(), days->words.begin() + static_cast<std::ptrdiff_t>(days->restored));
  days->restored = 0;
}

// Whether all abstractions are known that it is about. What another process has handed over may be about some that were
// met on a standby and are written nowhere; that is left out then.
bool IsDefined() {
  bool all = false;
  const auto look = [&] { all = days->reach.Unknown(days->words).empty(); };
  if (!Counted(look) || all || days->restored == 0) return all;
  LeaveOutRestored();
  return Counted(look) && all;
}

// The arguments that name a session's principal and day.
struct DayArgs {
  explicit DayArgs(const LiveSession* session)
      : role(NameStr(session->role_name)), end_user(EndUserOf(session)), day(TextOfInteger(session->day)) {}
  const char *role, *end_user, *day;
};
// The part that is a sketch of all subjects.
constexpr std::int64_t kSketchPart = -1;
#define SQL_OF_DAY "role = $1::pg_catalog.name AND end_user = $2 AND day = " SQL_DAY("$3")

// Stored subjects: the sets of a part, a row each, and its subjects in hexadecimal.
WIRE_SECTION(PartSetSection, kPart, kSet);
WIRE_SECTION(PartSubjectSection, kPart, kSubjects);
// What is stored of a day; the figures of reach as in kReachFigureNames.
WIRE_SECTION(PrincipalDaySection, kReach, kSubjects, kSubjectColumns, kAlerted);

// Reads both sections of stored subjects, and calls `visit` with the
// number of each part and what it has.
template <typename Visit>
void EachStoredPart(privacy_score::WireReader& reader, const Visit& visit) {
  std::unordered_map<std::int64_t, StoredSubjects> parts;
  for (const Row& row : reader.Section(PartSetSection::kColumns))
    parts[ParseInteger(*row[PartSetSection::kPart])].sets.emplace_back(Required(row[PartSetSection::kSet]));
  for (const Row& row : reader.Section(PartSubjectSection::kColumns)) {
    const std::int64_t number = ParseInteger(*row[PartSubjectSection::kPart]);
    StoredSubjects& part = parts[number];
    part.subjects = *row[PartSubjectSection::kSubjects];
    visit(number, part);
  }
}

// Begins to remember a day with what is stored of it; or, when it was forgotten since, with nothing of before.
bool BeginDay(const LiveSession* session, bool from_stored) {
  const DayArgs of(session);
  const char* args[] = {of.role, of.end_user, of.day};
  StringInfoData wire;
  initStringInfo(&wire);
  if (from_stored) {
    AppendSection<PrincipalDaySection>(
        &wire, "SELECT reach, subjects, subject_columns, alerted FROM privacy_score.principal_day WHERE " SQL_OF_DAY, 3,
        args);
    AppendSection<PartSetSection>(
        &wire,
        "SELECT p.part, u.set FROM privacy_score.principal_subjects p, pg_catalog.unnest(p.sets) "
        "WITH ORDINALITY u(set, n) WHERE " SQL_OF_DAY " ORDER BY p.part, u.n",
        3, args);
    AppendSection<PartSubjectSection>(
        &wire,
        "SELECT part, pg_catalog.encode(subjects, 'hex') AS subjects FROM privacy_score.principal_subjects "
        "WHERE " SQL_OF_DAY " ORDER BY part",
        3, args);
  }
  bool begun = false;
  const bool read = Counted([&] {
    const bool where_counts = session->settings.where_counts;
    if (!from_stored) {
      LeaveOutRestored();
      days->day = days->reach.Begin(days->principal, session->day, where_counts, {});
      begun = true;
      return;
    }
    WireReader reader(WireBytes(&wire));
    ReachFigures stored;
    std::uint32_t alerted = 0;
    bool found = false;
    for (const Row& row : reader.Section(PrincipalDaySection::kColumns)) {
      found = true;
      for (int i = 0; i < kReachFigureCount; ++i)
        stored.values[i] = ParseInteger(*row[PrincipalDaySection::kReach + i]);
      alerted = static_cast<std::uint32_t>(ParseInteger(*row[PrincipalDaySection::kAlerted]));
    }
    days->day = days->reach.Begin(days->principal, session->day, where_counts, stored);
    days->day->alerted = alerted;
    days->day->is_stored = found;
    // It was forgotten since.
    if (!found) LeaveOutRestored();
    begun = true;
    // Damaged parts are left out, and written anew with the next ones.
    days->day->parts = kMostParts;
    int next_part = 0;
    EachStoredPart(reader, [&](std::int64_t number, const StoredSubjects& part) {
      if (number == kSketchPart) {
        days->day->KnowSketch(part.subjects);
        return;
      }
      days->day->Know(part);
      next_part = static_cast<int>(number) + 1;
    });
    days->day->parts = next_part;
  });
  if (begun && from_stored && Define([] { return days->reach.UnknownAlone(days->day); }))
    Counted([] { days->reach.TakeAlone(days->day); });
  return read || begun;
}

// Adds what was told to the day that is in hand, and notes which figures are too great for the first time.
bool TakeWords(const LiveSession* session) {
  return Counted([&] {
    // What an earlier process has handed over is none of this session's.
    const auto own = days->words.begin() + static_cast<std::ptrdiff_t>(days->restored);
    if (days->restored > 0) days->reach.Take(days->day, {days->words.begin(), own});
    const std::size_t before = days->day->changes();
    days->reach.Take(days->day, {own, days->words.end()});
    days->learnt = days->day->ChangedAfter(before);
    if (session->reach_known) days->day->Raise(session->reach);
    days->figures = days->day->Figures();
    const privacy_score::Baseline* baseline = days->reach.BaselineFor(NameStr(session->role_name), EndUserOf(session));
    days->excesses.clear();
    if (baseline == nullptr) return;
    for (const auto& excess : OutOfReach(days->figures, baseline->greatest_of_day, session->reach_factor,
                                         days->reach.AcceptedReach(NameStr(session->role_name), EndUserOf(session)))) {
      const std::uint32_t kind = ReachAlertOf(excess.figure);
      if ((days->day->alerted & kind) != 0) continue;
      days->day->alerted |= kind;
      days->excesses.push_back(excess);
    }
  });
}

// Whether somebody holds the row of the day, as who forgets an end user and has not committed. Nobody's history waits
// for that: the day is stored when it is next told of.
bool IsHeld(const DayArgs& of) {
  const char* args[] = {of.role, of.end_user, of.day};
  if (RunInternal("SELECT FROM privacy_score.principal_day WHERE " SQL_OF_DAY, 3, args) == 0) return false;
  return RunInternal("SELECT FROM privacy_score.principal_day WHERE " SQL_OF_DAY " FOR UPDATE SKIP LOCKED", 3, args) ==
         0;
}

// Writes the figures into the row of the day; false when there is none.
bool UpdateDay(const DayArgs& of) {
  const char* args[] = {of.role,
                        of.end_user,
                        of.day,
                        TextOfInteger(days->figures.values[0]),
                        TextOfInteger(days->figures.values[1]),
                        TextOfInteger(days->figures.values[2]),
                        TextOfInteger(days->day->alerted)};
  return RunInternal(
             "UPDATE privacy_score.principal_day SET reach = $4::pg_catalog.int8, subjects = $5::pg_catalog.int8, "
             "subject_columns = $6::pg_catalog.int4, alerted = $7::pg_catalog.int4 WHERE " SQL_OF_DAY,
             7, args) > 0;
}

// Notes how much is known by now of the subjects of which the session tells more, with what the principal came to know
// of them on the days before.
void NoteKnown(const DayArgs& of) {
  const char* args[] = {of.role, of.end_user, of.day, TextOfInteger(privacy_score::kDaysOfKnowledge)};
#define SQL_OF_EARLIER_DAYS                                                                \
  "p.role = $1::pg_catalog.name AND p.end_user = $2 AND p.part >= 0 AND p.day < " SQL_DAY( \
      "$3") " AND p.day > " SQL_DAY("$3") " - $4::pg_catalog.int4"
// A part of a day as one number.
#define SQL_PART "(p.day - '2000-01-01'::pg_catalog.date)::pg_catalog.int8 * 1000 + p.part"
  StringInfoData wire;
  initStringInfo(&wire);
  AppendSection<PartSetSection>(&wire,
                                "SELECT " SQL_PART
                                " AS part, u.set FROM privacy_score.principal_subjects p, pg_catalog.unnest(p.sets) "
                                "WITH ORDINALITY u(set, n) WHERE " SQL_OF_EARLIER_DAYS " ORDER BY 1, u.n",
                                lengthof(args), args);
  AppendSection<PartSubjectSection>(
      &wire,
      "SELECT " SQL_PART
      " AS part, pg_catalog.encode(p.subjects, 'hex') AS subjects FROM privacy_score.principal_subjects p "
      "WHERE " SQL_OF_EARLIER_DAYS " ORDER BY 1",
      lengthof(args), args);
  Counted([&] {
    std::vector<StoredSubjects> earlier;
    privacy_score::WireReader reader(WireBytes(&wire));
    EachStoredPart(reader, [&](std::int64_t, const StoredSubjects& part) { earlier.push_back(part); });
    days->known = MostKnown(days->learnt, earlier);
  });
}

// Writes a part of the stored subjects.
void StorePart(const DayArgs& of, const char* number, const char* subjects, const char* sets) {
  const char* args[] = {of.role, of.end_user, of.day, number, subjects, sets};
  RunInternal(
      "INSERT INTO privacy_score.principal_subjects (role, end_user, day, part, subjects, sets) VALUES "
      "($1::pg_catalog.name, $2, " SQL_DAY("$3") ", $4::pg_catalog.int4, pg_catalog.decode($5, 'hex'), $6::text[]) "
      "ON CONFLICT (role, end_user, day, part) DO UPDATE SET subjects = EXCLUDED.subjects, sets = EXCLUDED.sets",
      6, args);
}

// Writes subjects of which more is known than is stored.
void StoreSubjects(const DayArgs& of) {
  bool together = days->day->parts >= kMostParts;
  if (!Counted([&] {
        days->changed = days->day->TakeChanged();
        together |= days->day->replaces();
        if (together && !days->changed.subjects.empty()) days->changed = days->day->All();
        days->sets = privacy_score::ArrayText(days->changed.sets);
        days->sketch = days->day->TakeChangedSketch();
      }))
    return;
  if (!days->sketch.empty()) StorePart(of, TextOfInteger(kSketchPart), days->sketch.c_str(), "{}");
  if (days->changed.subjects.empty()) return;
  const char* number = TextOfInteger(together ? 0 : days->day->parts);
  const char* args[] = {of.role, of.end_user, of.day};
  if (together) RunInternal("DELETE FROM privacy_score.principal_subjects WHERE part >= 0 AND " SQL_OF_DAY, 3, args);
  StorePart(of, number, days->changed.subjects.c_str(), days->sets.c_str());
  days->day->parts = together ? 1 : days->day->parts + 1;
}

// Stores the day. Where its row was taken away, as by forget_end_user(), what was known before is forgotten here, too.
void StoreDay(const LiveSession* session) {
  const DayArgs of(session);
  if (IsHeld(of)) return;
  if (!UpdateDay(of)) {
    if (days->day->is_stored && !(BeginDay(session, false) && TakeWords(session))) return;
    const char* args[] = {of.role, of.end_user, of.day};
    RunInternal(
        "INSERT INTO privacy_score.principal_day (role, end_user, day) VALUES ($1::pg_catalog.name, $2, " SQL_DAY(
            "$3") ") ON CONFLICT DO NOTHING",
        3, args);
    UpdateDay(of);
  }
  days->day->is_stored = true;
  StoreSubjects(of);
}

}  // namespace

void FollowModelInDays(DatabaseSlot* slot) {
  if (days != nullptr) PrepareDays(slot);
}

void DropSavedDays(DatabaseSlot* slot) {
  if (DsaPointerIsValid(slot->days)) FreeShared(slot->days, static_cast<Size>(slot->days_length));
  slot->days = InvalidDsaPointer;
  slot->days_length = 0;
}

void SaveDays(DatabaseSlot* slot) {
  if (days == nullptr || !changed_since_saved || days_unsettled) return;
  changed_since_saved = false;
  std::size_t size = 0;
  if (!Counted([&] {
        const std::size_t share = static_cast<std::size_t>(ps_settings.max_memory) * 1024 / 64 / sizeof(std::uint64_t);
        days->words = days->reach.Save(std::min(kMostSavedWords, share));
        size = days->words.size() * sizeof(std::uint64_t);
      }))
    return;
  DropSavedDays(slot);
  const dsa_pointer saved = size == 0 ? InvalidDsaPointer : AllocateShared(size);
  if (!DsaPointerIsValid(saved)) return;
  memcpy(SharedAt<char>(saved), days->words.data(), size);
  slot->days = saved;
  slot->days_length = static_cast<int64>(size);
}

void ForgetDays() {
  Counted([] {
    delete days;
    days = nullptr;
  });
  days_unsettled = false;
}

void ReadDaysAgain(DatabaseSlot* slot) {
  SaveDays(slot);
  ForgetDays();
}

DueAlert* TakeTold(DatabaseSlot* slot, const LiveSession* session, const PendingHistory* sealed, MemoryContext context,
                   ToldBySession* told) {
  DueAlert* alerts = nullptr;
  *told = {};
  // Sessions that have not heard of it yet may still tell.
  if (ps_settings.subject_key_period == 0) return alerts;
  if (sealed->told.first == nullptr || !PrepareDays(slot)) return alerts;
  days_unsettled = changed_since_saved = true;
  if (!ReadTold(session, sealed) || !DefineTold()) return alerts;
  // What a session of a standby has defined is nowhere any more when another worker has taken it.
  if (!IsDefined()) return alerts;
  if (!Counted([&] { days->day = days->reach.Find(days->principal, session->day); })) return alerts;
  if (days->day == nullptr && !BeginDay(session, true)) return alerts;
  if (!TakeWords(session)) return alerts;
  days->known = 0;
  if (!RecoveryInProgress()) {
    if (!days->learnt.subjects.empty()) NoteKnown(DayArgs(session));
    StoreDay(session);
  }
  told->known = days->known;
  if (!session->reach_known)
    told->has_reach = Counted([&] {
      const auto own = days->words.begin() + static_cast<std::ptrdiff_t>(days->restored);
      told->reach = days->reach.FiguresOf({own, days->words.end()}, session->settings.where_counts);
    });
  const std::size_t count = days->excesses.size();
  for (std::size_t i = 0; i < count; ++i) {
    const privacy_score::ReachExcess& excess = days->excesses[i];
    if (!Counted(
            [&] { days->detail = ReachExcessJson(excess, session->reach_factor, privacy_score::ReachScope::kDay); }))
      continue;
    auto* alert = static_cast<DueAlert*>(MemoryContextAlloc(context, sizeof(DueAlert)));
    *alert = {alerts,
              {ReachAlertOf(excess.figure), static_cast<double>(excess.value), excess.limit, true},
              MemoryContextStrdup(context, days->detail.c_str()),
              nullptr};
    alerts = alert;
  }
  return alerts;
}

void BeginDays() {
  // On a standby nothing is stored that could be read again, and to take in the same once more changes nothing.
  if (days_unsettled && !RecoveryInProgress()) ForgetDays();
}

void SettleDays() {
  days_unsettled = false;
  if (days != nullptr) Counted([] { days->reach.MakeRoom(); });
}

void RaiseDueAlerts(LiveSession* session, const DueAlert* alerts) {
  for (; alerts != nullptr; alerts = alerts->next) {
    if (alerts->alarmed != nullptr) session->*alerts->alarmed = true;
    if (TakeReachAlert(session, alerts->passed.kind)) RaiseForWorker(session, alerts->passed, alerts->detail);
  }
}

}  // namespace privacy_score
