/*
 * alarm_functions.cpp - how unusual recorded sessions are, by the calibration in force.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/server/cancellable_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/role_access.hpp"
#include "backend/worker/worker_alarms.hpp"
#include "core/detection/detection_sections.hpp"

extern "C" {
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/date.h"
}

#include "core/detection/recorded_figures.hpp"
#include "core/scoring/model_sections.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_session_figures);
}

namespace {

// The sessions of a role, $1, from the day $2 to $3.
#define SQL_PARTS                                                                          \
  "FROM privacy_score.session s JOIN privacy_score.session_part p ON p.session_id = s.id " \
  "WHERE s.role = $1::pg_catalog.name AND s.day BETWEEN $2::pg_catalog.date AND $3::pg_catalog.date "

}  // namespace

// session_figures(role, from_day, to_day, alarm_rate)
Datum ps_session_figures(PG_FUNCTION_ARGS) {
  for (int i = 0; i < 3; ++i)
    if (PG_ARGISNULL(i)) {
      InitMaterializedSRF(fcinfo, 0);
      return Datum(0);
    }
  const char* role = NameStr(*PG_GETARG_NAME(0));
  RequireKnownRole(role, ReadableRole(role));
  RequireDays(PG_GETARG_DATEADT(1), PG_GETARG_DATEADT(2));
  const char* args[] = {role, TextOfDay(PG_GETARG_DATEADT(1)), TextOfDay(PG_GETARG_DATEADT(2))};
  // Where alarms are switched off, how unusual sessions are can be asked all the same.
  constexpr double kUsualRate = 0.01;
  const double in_force = ps_settings.alarm_rate > 0 ? ps_settings.alarm_rate : kUsualRate;
  const double alarm_rate = PG_ARGISNULL(3) ? in_force : PG_GETARG_FLOAT8(3);
  if (!(alarm_rate > 0 && alarm_rate < 1))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("alarm_rate must be between 0 and 1"),
                    errhint("0.01 is an alarm in one of 100 normal sessions.")));
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  const bytea* calibration = CalibrationInForce();
  if (calibration != nullptr) {
    AppendLongSection<TokenSection>(&wire, SQL_TOKENS_OF_BASELINE, 1, args);
    AppendLongSection<TokenSection>(&wire, SQL_TOKENS("WHERE a.id IN (SELECT pg_catalog.unnest(p.ids) " SQL_PARTS ")"),
                                    lengthof(args), args);
    AppendLongSection<IdSection>(&wire,
                                 "SELECT x.id FROM (SELECT DISTINCT pg_catalog.unnest(p.ids) AS id " SQL_PARTS
                                 ") x WHERE x.id IN (" SQL_IDS_OF_ROLES ")",
                                 lengthof(args), args);
    AppendAcceptedOf(&wire, role);
    AppendLongSection<RecordedSection>(
        &wire,
        "SELECT s.id, s.day, s.session, s.end_user, p.ids, p.runs, s.addressed, s.person, "
        "s.most_rows, s.known, s.differ " SQL_PARTS "ORDER BY s.day, s.started, s.id, p.part",
        lengthof(args), args);
  }
  LeaveInternal(&scope);
  CoreHolder<privacy_score::ResultTable>* result = NewCoreHolder<privacy_score::ResultTable>(CurrentMemoryContext);
  if (calibration == nullptr) {
    ereport(NOTICE, (errmsg("alarms are not calibrated yet"),
                     errhint("Make a baseline with set_baseline(); a moment later the background worker has held its "
                             "sessions against each other.")));
    CallCoreOrRaise([&] { result->Reset(new privacy_score::ResultTable()); });
  } else {
    const std::string_view bytes = {VARDATA_ANY(calibration), static_cast<std::size_t>(VARSIZE_ANY_EXHDR(calibration))};
    RunCancellable([&] {
      result->Reset(new privacy_score::ResultTable(
          privacy_score::RecordedFigures(WireBytes(&wire), bytes, role, alarm_rate, StatementEnds)));
    });
  }
  PutResult(fcinfo, *result->object);
  return Datum(0);
}

}  // namespace privacy_score
