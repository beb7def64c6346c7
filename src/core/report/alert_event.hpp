/*
 * alert_event.hpp - an alert in the forms that others read: OCSF 1.3.0 (class 2004, Detection Finding), the Elastic
 * Common Schema 8.11, and the Common Event Format 0.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace privacy_score {

enum class AlertForm { kOwn, kOcsf, kEcs, kCef };
// Of a name: ocsf, ecs, cef. Nothing for another.
std::optional<AlertForm> AlertFormOf(std::string_view name);

// When something happened.
struct AlertMoment {
  std::int64_t milliseconds = 0;  // since 1970
  std::string iso;                // 2026-01-02T03:04:05.678901Z
};

struct AlertEvent {
  std::string uid;
  std::string kind, severity;  // as the view alerts has them
  std::string role, end_user, session, database, version;
  AlertMoment first, last;
  std::int64_t occurrences = 1;
  double score = 0;
  double limit = 0;
  bool blocked = false;
  std::optional<std::string> acknowledged_by;
  std::string detail;  // JSON
  // Of the connection, where that is known: empty for a unix socket.
  std::string address;
  std::optional<std::string> program, authentication;
  std::optional<bool> tls;
};

// JSON, of CEF a line. Any text is a value of it: nothing ends a field, or the line, but what this writes.
std::string AlertEventText(AlertForm form, const AlertEvent& event);

}  // namespace privacy_score
