/*
 * alert_list.cpp - see alert_list.hpp.
 */
#include "core/report/alert_list.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "core/report/glossary.hpp"
#include "core/report/markup.hpp"
#include "core/report/statement_pair.hpp"

namespace privacy_score {

namespace {

enum AlertField {
  kId,
  kAt,
  kLastAt,
  kRole,
  kKind,
  kSeverity,
  kScore,
  kLimit,
  kTimes,
  kRefused,
  kSession,
  kSeenBy,
  kSeenAt,
  kNGram,
  kNearest,
  kAttributes,
  kCause,
  kFrom,
  kNewContext,
  kReason,
  kServer,
  kPending
};

// Of how many new columns the first line of an alert tells the names.
constexpr std::size_t kMostColumns = 4;

struct Wording {
  std::string_view kind;
  std::string_view cause;  // empty for any
  const char* words;
};

constexpr Wording kWordings[] = {
    {"session", "", "score of a session above its limit"},
    {"daily", "", "score of a day above its limit"},
    {"normalised", "", "share of the maximum above its limit"},
    {"ngram", "", "one statement above the alert level"},
    {"reach", "reach", "one statement with more constants than usual"},
    {"reach", "subjects", "asked about more people than usual"},
    {"reach", "subject_columns", "more columns of one person than usual"},
    {"dp_only", "", "read what the role may only count"},
    {"fault", "", "a statement could not be scored"},
    {"memory", "", "a session could not be recorded to its end"},
    {"end_user", "ignored", "named an end user without speaking for others"},
    {"end_user", "invalid", "the name of an end user is not valid"},
    {"end_user", "overflow", "more end users than there is room to tell apart"},
    {"unusual", "tokens", "what a session does is new to its role"},
    {"unusual", "tokens_max", "a statement is unlike any of the role's"},
    {"unusual", "unknown", "much of what a session does is new"},
    {"unusual", "filters", "searched by what the role never searches by"},
    {"unusual", "other_roles", "ran statements of other roles"},
    {"unusual", "new_columns", "showed columns that the role never shows"},
    {"unusual", "new_runs", "ran unusually often what is new to the role"},
    {"unusual", "new_repeats", "one new statement ran unusually often"},
    {"unusual", "addressed", "one statement addressed unusually many people"},
    {"unusual", "person", "asked unusually much about one person"},
    {"unusual", "known", "came to know unusually much about one person"},
    {"unusual", "differ", "asked for differences that single out one record"},
    {"unusual", "repeats", "one statement ran unusually often"},
    {"unusual", "volume", "one statement returned unusually many rows"},
    {"drip", "new_drip", "a little that is new to the role, session after session"},
    {"drip", "", "a little unusual, session after session"},
    {"break_glass", "", "above a limit, let pass by break_glass"},
    {"exempt", "", "an exempt role read personal data"},
    {"baseline_outlier", "", "a day of the baseline stands out"},
    {"baseline_small", "", "a baseline of few sessions"},
};

std::string_view Text(const Row& alert, AlertField field) {
  const Field& text = alert[field];
  return text ? *text : std::string_view();
}

std::string What(const Row& alert) {
  const auto wording = std::find_if(std::begin(kWordings), std::end(kWordings), [&](const Wording& each) {
    return each.kind == Text(alert, kKind) && (each.cause.empty() || each.cause == Text(alert, kCause));
  });
  return wording == std::end(kWordings) ? Escaped(Text(alert, kKind)) : wording->words;
}

// The figure beside its limit: "6.71, limit 1.5".
std::string Figure(const Row& alert) {
  if (Text(alert, kScore).empty()) return {};
  const std::string_view kind = Text(alert, kKind);
  if (kind == "dp_only" || kind == "fault" || kind == "memory" || kind == "exempt") return {};
  return "<b>" + Escaped(Text(alert, kScore)) + "</b>, " +
         (kind == "reach" || kind.substr(0, 8) == "baseline" ? "usual up to " : "limit ") +
         Escaped(Text(alert, kLimit));
}

std::string Why(const Row& alert) {
  if (Text(alert, kCause) == "others") return "further causes of this kind together";
  if (!Text(alert, kReason).empty()) return Escaped(Text(alert, kReason));
  if (!Text(alert, kAttributes).empty()) return "new: " + Escaped(NewColumns(Text(alert, kAttributes), kMostColumns));
  if (!Text(alert, kNGram).empty()) return "known columns in statements that are new";
  if (Text(alert, kKind).substr(0, 8) == "baseline") return "baseline of " + Escaped(Text(alert, kCause));
  return {};
}

// What acknowledges it; a name that has a quote is a literal of SQL all the same.
std::string Acknowledging(const Row& alert) {
  const std::string id = Escaped(Text(alert, kId));
  if (!alert[kServer]) return "acknowledge_alert(" + id + ")";
  std::string server;
  for (const char c : *alert[kServer]) server += c == '\'' ? std::string("''") : std::string(1, c);
  return "fleet_acknowledge('" + Escaped(server) + "', " + id + ")";
}

std::string Since(const Row& alert) {
  std::string html = "since <time>" + Escaped(Text(alert, kAt)) + "</time>";
  if (!Text(alert, kTimes).empty() && Text(alert, kTimes) != "1")
    html += "<span class=\"soft\">" + Escaped(Text(alert, kTimes)) + " times, last " + Escaped(Text(alert, kLastAt)) +
            "</span>";
  if (alert[kPending] && !alert[kSeenAt]) html += "<span class=\"soft\">acknowledgement is pending</span>";
  return html;
}

std::string Severity(std::string_view severity, bool refused) {
  const char* sign = severity == "critical" ? "&#9650;" : severity == "warning" ? "&#9670;" : "&#9679;";
  return "<span class=\"sign\" aria-hidden=\"true\">" + std::string(sign) + "</span> " + Escaped(severity) +
         (refused ? "<span class=\"soft\">refused</span>" : "");
}

std::string SeverityClass(std::string_view severity) {
  return severity == "critical" ? "critical" : severity == "warning" ? "warning" : "info";
}

std::string Behind(const Row& alert, const std::vector<Person>& people) {
  std::string html = "<div class=\"behind\">";
  html += Text(alert, kNGram).empty()
              ? "<p class=\"none\">No statement belongs to an alert of this kind.</p>"
              : StatementPair(Text(alert, kNGram), Text(alert, kNearest), Text(alert, kAttributes));
  html += "<p class=\"soft\">Alert " + Escaped(Text(alert, kId));
  if (alert[kServer]) html += " of " + Escaped(*alert[kServer]);
  if (!Text(alert, kSession).empty())
    html += ", " + TermLink("session", "session") + " " + Escaped(Text(alert, kSession));
  const std::string place = PlaceOf(people, Text(alert, kRole));
  if (!place.empty()) html += ", <a href=\"#" + place + "\">the days of this role</a>";
  html += ". ";
  if (!Text(alert, kFrom).empty()) html += "It came from " + Escaped(Text(alert, kFrom)) + ". ";
  if (!Text(alert, kNewContext).empty())
    html += "<b>The baseline has never had: " + Escaped(Text(alert, kNewContext)) + ".</b> ";
  if (alert[kSeenAt])
    html += "Seen by " + Escaped(Text(alert, kSeenBy)) + " at " + Escaped(Text(alert, kSeenAt)) + ".";
  else if (alert[kPending])
    html += "<b>It is acknowledged here, and the member has not heard of it yet.</b>";
  else
    html += "When it is dealt with: <code>SELECT privacy_score." + Acknowledging(alert) + ";</code>";
  return html + "</p></div>";
}

std::string Item(const Row& alert, const std::vector<Person>& people) {
  return "<details class=\"alert " + SeverityClass(Text(alert, kSeverity)) + "\" data-find data-role=\"" +
         Escaped(Text(alert, kRole)) + "\"><summary><span class=\"severity\">" +
         Severity(Text(alert, kSeverity), alert[kRefused].has_value()) + "</span><span class=\"who\">" +
         Escaped(Text(alert, kRole)) +
         (alert[kServer] ? "<span class=\"soft\">on " + Escaped(*alert[kServer]) + "</span>" : "") +
         "</span><span class=\"what\">" + What(alert) + "<span class=\"soft\">" + Figure(alert) +
         "</span></span><span class=\"why\">" + Why(alert) + "</span><span class=\"since\">" + Since(alert) +
         "</span></summary>" + Behind(alert, people) + "</details>\n";
}

void WriteList(HtmlPage& page, const std::vector<Row>& alerts, bool open, std::int64_t total,
               const std::vector<Person>& people) {
  std::string items;
  std::int64_t listed = 0;
  const bool of_fleet = !alerts.empty() && alerts.front()[kServer];
  for (const Row& alert : alerts) {
    if (alert[kSeenAt].has_value() == open) continue;
    items += Item(alert, people);
    ++listed;
  }
  if (!items.empty()) page.Block("<div class=\"alerts\">\n" + items + "</div>\n");
  if (total > listed)
    page.Note("And " + std::to_string(total - listed) + " more: SELECT * FROM privacy_score." +
              (of_fleet ? "fleet_alerts." : "alerts."));
}

}  // namespace

void WriteAlerts(HtmlPage& page, const std::vector<Row>& alerts, const Row& totals, const std::vector<Person>& people) {
  const std::int64_t open = ParseInteger(Required(totals[0]));
  const std::int64_t seen = ParseInteger(Required(totals[2]));
  const std::int64_t before = ParseInteger(Required(totals[3]));
  if (open == 0)
    page.Note("No alert of this time is open.");
  else
    page.Note("Open each for the statement beside the nearest usual one. The worst first.");
  WriteList(page, alerts, true, open, people);
  if (before > 0)
    page.Note(std::to_string(before) + (before == 1 ? " alert" : " alerts") + " of before this time " +
              (before == 1 ? "is" : "are") + " open, too: a report from an earlier day has them.");
  page.Part("Alerts that somebody has seen");
  if (seen == 0) page.Note("None in this time.");
  WriteList(page, alerts, false, seen, people);
}

}  // namespace privacy_score
