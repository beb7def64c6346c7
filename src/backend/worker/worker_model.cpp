/*
 * worker_model.cpp - the model that backends score with, and scores that are corrected by it: of sessions, and of days
 * where a limit asks for them.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "access/xlog.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
}

#include <utility>

#include "backend/rates/model_wire.hpp"
#include "backend/rates/rate_admission.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/limits.hpp"
#include "backend/state/principal_session.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/state/shared_model.hpp"
#include "backend/worker/worker_baselines.hpp"
#include "backend/worker/worker_day_scores.hpp"
#include "core/scoring/live_scorer.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/packed_rates.hpp"
#include "core/scoring/revealing_sessions.hpp"

namespace privacy_score {

void RaiseForWorker(LiveSession* session, const PassedLimit& passed, std::string_view detail) {
  RaiseAlert(session, passed, false, detail.data(), detail.size());
  SpinLockAcquire(&session->mutex);
  const bool alarm = passed.kind == kAlertUnusual || passed.kind == kAlertDrip;
  if ((alarm ? session->warn_of_alarms : session->warn) && session->unwarned_count < kMostUnwarned)
    session->unwarned[session->unwarned_count++] = passed;
  SpinLockRelease(&session->mutex);
}

namespace {

// A model that is ready to be published: its sections, and its baselines.
struct NewlyBuilt {
  StringInfoData wire;
  ModelParts parts;
  GatheredBaselines baselines;
};

bool SameModel(DatabaseSlot* slot, const NewlyBuilt& built) {
  return ModelFollowsFrom(slot, built.parts) && SameBaselines(slot, built.baselines);
}

uint64 HashOfModel(const char* bytes, int64 length) {
  return hash_bytes_extended(reinterpret_cast<const unsigned char*>(bytes), static_cast<int>(length),
                             ps_shared->hash_key.low);
}

// The rates that these counts lack, on the C++ heap, and when they were asked for. Nobody else asks for them, and it
// may be in vain: no room, or they cannot be computed now.
std::vector<privacy_score::MissingRate>* unrevealed = nullptr;
TimestampTz unrevealed_asked_at = 0;

// Counts them and packs the rates, so that no backend has to, in the place of the rates, and asks for those that the
// counts lack. A fault of it is each backend's then.
void AddPublished(DatabaseSlot* slot, NewlyBuilt* built) {
  auto* section = NewCoreObject<std::string>();
  CoreError error;
  const bool done = CallCore(&error, [&] {
    const auto model = Model::Parse(
        SourceWithGathered(WireBytes(&built->wire), built->baselines.of, built->baselines.count), std::string_view());
    std::vector<privacy_score::MissingRate> missing;
    *section = CountRevealing(model, built->parts.counted_under, &missing) + PackedRates::Pack(model);
    if (unrevealed == nullptr) unrevealed = new std::vector<privacy_score::MissingRate>();
    *unrevealed = std::move(missing);
  });
  if (!done) return;
  built->wire.len = static_cast<int>(built->parts.rates_at);
  appendBinaryStringInfo(&built->wire, section->data(), static_cast<int>(section->size()));
  built->parts.published = true;
  unrevealed_asked_at = 0;
  AskForUnrevealed(slot);
}

// Puts it into shared memory; false when there is no room.
bool PlaceModel(DatabaseSlot* slot, const NewlyBuilt& built, bool same_baselines, dsa_pointer* model,
                dsa_pointer* baselines) {
  *model = *baselines = InvalidDsaPointer;
  if (!built.baselines.fit) return false;
  *model = NewModel(built.wire.data, static_cast<Size>(built.wire.len), built.parts);
  if (!DsaPointerIsValid(*model)) return false;
  if (!same_baselines) *baselines = NewSharedBaselines(slot, built.baselines.of, built.baselines.count);
  if (same_baselines || DsaPointerIsValid(*baselines)) return true;
  LeaveModel(*model);
  return false;
}

void TellNoRoom(const NewlyBuilt& built) {
  static TimestampTz told_at = 0;
  const TimestampTz now = GetCurrentTimestamp();
  if (now - told_at < USECS_PER_MINUTE) return;
  told_at = now;
  ereport(LOG, (errmsg("privacy_score model of %d bytes, with %d baselines beside it, does not fit into shared memory",
                       built.wire.len, built.baselines.count),
                errhint("Raise privacy_score.max_memory.")));
}

bool Replace(DatabaseSlot* slot, const NewlyBuilt& built) {
  ForgetDayScores();
  const bool same_baselines = SameBaselines(slot, built.baselines);
  dsa_pointer model, baselines;
  bool placed = PlaceModel(slot, built, same_baselines, &model, &baselines);
  if (!placed) {
    // Each size that has ever been asked for keeps 64 kB, most of them empty; with little memory that is much of it.
    dsa_trim(SharedArea());
    placed = PlaceModel(slot, built, same_baselines, &model, &baselines);
  }
  if (!placed) {
    TellNoRoom(built);
    return false;
  }
  const uint64 hash = HashOfModel(built.wire.data, built.parts.rates_at);
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  const dsa_pointer old = std::exchange(slot->model, model);
  if (!same_baselines) ReplaceBaselines(slot, baselines);
  const uint64 version = pg_atomic_add_fetch_u64(&slot->model_version, 1);
  const bool redefined = !same_baselines || hash != slot->definitions_hash;
  if (redefined) slot->definitions_version = version;
  slot->definitions_hash = hash;
  LWLockRelease(slot->lock);
  // They may be against another subject now.
  if (redefined) ForgetUnstoredRates();
  LeaveModel(old);
  return true;
}

using Rescored = privacy_score::MemoryScore;

// Scores a session from its history, as its own backend would with this model.
void RescoreFromHistory(const LiveSession* session, const ModelBytes& model, Rescored* result, CoreError* error) {
  StringInfoData wire;
  initStringInfo(&wire);
  const char* args[] = {TextOfInteger(session->row_id)};
  AppendLongSection<TokenSection>(
      &wire,
      SQL_TOKENS("WHERE a.id IN (SELECT pg_catalog.unnest(p.ids) FROM privacy_score.session_part p "
                 "WHERE p.session_id = $1::pg_catalog.int8)"),
      1, args);
  AppendSection<RunSection>(
      &wire, "SELECT ids, runs FROM privacy_score.session_part WHERE session_id = $1::pg_catalog.int8 ORDER BY part", 1,
      args);
  const bool done = CallCore(error, [&] {
    LiveScorer scorer(NameStr(session->role_name), session->settings, EndUserOf(session));
    scorer.Load(model.Source());
    WireReader reader(WireBytes(&wire));
    std::unordered_map<std::int64_t, Tokens> tokens;
    reader.EachRow(TokenSection::kColumns, [&](const Row& row) {
      tokens[ParseInteger(*row[TokenSection::kId])].emplace_back(*row[TokenSection::kToken]);
    });
    for (auto& [id, list] : tokens) {
      std::sort(list.begin(), list.end());
      scorer.Define(id, std::move(list));
    }
    NGramWindow follows;
    for (const Row& row : reader.Section(RunSection::kColumns)) {
      const auto ids = ParseIntegers(*row[RunSection::kIds]);
      const auto runs = ParseIntegers(*row[RunSection::kRuns]);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (runs[i] == kContext) {
          follows.PushContext(ids[i]);
          scorer.Resume(follows.recorded());
        }
        for (std::int64_t run = 0; run < runs[i]; ++run) {
          scorer.Observe(ids[i]);
          follows = NGramWindow(scorer.LastNGram());
          // Further on in a run every n-gram has been met.
          if (run < kRecordedLength && scorer.LastScore() > result->largest) {
            result->largest = scorer.LastScore();
            result->explanation = scorer.LastExplanation();
          }
        }
      }
    }
    result->summary = scorer.summary();
    result->missing = scorer.TakeMissing();
  });
  if (!done) pg_atomic_fetch_add_u64(&ps_shared->scoring_errors, 1);
  pfree(wire.data);
}

// The same in a holder, of a recorded session from its history, of one that began in recovery from memory; null when
// that is not possible.
CoreHolder<Rescored>* Rescore(const LiveSession* place, const LiveSession* session, const ModelBytes& model) {
  if (session->unrecorded) return ScoreFromMemory(place, session, model);
  CoreHolder<Rescored>* result = NewCoreHolder<Rescored>(CurrentMemoryContext);
  CallCoreOrRaise([&] { result->Reset(new Rescored()); });
  WorkTransaction work;
  BeginWork(&work);
  CoreError error;
  RescoreFromHistory(session, model, result->object, &error);
  EndWork(&work);
  return result;
}

// The same with all stored rates, of which the model has not all: what it misses is looked up.
CoreHolder<Rescored>* RescoreWithStored(DatabaseSlot* slot, const LiveSession* place, const LiveSession* session,
                                        const ModelBytes& model) {
  constexpr int kMostRounds = 16;
  CoreHolder<Rescored>* result = Rescore(place, session, model);
  ComputedRates found;
  InitComputedRates(&found);
  for (int round = 0; round < kMostRounds && result != nullptr && result->object->summary.estimated; ++round) {
    const int before = found.count;
    StringInfoData wire;
    initStringInfo(&wire);
    const std::string_view definitions = DefinitionBytes(slot);
    appendBinaryStringInfo(&wire, definitions.data(), static_cast<int>(definitions.size()));
    WorkTransaction work;
    BeginWork(&work);
    AppendStored(&found, &result->object->missing);
    if (found.count > before) AppendRatesAtHand(&wire, &found, slot->rates_period);
    EndWork(&work);
    if (found.count == before) break;
    result = Rescore(place, session, {WireBytes(&wire), {}, slot->baselines});
    pfree(wire.data);
  }
  return result;
}

// Appends a model with all n-grams of the baselines of the session's role, for which there is no room in shared memory.
void AppendWholeModel(StringInfo wire, const LiveSession* session) {
  WorkTransaction work;
  BeginWork(&work);
  AppendModel(wire, ModelScope::kBaselines, UnstoredRates(), NameStr(session->role_name));
  EndWork(&work);
}

// The same with such a model. Reading it takes long, so this takes at most a fifth of the worker's time; null when it
// has to wait.
CoreHolder<Rescored>* RescoreWithTables(const LiveSession* place, const LiveSession* session) {
  static TimestampTz next_at = 0;
  const TimestampTz began = GetCurrentTimestamp();
  if (began < next_at && next_at - began < USECS_PER_MINUTE) return nullptr;
  StringInfoData wire;
  initStringInfo(&wire);
  AppendWholeModel(&wire, session);
  CoreHolder<Rescored>* result = Rescore(place, session, {WireBytes(&wire), {}, InvalidDsaPointer});
  pfree(wire.data);
  const TimestampTz ended = GetCurrentTimestamp();
  next_at = ended + Min(4 * (ended - began), 10 * USECS_PER_SEC);
  return result;
}

void CorrectScore(DatabaseSlot* slot, LiveSession* session, const ModelBytes& model) {
  LiveSession before;
  CopySession(session, &before);
  const bool known = before.row_id != 0 || before.unrecorded;
  const bool whole = before.flushed_queries == before.summary.queries;
  // Who asks for more than there is room for could be estimated for ever. So such a session is scored with what is
  // stored, and its limits are checked by what is recorded of it even while it goes on.
  const bool lacks_ngrams =
      (before.summary.estimated || before.summary.peer_estimated) && IsLeftOut(slot, NameStr(before.role_name));
  const bool lacks_room = lacks_ngrams || (before.summary.estimated && slot->rates_period != 0);
  if (!known || !(whole || (lacks_room && before.limits.Any()))) return;
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  // Rates alone change only what rested on bounds; baselines and declarations change every score.
  const bool estimated = before.summary.estimated || before.summary.peer_estimated;
  const bool outdated = estimated ? before.model_version < version : before.model_version < slot->definitions_version;
  const int32 rounds = slot->rounds;
  const bool rates_came = session->weighed_rounds != rounds;
  const bool goes_on = session->weighed_queries != before.flushed_queries;
  if (!outdated && !(lacks_room && (rates_came || goes_on))) return;
  CoreHolder<Rescored>* result = lacks_ngrams ? RescoreWithTables(session, &before)
                                 : lacks_room ? RescoreWithStored(slot, session, &before, model)
                                              : Rescore(session, &before, model);
  if (result == nullptr) return;
  session->weighed_queries = before.flushed_queries;
  session->weighed_rounds = rounds;
  const Rescored& score = *result->object;
  // What its last statements miss the session has asked for itself, unless it is scored by statements alone.
  if (lacks_ngrams || (whole && (outdated || rates_came))) AddMissing(slot, &score.missing);
  if (whole) {
    SpinLockAcquire(&session->mutex);
    const bool current = session->summary.queries == before.summary.queries;
    if (current) {
      session->summary = score.summary;
      session->model_version = version;
    }
    SpinLockRelease(&session->mutex);
    if (!current && !lacks_room) return;
  }
  if (score.summary.estimated) return;
  PassedLimit passed[kAlertKinds];
  const int count = TakePassedLimits(session, score.summary, score.largest, passed);
  for (int i = 0; i < count; ++i) RaiseForWorker(session, passed[i], score.explanation);
}

// Whether any of the rates may still come. One that has failed, however long ago, does not come by itself.
bool AnyIsAwaited(DatabaseSlot* slot, const std::vector<privacy_score::MissingRate>* rates) {
  for (const privacy_score::MissingRate& rate : *rates) {
    const WantedRate wanted = {rate.relation.c_str(), rate.attributes.c_str(), false};
    if (!HasFailed(slot, &wanted, 0)) return true;
  }
  return false;
}

// The score of one principal and day so far, below zero when it is not known.
struct DayFigure {
  DayFigure* next;
  NameData role;
  const char* end_user;
  int32 day;
  double score;
  double enforced;    // the sum that mode enforce goes by
  bool awaits_rates;  // it is an upper bound
};

// Computes the score of the day. `asks`: rates that it misses are asked for. They are not computed here, as score()
// would: history waits for what this process does.
void ScoreDay(DayFigure* day, DatabaseSlot* slot, const LiveSession* session, bool asks) {
  const std::vector<privacy_score::MissingRate>* missing;
  if (session->unrecorded) {
    StringInfoData whole;
    initStringInfo(&whole);
    const bool left_out = IsLeftOut(slot, NameStr(session->role_name));
    if (left_out) AppendWholeModel(&whole, session);
    const ModelBytes model = left_out ? ModelBytes{WireBytes(&whole), {}, InvalidDsaPointer} : BytesInForce(slot);
    const CoreHolder<Rescored>* result = ScoreDayFromMemory(session, model);
    pfree(whole.data);
    if (result == nullptr) return;
    day->score = result->object->summary.score;
    day->enforced = result->object->enforced;
    missing = &result->object->missing;
  } else {
    const CoreHolder<DayScore>* result = ScoreRecordedDay(slot, session);
    if (result == nullptr) return;
    day->score = result->object->score;
    day->enforced = result->object->enforced;
    missing = &result->object->missing;
  }
  if (asks) AddMissing(slot, missing);
  day->awaits_rates = AnyIsAwaited(slot, missing);
}

// The figure of the session's principal and day; null when there is none.
const DayFigure* FindDayFigure(const DayFigure* days, const LiveSession* session) {
  for (const DayFigure* day = days; day != nullptr; day = day->next)
    if (day->day == session->day && strcmp(NameStr(day->role), NameStr(session->role_name)) == 0 &&
        strcmp(day->end_user, EndUserOf(session)) == 0)
      return day;
  return nullptr;
}

// Puts the day's score into a session.
void TakeDayFigure(LiveSession* session, const DayFigure* day) {
  SpinLockAcquire(&session->mutex);
  session->day_bound = day->enforced;
  if (!day->awaits_rates) {
    session->day_score = day->score;
    session->day_enforced = day->enforced;
  }
  SpinLockRelease(&session->mutex);
}

// Notes that the day's score holds what the session has stored, and raises the alert of a limit that it passes with
// what the session has added: a short one has ended before its own process could know.
void CountInDay(LiveSession* session, const DayFigure* day) {
  SpinLockAcquire(&session->mutex);
  session->bounded_rise = session->stored_rise.enforced;
  bool adds = false;
  if (!day->awaits_rates) {
    adds = session->stored_rise.score > session->counted_rise.score;
    session->counted_rise = session->stored_rise;
  }
  SpinLockRelease(&session->mutex);
  PassedLimit passed;
  if (adds && TakeDayAlert(session, &passed))
    RaiseForWorker(session, passed,
                   psprintf("{\"version\": 1, \"cause\": \"day\", \"day\": \"%s\"}", TextOfDay(session->day)));
}

// Gives each session the figure of its day. Sessions add to that what the others have added since: so all get it before
// it is noted of any that it holds what they have added. In between that counts twice, never not at all.
void TakeDayFigures(DatabaseSlot* slot, const DayFigure* days) {
  for (const auto take : {TakeDayFigure, CountInDay})
    for (LiveSession* session = FirstSession(slot); session != nullptr; session = session->next) {
      const DayFigure* day = FindDayFigure(days, session);
      if (day != nullptr && day->score >= 0) take(session, day);
    }
}

}  // namespace

void AddMissing(DatabaseSlot* slot, const std::vector<privacy_score::MissingRate>* rates) {
  const std::size_t count = rates->size();
  static AskedShare share;  // of this process, however many models it publishes until they are computed
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  for (std::size_t i = 0; i < count; ++i) {
    if (!AskForRate(slot, (*rates)[i].relation, (*rates)[i].attributes, &share)) break;
    ++slot->missing_count;
  }
  LWLockRelease(slot->lock);
}

bool PublishModel(DatabaseSlot* slot, bool even_if_same) {
  NewlyBuilt built = {};
  initStringInfo(&built.wire);
  WorkTransaction work;
  BeginWork(&work);
  FollowPeriods(slot);
  const int64 counted = CountWrittenBaselines();
  // All in one snapshot: the heads of baselines, and what they hold. It shows all that is counted.
  PushActiveSnapshot(GetTransactionSnapshot());
  AppendDefinitions(&built.wire);
  built.parts.rates_at = built.wire.len;
  built.parts.counted_under = ScoreSettingsInForce();
  AppendRatesAtHand(&built.wire, UnstoredRates(), slot->rates_period);
  GatherBaselines(slot, work.outer, counted, &built.baselines);
  PopActiveSnapshot();
  EndWork(&work);
  built.parts.source_length = built.wire.len;
  built.parts.source_hash = HashOfModel(built.wire.data, built.wire.len);
  // What the counts of a model lack that another process has published is not known here.
  static bool has_counted = false;
  const bool same = !even_if_same && SameModel(slot, built);
  if (built.baselines.fit && !(same && has_counted)) {
    AddPublished(slot, &built);
    has_counted = true;
  }
  const bool done = same || Replace(slot, built);
  pfree(built.wire.data);
  return done;
}

void AskForUnrevealed(DatabaseSlot* slot) {
  const TimestampTz now = GetCurrentTimestamp();
  if (unrevealed == nullptr || unrevealed->empty() || now - unrevealed_asked_at < USECS_PER_MINUTE) return;
  unrevealed_asked_at = now;
  AddMissing(slot, unrevealed);
}

void CorrectScores(DatabaseSlot* slot) {
  // What a day misses is asked for once with each model: what came of it is in the next.
  static uint64 asked_with = 0;
  const uint64 version = pg_atomic_read_u64(&slot->model_version);
  const bool asks = version != asked_with;
  const ModelBytes model = BytesInForce(slot);
  DayFigure* days = nullptr;
  for (LiveSession* session = FirstSession(slot); session != nullptr; session = session->next) {
    CHECK_FOR_INTERRUPTS();
    CorrectScore(slot, session, model);
    if (session->limits.daily < 0 || FindDayFigure(days, session) != nullptr) continue;
    auto* day = static_cast<DayFigure*>(palloc(sizeof(DayFigure)));
    *day = {days, session->role_name, pstrdup(EndUserOf(session)), session->day, -1, -1, false};
    ScoreDay(day, slot, session, asks);
    days = day;
  }
  TakeDayFigures(slot, days);
  asked_with = version;
}

}  // namespace privacy_score
