/*
 * alert_event.cpp - see alert_event.hpp.
 */
#include "core/report/alert_event.hpp"

#include <utility>

#include "core/base/json.hpp"
#include "core/base/json_field.hpp"
#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

constexpr const char* kProduct = "privacy_score";

const char* TitleOf(std::string_view kind) {
  static constexpr std::pair<std::string_view, const char*> titles[] = {
      {"session", "A session passed its privacy limit"},
      {"daily", "A day passed its privacy limit"},
      {"normalised", "A session is mostly new"},
      {"ngram", "A statement reveals more than usual"},
      {"reach", "A session reached unusually many people"},
      {"dp_only", "A role without access read personal data"},
      {"exempt", "An exempt role read personal data"},
      {"break_glass", "Read in an emergency what would be refused"},
      {"end_user", "The name of an end user is not believed or not valid"},
      {"unusual", "A session is unusual for its role"},
      {"drip", "Sessions are a little unusual, one after the other"},
      {"memory", "A session left no room to record it"},
      {"fault", "A statement could not be scored"}};
  for (const auto& [name, title] : titles)
    if (kind == name) return title;
  return "A baseline deserves a look";
}

// One of three, by severity.
template <typename T>
T BySeverity(const AlertEvent& event, T critical, T warning, T info) {
  if (event.severity == "critical") return critical;
  return event.severity == "warning" ? warning : info;
}

JsonWriter& Pair(JsonWriter& json, std::string_view key, std::string_view value) { return json.Key(key).Value(value); }
JsonWriter& Pair(JsonWriter& json, std::string_view key, const char* value) { return json.Key(key).Value(value); }
JsonWriter& Pair(JsonWriter& json, std::string_view key, std::int64_t value) { return json.Key(key).Value(value); }

JsonWriter& OrNull(JsonWriter& json, std::string_view key, const std::optional<std::string>& value) {
  json.Key(key);
  return value ? json.Value(std::string_view(*value)) : json.Null();
}

// What only this product knows.
void PutOwn(JsonWriter& json, const AlertEvent& event) {
  json.Key("score").Value(event.score).Key("alert_limit").Value(event.limit);
  OrNull(json, "acknowledged_by", event.acknowledged_by);
  if (event.program) Pair(json, "application_name", *event.program);
  if (event.tls) json.Key("tls").Value(*event.tls);
  if (event.authentication) Pair(json, "auth_method", *event.authentication);
}

void PutUser(JsonWriter& json, const AlertEvent& event) {
  json.Key("user").BeginObject();
  Pair(json, "name", event.role);
  if (!event.end_user.empty()) Pair(json, "full_name", event.end_user);
  json.EndObject();
}

std::string Ocsf(const AlertEvent& event) {
  JsonWriter json;
  const char* title = TitleOf(event.kind);
  const std::int64_t activity = event.acknowledged_by ? 2 : 1;
  const std::int64_t action = event.blocked ? 2 : 1;
  json.BeginObject();
  Pair(json, "class_uid", std::int64_t{2004});
  Pair(json, "class_name", "Detection Finding");
  Pair(json, "category_uid", std::int64_t{2});
  Pair(json, "category_name", "Findings");
  Pair(json, "activity_id", activity);
  Pair(json, "activity_name", activity == 1 ? "Create" : "Update");
  Pair(json, "type_uid", 200400 + activity);
  Pair(json, "time", event.last.milliseconds);
  Pair(json, "start_time", event.first.milliseconds);
  Pair(json, "end_time", event.last.milliseconds);
  Pair(json, "count", event.occurrences);
  Pair(json, "severity_id", BySeverity<std::int64_t>(event, 5, 3, 1));
  Pair(json, "severity", BySeverity(event, "Critical", "Medium", "Informational"));
  Pair(json, "status_id", activity);
  Pair(json, "status", activity == 1 ? "New" : "In Progress");
  Pair(json, "action_id", action);
  Pair(json, "disposition_id", action);
  Pair(json, "message", title);
  json.Key("metadata").BeginObject();
  Pair(json, "version", "1.3.0");
  Pair(json, "uid", event.uid);
  json.Key("profiles").BeginArray().Value("security_control").EndArray();
  json.Key("product").BeginObject();
  Pair(json, "name", kProduct);
  Pair(json, "vendor_name", kProduct);
  Pair(json, "version", event.version);
  json.EndObject().EndObject();
  json.Key("finding_info").BeginObject();
  Pair(json, "uid", event.uid);
  Pair(json, "title", title);
  json.Key("types").BeginArray().Value(std::string_view(event.kind)).EndArray();
  Pair(json, "created_time", event.first.milliseconds);
  Pair(json, "first_seen_time", event.first.milliseconds);
  Pair(json, "last_seen_time", event.last.milliseconds);
  json.EndObject();
  json.Key("evidences").BeginArray().BeginObject();
  json.Key("actor").BeginObject();
  PutUser(json, event);
  json.Key("session").BeginObject();
  Pair(json, "uid", event.session);
  json.EndObject().EndObject();
  if (!event.address.empty()) {
    json.Key("src_endpoint").BeginObject();
    Pair(json, "ip", event.address);
    json.EndObject();
  }
  json.Key("database").BeginObject();
  Pair(json, "name", event.database);
  Pair(json, "type_id", std::int64_t{1});
  json.EndObject();
  json.Key("data").Raw(event.detail).EndObject().EndArray();
  json.Key("unmapped").BeginObject();
  PutOwn(json, event);
  json.EndObject().EndObject();
  return json.text();
}

