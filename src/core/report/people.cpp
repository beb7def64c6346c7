/*
 * people.cpp - see people.hpp.
 */
#include "core/report/people.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "core/report/glossary.hpp"
#include "core/report/markup.hpp"
#include "core/report/report_sections.hpp"

namespace privacy_score {

namespace {

// Days with hints beside them make a page large; where there are many roles it does without.
constexpr std::size_t kMostHints = 3000;
// Of how many roles there are charts, and lines of the table: the worst ones. Further ones are only counted.
constexpr std::size_t kMostCharts = 24;
constexpr std::size_t kMostRoles = 400;

// A setting, as somebody has written it.
std::optional<double> LimitOf(const Field& field) {
  if (!field || field->empty()) return std::nullopt;
  const std::string text(*field);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(value >= 0)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> DayField(const Field& field) {
  if (!field) return std::nullopt;
  return ParseInteger(*field);
}

// "3 others", "1 other".
std::string Others(std::size_t count) { return std::to_string(count) + (count == 1 ? " other" : " others"); }

std::string ModeMark(const Person& person) {
  const std::string mode = person.mode.empty() ? "not watched" : person.mode;
  const char* kind = !person.standing.empty() || mode == "off" || person.mode.empty() ? " off" : "";
  return "<span class=\"chip" + std::string(kind) + "\">" + Escaped(person.standing.empty() ? mode : person.standing) +
         "</span>";
}

// What a filter of the page goes by.
std::string Flags(const Person& person) {
  std::string flags;
  if (person.open_alerts > 0) flags += "alert ";
  if (person.IsAboveLimit()) flags += "limit ";
  if (person.worst > 0) flags += "new ";
  return flags;
}

std::string BaselineText(const Person& person) {
  if (!person.baseline_from) return "none";
  return "<span class=\"day\">" + DateText(*person.baseline_from) + " to</span> <span class=\"day\">" +
         DateText(*person.baseline_to) + "</span>";
}

std::string LimitsText(const Person& person) {
  std::string html;
  if (person.daily_limit) html += "<span class=\"day\">" + ShownShort(*person.daily_limit) + " a day</span>";
  if (person.session_limit)
    html += (html.empty() ? "<span class=\"day\">" : ", <span class=\"day\">") + ShownShort(*person.session_limit) +
            " a session</span>";
  return html.empty() ? "none" : html;
}

std::string Cell(const char* label, const std::string& html, const std::string& value, const char* kind = "number") {
  return "<td class=\"" + std::string(kind) + "\" data-l=\"" + label + "\" data-v=\"" + value + "\">" + html + "</td>";
}

std::string HeatLegend(const DayScale& scale, PeopleOn of) {
  std::string html = "<span class=\"legend\"><span><i class=\"k0\"></i>0</span>";
  for (int index = 1; index <= kHeatClasses; ++index)
    html += "<span><i class=\"k" + std::to_string(index) + "\"></i>" + (index == 1 ? "up to " : "") +
            ShownShort(scale.ClassEnd(index)) + "</span>";
  html += "<span><i class=\"kbase\"></i>baseline</span>";
  if (of == PeopleOn::kServer) html += "<span><i class=\"kover\"></i>above the limit</span>";
  return html + "</span>";
}

// The limits of a role, or where it has worked.
std::string LimitsCell(const Person& person, PeopleOn of) {
  if (of == PeopleOn::kFleet) return Cell("servers", Escaped(person.mode), Escaped(person.mode), "text");
  return Cell("limits", LimitsText(person), person.daily_limit ? Shown(*person.daily_limit, 6) : "");
}

std::string Line(const Person& person, const std::string& place, const DayScale& scale, bool with_hints, PeopleOn of) {
  return "<tr id=\"" + place + "\" data-role=\"" + Escaped(person.role) + "\" data-flags=\"" + Flags(person) +
         "\"><th scope=\"row\" data-v=\"" + Escaped(person.role) + "\">" + Escaped(person.role) +
         (of == PeopleOn::kServer ? " " + ModeMark(person) : "") + "</th>" +
         Cell("highest", Shown(person.worst, 2), Shown(person.worst, 6)) + "<td class=\"days\">" +
         DayStrip(person, scale, with_hints) + "</td>" +
         Cell("open alerts",
              person.open_alerts > 0 ? "<a href=\"#alerts\">" + std::to_string(person.open_alerts) + "</a>" : "0",
              std::to_string(person.open_alerts)) +
         LimitsCell(person, of) +
         Cell("added up", Shown(person.days.back().cumulative, 2), Shown(person.days.back().cumulative, 6)) +
         Cell("new n-grams", std::to_string(person.mismatched), std::to_string(person.mismatched)) +
         Cell("statements", std::to_string(person.queries), std::to_string(person.queries)) +
         Cell("baseline", BaselineText(person), person.baseline_from ? DateText(*person.baseline_from) : "", "dates") +
         "</tr>\n";
}

std::string Table(const std::vector<Person>& people, const DayScale& scale, bool with_hints, PeopleOn of) {
  const auto header = [](const std::string& html, const char* kind) {
    return "<th scope=\"col\" class=\"" + std::string(kind) + "\">" + html + "</th>";
  };
  std::string html =
      "<table class=\"people\" id=\"people-table\"><thead><tr>" +
      header(of == PeopleOn::kFleet ? "role" : "role, " + TermLink("mode", "mode"), "text") +
      header(TermLink("score", "highest"), "number") +
      header("<span class=\"axis\"><span>" + DateText(scale.first) + "</span><span>" + DateText(scale.last) +
                 "</span></span>" + HeatLegend(scale, of),
             "days") +
      header(TermLink("alert", "open alerts"), "number") +
      (of == PeopleOn::kFleet ? header("servers", "text") : header(TermLink("limit", "limits"), "number")) +
      header(TermLink("added", "added up"), "number") + header(TermLink("ngram", "new n-grams"), "number") +
      header("statements", "number") + header(TermLink("baseline", "baseline"), "dates") + "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < std::min(people.size(), kMostRoles); ++i)
    html += Line(people[i], "p" + std::to_string(i), scale, with_hints, of);
  return html + "</tbody></table>\n";
}

std::string Limits(const Person& person, const DayScale& scale) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& limit) {
    if (!limit) return;
    text += (text.empty() ? "" : ", ") + std::string(name) + " limit " + ShownShort(*limit) +
            (IsOnScale(*limit, scale) ? "" : " (above the scale)");
  };
  add("daily", person.daily_limit);
  add("session", person.session_limit);
  return text.empty() ? "no limit" : text;
}

std::string Card(const Person& person, const std::string& place, const DayScale& scale, bool with_hints, PeopleOn of) {
  return "<figure class=\"card\" data-find data-role=\"" + Escaped(person.role) + "\" data-flags=\"" + Flags(person) +
         "\"><figcaption><a href=\"#" + place + "\">" + Escaped(person.role) + "</a> " +
         (of == PeopleOn::kServer ? ModeMark(person) : "") + "<span class=\"sub\">highest <b>" +
         Shown(person.worst, 2) + "</b>, added up " + Shown(person.days.back().cumulative, 2) + "; " +
         (of == PeopleOn::kServer ? Limits(person, scale) : "on " + Escaped(person.mode)) + "</span></figcaption>" +
         DayChart(person, scale, with_hints) + "</figure>\n";
}

// One without an end is none here.
void TakeBaseline(Person& person, const Field& from_day, const Field& to_day) {
  person.baseline_from = to_day ? DayField(from_day) : std::nullopt;
  person.baseline_to = from_day ? DayField(to_day) : std::nullopt;
}

// What holds for all of the role.
void TakeOfRole(Person& person, const Row& row) {
  using Column = RoleSection;
  person.mode = TextOrNothing(row[Column::kMode]);
  person.standing = person.standing_of_role = TextOrNothing(row[Column::kStanding]);
  person.session_limit = LimitOf(row[Column::kSessionLimit]);
  person.daily_limit = LimitOf(row[Column::kDailyLimit]);
  if (!person.end_user) person.open_alerts = ParseInteger(Required(row[Column::kOpenAlerts]));
  TakeBaseline(person, row[Column::kFromDay], row[Column::kToDay]);
}

// What is the end user's own.
void TakeOfEndUser(Person& person, const Row& row) {
  using Column = EndUserSection;
  if (row[Column::kSessionLimit]) person.session_limit = LimitOf(row[Column::kSessionLimit]);
  if (row[Column::kDailyLimit]) person.daily_limit = LimitOf(row[Column::kDailyLimit]);
  person.open_alerts = ParseInteger(Required(row[Column::kOpenAlerts]));
  if (row[Column::kFromDay]) TakeBaseline(person, row[Column::kFromDay], row[Column::kToDay]);
  // Where the role may read nothing nor does any of them.
  if (row[Column::kLabel] && person.standing != "dp only") person.standing = *row[Column::kLabel];
}

std::string ChartLegend(PeopleOn of) {
  std::string html = "<span class=\"legend\"><span><i class=\"kbar\"></i>score of a day</span>";
  if (of == PeopleOn::kServer)
    html += "<span><i class=\"kline\"></i>daily limit</span><span><i class=\"kdash\"></i>session limit</span>";
  return html + "<span><i class=\"kbase\"></i>days of the baseline</span></span>";
}

}  // namespace

