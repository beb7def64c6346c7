/*
 * alert_line.cpp - see alert_line.hpp.
 */
#include "backend/state/alert_line.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/datetime.h"
}

#include "backend/server/core_call.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/connection_context.hpp"

namespace privacy_score {

namespace {

using privacy_score::AlertEvent;
using privacy_score::AlertForm;

// Appends key="value" so that it can be read back whatever the value holds: quotes and backslashes are escaped, control
// characters written as \n or \xHH.
void AppendQuoted(StringInfo line, const char* key, const char* value) {
  appendStringInfo(line, " %s=\"", key);
  for (const char* at = value; *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\')
      appendStringInfo(line, "\\%c", byte);
    else if (byte == '\n')
      appendStringInfoString(line, "\\n");
    else if (byte < 0x20 || byte == 0x7f)
      appendStringInfo(line, "\\x%02x", byte);
    else
      appendStringInfoChar(line, *at);
  }
  appendStringInfoChar(line, '"');
}

const char* OwnLine(const AlertRecord* alert, const char* severity, const char* database) {
  StringInfoData line;
  initStringInfo(&line);
  appendStringInfo(&line, "kind=%s severity=%s", alert->kind, severity);
  AppendQuoted(&line, "role", alert->role);
  if (alert->end_user[0] != '\0') AppendQuoted(&line, "end_user", alert->end_user);
  AppendQuoted(&line, "session", alert->session);
  appendStringInfo(&line, " score=%.6g limit=%.6g blocked=%s", alert->score, alert->limit,
                   alert->blocked ? "true" : "false");
  AppendQuoted(&line, "database", database);
  if (alert->context != nullptr && alert->context->known) {
    if (alert->context->address[0] != '\0') appendStringInfo(&line, " client_addr=%s", alert->context->address);
    AppendQuoted(&line, "application_name", alert->context->program);
  }
  return line.data;
}

void FillContext(AlertEvent* event, const ConnectionContext& context) {
  event->address = context.address;
  event->program = context.program;
  event->tls = context.tls;
  const char* method = AuthenticationName(context);
  if (method[0] != '\0') event->authentication = method;
}

}  // namespace

privacy_score::AlertMoment AlertMomentOf(TimestampTz at) {
  privacy_score::AlertMoment moment;
  constexpr int64 kEpochs = static_cast<int64>(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;
  const int64 microseconds = at + kEpochs;
  moment.milliseconds = microseconds / 1000;
  struct pg_tm fields;
  fsec_t fraction;
  char text[64] = "";
  if (timestamp2tm(at, nullptr, &fields, &fraction, nullptr, nullptr) == 0)
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", fields.tm_year, fields.tm_mon, fields.tm_mday,
             fields.tm_hour, fields.tm_min, fields.tm_sec, static_cast<int>(fraction));
  moment.iso = text;
  return moment;
}

const char* AlertLine(const AlertRecord* alert, const char* severity, const char* database) {
  const AlertForm form = AlertFormInForce();
  if (form == AlertForm::kOwn) return OwnLine(alert, severity, database);
  CoreHolder<std::string>* text = NewCoreHolder<std::string>(CurrentMemoryContext);
  CoreError error;
  const bool done = CallCore(&error, [&] {
    AlertEvent event;
    event.kind = alert->kind;
    event.severity = severity;
    event.role = alert->role;
    event.end_user = alert->end_user;
    event.session = alert->session;
    event.database = database;
    event.version = PS_EXTENSION_VERSION;
    event.first = event.last = AlertMomentOf(alert->at);
    // What raised it has no number yet.
    event.uid = event.database + '/' + event.session + '/' + event.kind + '/' + event.last.iso;
    event.score = alert->score;
    event.limit = alert->limit;
    event.blocked = alert->blocked;
    event.detail = alert->detail;
    if (alert->context != nullptr && alert->context->known) FillContext(&event, *alert->context);
    text->Reset(new std::string(AlertEventText(form, event)));
  });
  if (!done) return OwnLine(alert, severity, database);
  const char* line = pstrdup(text->object->c_str());
  text->Reset(nullptr);
  return line;
}

}  // namespace privacy_score
