/*
 * worker_calibration.cpp - the calibration of alarms, made and kept by the worker (see worker_alarms.hpp).
 */
#include "backend/worker/worker_alarms.hpp"

extern "C" {
#include "access/xlog.h"
#include "executor/spi.h"
#include "postmaster/interrupt.h"
}

#include <algorithm>
#include <chrono>
#include <memory>

#include "backend/rates/model_wire.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/scoring_errors.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "core/detection/calibrator.hpp"
#include "core/detection/role_alarm.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

using privacy_score::BaselineSession;
using privacy_score::Calibrator;

namespace {

#define SQL_IN_FORCE "b.active AND b.end_user IS NULL"
// The sessions that the baselines of roles in force were made of, as far as they are still recorded, the latest of very
// many.
#define SQL_CALIBRATED                                                                                                \
  "FROM (SELECT s.* FROM privacy_score.baseline b JOIN privacy_score.session s ON s.role = b.role AND s.day BETWEEN " \
  "b.from_day AND b.to_day WHERE " SQL_IN_FORCE " ORDER BY s.id DESC LIMIT 200000) s "

WIRE_SECTION(CalibratedSection, kRole, kEndUser, kStarted, kDay, kAddressed, kPerson, kMostRows, kRepeats, kIds, kRuns,
             kKnown, kDiffer);
const char* const kSessions =
    "SELECT s.role, COALESCE(s.end_user, '') AS end_user, "
    "(pg_catalog.date_part('epoch', s.started) * 1000000)::pg_catalog.int8 AS started, "
    "s.day - '2000-01-01'::pg_catalog.date AS day, s.addressed, s.person, s.most_rows, x.repeats, x.ids, "
    "x.runs, s.known, s.differ " SQL_CALIBRATED
    "CROSS JOIN LATERAL (SELECT pg_catalog.array_agg(y.id ORDER BY y.id) AS ids, "
    "pg_catalog.array_agg(y.run::pg_catalog.int8 ORDER BY y.id) AS runs, "
    "pg_catalog.max(y.run)::pg_catalog.int8 "
    "AS repeats FROM (SELECT r.id, pg_catalog.sum(r.run) AS run FROM privacy_score.session_part p, ROWS FROM ("
    "pg_catalog.unnest(p.ids), pg_catalog.unnest(p.runs)) r(id, run) WHERE p.session_id = s.id AND r.run > 0 "
    "AND r.id <> 0 GROUP BY r.id) y) x WHERE x.ids IS NOT NULL ORDER BY s.id";
const char* const kTokens = SQL_TOKENS("WHERE a.id IN (SELECT pg_catalog.unnest(p.ids) " SQL_CALIBRATED
                                       "JOIN privacy_score.session_part p ON p.session_id = s.id)");

// A calibration that is being made. On the C++ heap.
struct Making {
  std::string made_for;
  double expected_novelty = 0;
  std::unique_ptr<Calibrator> calibrator;
  volatile std::int64_t done = 0, total = 0;  // sessions, for who looks at how far it is
};
Making* making = nullptr;
std::string* kept = nullptr;  // its bytes, in hexadecimal, while they are stored
std::chrono::steady_clock::time_point slice_ends;

bool SliceIsOver() noexcept {
  SetProgress(static_cast<uint64>(making->done), static_cast<uint64>(making->total));
  return ShutdownRequestPending || std::chrono::steady_clock::now() > slice_ends;
}

std::vector<BaselineSession> ReadSessions(privacy_score::WireReader& reader) {
  using Column = CalibratedSection;
  std::vector<BaselineSession> sessions;
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    BaselineSession& session = sessions.emplace_back();
    session.role = *row[Column::kRole];
    session.principal = PrincipalKey(*row[Column::kRole], *row[Column::kEndUser]);
    session.begin = ParseInteger(*row[Column::kStarted]);
    session.day = static_cast<std::int32_t>(ParseInteger(*row[Column::kDay]));
    session.figures[Figure::kAddressed] = CountIn(row[Column::kAddressed]);
    session.figures[Figure::kPerson] = CountIn(row[Column::kPerson]);
    if (const Field& rows = row[Column::kMostRows]) session.figures[Figure::kVolume] = VolumeOf(ParseInteger(*rows));
    session.figures[Figure::kRepeats] = CountIn(row[Column::kRepeats]);
    session.figures[Figure::kKnown] = CountIn(row[Column::kKnown]);
    session.figures[Figure::kDiffer] = CountIn(row[Column::kDiffer]);
    session.abstractions = ParseIntegers(*row[Column::kIds]);
    session.executions = ParseIntegers(*row[Column::kRuns]);
  });
  return sessions;
}

void ForgetMaking() {
  delete making;
  making = nullptr;
}