std::vector<Person> PeopleOf(const std::vector<Row>& days, const std::vector<Row>& roles,
                             const std::vector<Row>& end_users) {
  std::vector<Person> people;
  for (const Row& row : days) {
    const std::string_view role = Required(row[ScoredDaySection::kRole]);
    const Field& end_user = row[ScoredDaySection::kEndUser];
    if (people.empty() || people.back().of_role != role || people.back().end_user != end_user) {
      people.emplace_back();
      people.back().role = people.back().of_role = std::string(role);
      if (end_user) {
        people.back().end_user = std::string(*end_user);
        people.back().role += " / " + *people.back().end_user;
      }
    }
    Person& person = people.back();
    const DayOfScore day = DayOf(row);
    person.worst = std::max(person.worst, day.score);
    person.queries += day.queries;
    person.mismatched += day.mismatched;
    person.days.push_back(day);
  }
  std::map<std::string, const Row*> by_role;
  for (const Row& row : roles) by_role.emplace(Required(row[RoleSection::kRole]), &row);
  std::map<std::pair<std::string, std::string>, const Row*> by_end_user;
  for (const Row& row : end_users)
    by_end_user.emplace(std::pair(Required(row[EndUserSection::kRole]), Required(row[EndUserSection::kEndUser])), &row);
  for (Person& person : people) {
    const auto of_role = by_role.find(person.of_role);
    if (of_role != by_role.end()) TakeOfRole(person, *of_role->second);
    const auto own = by_end_user.find({person.of_role, person.end_user.value_or("")});
    if (person.end_user && own != by_end_user.end()) TakeOfEndUser(person, *own->second);
  }
  std::stable_sort(people.begin(), people.end(), [](const Person& a, const Person& b) { return a.worst > b.worst; });
  return people;
}

