/*
 * alert_event_functions.cpp - recorded alerts: alert_event(), in the form of others, and acknowledge_alert().
 */
#include "backend/catalog/relation_access.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/alert_line.hpp"
#include "backend/state/installed_extension.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/role_access.hpp"

extern "C" {
#include "commands/dbcommands.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
}

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_alert_event);
PG_FUNCTION_INFO_V1(ps_acknowledge_alert);
}

namespace {

using privacy_score::AlertEvent;
using privacy_score::AlertForm;

// The columns of the query below, from 1.
enum AlertColumn {
  kFirst = 1,
  kLast,
  kRole,
  kEndUser,
  kSession,
  kKind,
  kScore,
  kLimit,
  kBlocked,
  kSeverity,
  kOccurrences,
  kDetail,
  kAcknowledgedBy,
  kAddress,
  kProgram,
  kTls,
  kAuthentication,
  kAlertColumns
};

const char* const kAlert =
    "SELECT a.at, a.last_at, a.role::text, a.end_user, a.session, a.kind, a.score, a.alert_limit, a.blocked, "
    "a.severity, a.occurrences, a.detail::text, COALESCE(a.acknowledged_by::text, CASE WHEN a.acknowledged_at IS NOT "
    "NULL THEN '' END), pg_catalog.host(a.client_addr), a.application_name, a.tls, a.auth_method "
    "FROM privacy_score.alert a WHERE a.id = $1::pg_catalog.int8";

// One row of it. Reads nothing of the server's once it is filled.
struct AlertRow {
  Datum values[kAlertColumns];
  bool nulls[kAlertColumns];
  const char* texts[kAlertColumns];  // of the columns of text; null for NULL

  // False when there is none.
  bool Read(const char* id) {
    const char* args[] = {id};
    (void)InternalValue(kAlert, 1, args);
    if (SPI_processed == 0) return false;
    HeapTuple row = SPI_tuptable->vals[0];
    TupleDesc columns = SPI_tuptable->tupdesc;
    for (int i = kFirst; i < kAlertColumns; ++i) {
      values[i] = SPI_getbinval(row, columns, i, &nulls[i]);
      texts[i] = nulls[i] ? nullptr : SPI_getvalue(row, columns, i);
    }
    return true;
  }
  std::string Text(AlertColumn column) const { return texts[column] == nullptr ? "" : texts[column]; }
  std::optional<std::string> TextOrNone(AlertColumn column) const {
    return texts[column] == nullptr ? std::nullopt : std::optional<std::string>(texts[column]);
  }
};

AlertEvent EventOf(const AlertRow& row, const char* id, const char* database) {
  AlertEvent event;
  event.uid = std::string(database) + '/' + id;
  event.kind = row.Text(kKind);
  event.severity = row.Text(kSeverity);
  event.role = row.Text(kRole);
  event.end_user = row.Text(kEndUser);
  event.session = row.Text(kSession);
  event.database = database;
  event.version = PS_EXTENSION_VERSION;
  event.first = AlertMomentOf(DatumGetTimestampTz(row.values[kFirst]));
  event.last = AlertMomentOf(DatumGetTimestampTz(row.values[kLast]));
  event.occurrences = DatumGetInt64(row.values[kOccurrences]);
  event.score = DatumGetFloat8(row.values[kScore]);
  event.limit = DatumGetFloat8(row.values[kLimit]);
  event.blocked = DatumGetBool(row.values[kBlocked]);
  event.acknowledged_by = row.TextOrNone(kAcknowledgedBy);
  event.detail = row.Text(kDetail);
  event.address = row.Text(kAddress);
  event.program = row.TextOrNone(kProgram);
  event.authentication = row.TextOrNone(kAuthentication);
  if (!row.nulls[kTls]) event.tls = DatumGetBool(row.values[kTls]);
  return event;
}

}  // namespace

// alert_event(id, format)
Datum ps_alert_event(PG_FUNCTION_ARGS) {
  RequireMayReadAll("alert_event");
  const char* format = text_to_cstring(PG_GETARG_TEXT_PP(1));
  const std::optional<AlertForm> form = privacy_score::AlertFormOf(format);
  if (!form)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("there is no format \"%s\" of alerts", format),
                    errhint("Formats are ocsf, ecs and cef.")));
  const char* id = TextOfInteger(PG_GETARG_INT64(0));
  const char* database = get_database_name(MyDatabaseId);
  InternalScope scope;
  EnterInternal(&scope);
  AlertRow row;
  const bool found = row.Read(id);
  auto* text = NewCoreObject<std::string>();
  if (found) CallCoreOrRaise([&] { *text = AlertEventText(*form, EventOf(row, id, database)); });
  MemoryContext spi = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
  auto* event = cstring_to_text_with_len(text->data(), static_cast<int>(text->size()));
  MemoryContextSwitchTo(spi);
  LeaveInternal(&scope);
  if (!found)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("alert %s does not exist", id),
                    errhint("privacy_score.alerts lists the alerts.")));
  PG_RETURN_TEXT_P(event);
}

// acknowledge_alert(id)
Datum ps_acknowledge_alert(PG_FUNCTION_ARGS) {
  RequirePrimary("acknowledge_alert");
  const char* args[] = {TextOfInteger(PG_GETARG_INT64(0)), GetUserNameFromId(GetUserId(), false)};
  InternalScope scope;
  EnterInternal(&scope);
  const uint64 found = RunInternal(
      "UPDATE privacy_score.alert SET acknowledged_at = COALESCE(acknowledged_at, pg_catalog.now()), "
      "acknowledged_by = COALESCE(acknowledged_by, $2::pg_catalog.name) WHERE id = $1::pg_catalog.int8",
      2, args);
  LeaveInternal(&scope);
  if (found == 0)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("alert %s does not exist", args[0]),
                    errhint("privacy_score.alerts lists the alerts.")));
  PG_RETURN_VOID();
}

}  // namespace privacy_score