// What the calibration must have been made for to be in force, with the number of what its bytes hold; palloc'd.
char* WantedFor() {
  const char* args[] = {psprintf("%.17g", ps_settings.expected_novelty)};
  return InternalValue(
      "SELECT pg_catalog.concat_ws(' ', '3', $1, pg_catalog.string_agg(b.id::text, ' ' ORDER BY b.id)) "
      "FROM privacy_score.baseline b WHERE " SQL_IN_FORCE,
      1, args);
}

// Begins when the calibration in force is of something else. Without baselines there is none.
void Begin() {
  WorkTransaction work;
  BeginWork(&work);
  const char* wanted = WantedFor();
  const char* made = InternalValue("SELECT c.made_for FROM privacy_score.calibration c");
  if (made == nullptr || strcmp(made, wanted) != 0) {
    StringInfoData wire;
    initStringInfo(&wire);
    AppendLongSection<CalibratedSection>(&wire, kSessions);
    AppendLongSection<TokenSection>(&wire, kTokens);
    CoreError error;
    if (!CallCore(&error, [&] {
          privacy_score::WireReader reader(WireBytes(&wire));
          auto sessions = ReadSessions(reader);
          if (sessions.empty()) return;
          const auto count = static_cast<std::int64_t>(sessions.size());
          const auto tokens = privacy_score::ReadTokens(reader);
          auto begun = std::make_unique<Making>();
          begun->made_for = wanted;
          begun->expected_novelty = ps_settings.expected_novelty;
          begun->calibrator = std::make_unique<Calibrator>(std::move(sessions), tokens, ps_settings.expected_novelty);
          begun->total = count;
          making = begun.release();
        }))
      CountScoringError(error.message);
    else if (making == nullptr)
      RunInternal("DELETE FROM privacy_score.calibration");
  }
  EndWork(&work);
}

// Keeps what was made, or nothing where there is no session to hold others against.
void KeepCalibration() {
  constexpr char kDigits[] = "0123456789abcdef";
  CoreError error;
  int64 sessions = 0;
  if (!CallCore(&error, [&] {
        sessions = making->calibrator->calibration().sessions;
        const std::string bytes = WriteCalibration(making->calibrator->calibration());
        delete kept;
        kept = new std::string();
        kept->reserve(2 * bytes.size());
        for (const char byte : bytes) {
          *kept += kDigits[static_cast<unsigned char>(byte) >> 4U];
          *kept += kDigits[static_cast<unsigned char>(byte) & 15U];
        }
      })) {
    CountScoringError(error.message);
    ForgetMaking();
    return;
  }
  WorkTransaction work;
  BeginWork(&work);
  const char* args[] = {making->made_for.c_str(), psprintf("%.17g", making->expected_novelty), TextOfInteger(sessions),
                        kept->c_str()};
  RunInternal("DELETE FROM privacy_score.calibration");
  RunInternal(
      "INSERT INTO privacy_score.calibration (made_for, expected_novelty, sessions, bytes) "
      "VALUES ($1, $2::pg_catalog.float8, $3::pg_catalog.int8, pg_catalog.decode($4, 'hex'))",
      lengthof(args), args);
  EndWork(&work);
  delete kept;
  kept = nullptr;
  ForgetMaking();
}

}  // namespace

bytea* CalibrationInForce() {
  if (SPI_execute("SELECT c.bytes FROM privacy_score.calibration c", true, 1) != SPI_OK_SELECT || SPI_processed == 0)
    return nullptr;
  bool null = false;
  const Datum bytes = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null);
  if (null) return nullptr;
  bytea* plain = DatumGetByteaPP(bytes);
  auto* copy = static_cast<bytea*>(SPI_palloc(VARSIZE_ANY(plain)));
  memcpy(copy, plain, VARSIZE_ANY(plain));
  return copy;
}

bool CalibrationGoesOn() { return making != nullptr; }

void CalibrateWhenDue(DatabaseSlot* slot) {
  static uint64 looked_at = 0;
  static double looked_for = -1;
  if (RecoveryInProgress() || ps_settings.alarm_rate == 0) return ForgetMaking();
  const uint64 version = slot->definitions_version;
  if (version == 0) return;
  if (version != looked_at || looked_for != ps_settings.expected_novelty) {
    ForgetMaking();
    // First: what fails is not tried again and again.
    looked_at = version;
    looked_for = ps_settings.expected_novelty;
    Begin();
  }
  if (making == nullptr) return;
  slice_ends = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  bool done = false;
  CoreError error;
  // Shown while it works; between two slices the worker writes what sessions have done.
  BeginProgress("worker", InvalidOid, "calibrating");
  const bool worked = CallCore(&error, [&] {
    WorkControl control = ControlOf(SliceIsOver);
    control.done = &making->done;
    control.total = &making->total;
    done = making->calibrator->Run(control);
  });
  EndProgress();
  if (!worked) {
    CountScoringError(error.message);
    return ForgetMaking();
  }
  if (done) KeepCalibration();
}

}  // namespace privacy_score