bool HasEndUsers(const std::vector<Person>& people) {
  return std::any_of(people.begin(), people.end(), [](const Person& person) { return person.end_user.has_value(); });
}

const char* AtWork(const std::vector<Person>& people) {
  if (HasEndUsers(people)) return people.size() == 1 ? "end user at work" : "roles and end users at work";
  return people.size() == 1 ? "role at work" : "roles at work";
}

std::string PlaceOf(const std::vector<Person>& people, std::string_view role) {
  for (std::size_t i = 0; i < std::min(people.size(), kMostRoles); ++i)
    if (people[i].role == role) return "p" + std::to_string(i);
  return {};
}

void WritePeople(HtmlPage& page, const std::vector<Person>& people, PeopleOn of) {
  if (people.empty()) {
    page.Note("No work is recorded in this time.");
    return;
  }
  std::vector<const DaysOfRole*> roles;
  std::size_t days = 0, charts = 0;
  for (const Person& person : people) {
    roles.push_back(&person);
    days += person.days.size();
    charts += person.worst > 0 ? 1 : 0;
  }
  const DayScale scale = ScaleOf(roles);
  const bool with_hints = days <= kMostHints;
  page.Note(std::string("One line a role") + (HasEndUsers(people) ? " and end user" : "") +
            ", one box a day, all on one scale: the stronger its colour, the higher the score of the day.");
  page.Block(Table(people, scale, with_hints, of));
  if (people.size() > kMostRoles)
    page.Note("And " + Others(people.size() - kMostRoles) + ", whose days scored no higher. " +
              (of == PeopleOn::kServer ? "report()" : "fleet_report()") + " of one role shows it by itself.");
  page.LegendPart("Day by day, on one scale", ChartLegend(of));
  if (charts == 0) page.Note("No day has a score above 0.");
  std::string cards;
  for (std::size_t i = 0; i < std::min(charts, kMostCharts); ++i)
    cards += Card(people[i], "p" + std::to_string(i), scale, with_hints, of);
  if (!cards.empty()) page.Block("<div class=\"cards\" id=\"cards\">\n" + cards + "</div>\n");
  if (charts > kMostCharts)
    page.Note("Charts are of the " + std::to_string(kMostCharts) + " roles with the highest scores of a day; " +
              Others(charts - kMostCharts) + " had new n-grams, too: see the table.");
  page.EndPart();
}

}  // namespace privacy_score