std::string Ecs(const AlertEvent& event) {
  JsonWriter json;
  const char* title = TitleOf(event.kind);
  const bool of_baseline = event.kind.compare(0, 8, "baseline") == 0;
  json.BeginObject();
  Pair(json, "@timestamp", event.last.iso);
  json.Key("ecs").BeginObject();
  Pair(json, "version", "8.11.0");
  json.EndObject();
  Pair(json, "message", title);
  json.Key("event").BeginObject();
  Pair(json, "kind", "alert");
  json.Key("category").BeginArray().Value("database").EndArray();
  json.Key("type").BeginArray().Value(of_baseline ? "info" : "access").EndArray();
  Pair(json, "action", event.kind);
  Pair(json, "id", event.uid);
  Pair(json, "start", event.first.iso);
  Pair(json, "end", event.last.iso);
  Pair(json, "outcome", event.blocked ? "failure" : "success");
  json.Key("risk_score").Value(event.score);
  Pair(json, "severity", BySeverity<std::int64_t>(event, 73, 47, 21));
  Pair(json, "module", kProduct);
  Pair(json, "dataset", "privacy_score.alerts");
  Pair(json, "provider", kProduct);
  json.EndObject();
  PutUser(json, event);
  if (!event.address.empty()) {
    json.Key("source").BeginObject();
    Pair(json, "ip", event.address);
    json.EndObject();
  }
  json.Key("rule").BeginObject();
  Pair(json, "id", event.kind);
  Pair(json, "name", title);
  Pair(json, "category", "privacy");
  json.EndObject();
  json.Key("observer").BeginObject();
  Pair(json, "vendor", kProduct);
  Pair(json, "product", kProduct);
  Pair(json, "version", event.version);
  Pair(json, "type", "database");
  json.EndObject();
  json.Key("privacy_score").BeginObject();
  Pair(json, "database", event.database);
  Pair(json, "session", event.session);
  json.Key("blocked").Value(event.blocked);
  Pair(json, "occurrences", event.occurrences);
  PutOwn(json, event);
  json.Key("detail").Raw(event.detail).EndObject().EndObject();
  return json.text();
}

// A value of CEF: backslash and = are escaped, other control characters are blanks.
std::string CefEscaped(std::string_view value, std::string_view escaped) {
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n' || c == '\r') {
      text += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += ' ';
    } else {
      if (escaped.find(c) != std::string_view::npos) text += '\\';
      text += c;
    }
  }
  return text;
}

std::string Cef(const AlertEvent& event) {
  std::string line = "CEF:0|privacy_score|privacy_score|" + CefEscaped(event.version, "\\|") + '|' +
                     CefEscaped(event.kind, "\\|") + '|' + TitleOf(event.kind) + '|' +
                     TextOf(BySeverity<std::int64_t>(event, 9, 6, 3)) + '|';
  bool begins = true;
  const auto put = [&](std::string_view key, std::string_view value) {
    if (!begins) line += ' ';
    begins = false;
    line.append(key).append("=").append(CefEscaped(value, "\\="));
  };
  const auto put_custom = [&](const std::string& key, std::string_view label, std::string_view value) {
    put(key + "Label", label);
    put(key, value);
  };
  put("rt", TextOf(event.last.milliseconds));
  put("start", TextOf(event.first.milliseconds));
  put("end", TextOf(event.last.milliseconds));
  put("cnt", TextOf(event.occurrences));
  put("externalId", event.uid);
  put("suser", event.role);
  put("act", event.blocked ? "refused" : "reported");
  put_custom("cfp1", "score", TextOf(event.score));
  put_custom("cfp2", "limit", TextOf(event.limit));
  put_custom("cs1", "session", event.session);
  put_custom("cs2", "database", event.database);
  put_custom("cs3", "attributes", JsonFieldAsWritten(event.detail, "attributes").value_or(""));
  put("msg", TitleOf(event.kind));
  if (!event.end_user.empty()) put_custom("cs4", "end user", event.end_user);
  if (event.program) put_custom("cs5", "application", *event.program);
  if (event.address.find(':') != std::string::npos)
    put_custom("c6a2", "Source IPv6 Address", event.address);
  else if (!event.address.empty())
    put("src", event.address);
  return line;
}

}  // namespace

std::optional<AlertForm> AlertFormOf(std::string_view name) {
  if (name == "ocsf") return AlertForm::kOcsf;
  if (name == "ecs") return AlertForm::kEcs;
  if (name == "cef") return AlertForm::kCef;
  return std::nullopt;
}

std::string AlertEventText(AlertForm form, const AlertEvent& event) {
  if (form == AlertForm::kCef) return Cef(event);
  return form == AlertForm::kEcs ? Ecs(event) : Ocsf(event);
}

}  // namespace privacy_score
