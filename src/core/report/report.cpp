/*
 * report.cpp - see report.hpp.
 */
#include "core/report/report.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/readable.hpp"
#include "core/base/rows.hpp"
#include "core/report/html_page.hpp"
#include "core/report/markup.hpp"
#include "core/report/score_chart.hpp"

namespace privacy_score {

namespace {

// Days with hints beside them make a page large; where there are many roles it does without.
constexpr std::size_t kMostHints = 3000;
// Of how many roles there are charts, and lines of the table: the worst ones. Further ones are only counted.
constexpr std::size_t kMostCharts = 24;
constexpr std::size_t kMostRoles = 400;

std::string TextOrNothing(const Field& field) { return field ? std::string(*field) : std::string(); }

// Columns of the sections, in their order.
enum Fact { kDatabase, kUser, kVersion, kMadeAt, kFromDay, kToDay, kRole, kMode, kFacts };

struct RoleDays {
  std::string role;
  std::vector<DayOfScore> days;
  double worst = 0;
  std::int64_t queries = 0;
  std::int64_t mismatched = 0;
};

// Rows as DayOf() reads them, sorted by role and day. The worst roles first.
std::vector<RoleDays> DaysByRole(const std::vector<Row>& rows) {
  std::vector<RoleDays> roles;
  for (const Row& row : rows) {
    if (roles.empty() || roles.back().role != *row[0]) roles.push_back({std::string(*row[0]), {}, 0, 0, 0});
    RoleDays& role = roles.back();
    const DayOfScore day = DayOf(row);
    role.worst = std::max(role.worst, day.score);
    role.queries += day.queries;
    role.mismatched += day.mismatched;
    role.days.push_back(day);
  }
  std::stable_sort(roles.begin(), roles.end(), [](const RoleDays& a, const RoleDays& b) { return a.worst > b.worst; });
  return roles;
}

// "3 others", "1 other".
std::string Others(std::size_t count) { return std::to_string(count) + (count == 1 ? " other" : " others"); }

// Rows of fields whose texts live elsewhere.
std::vector<Row> RowsOf(const std::vector<std::vector<std::string>>& texts) {
  std::vector<Row> rows;
  for (const auto& text : texts) rows.emplace_back(text.begin(), text.end());
  return rows;
}

class Report {
 public:
  explicit Report(std::string_view wire)
      : reader_(wire), facts_(Facts()), roles_(DaysByRole(reader_.Section(7))), page_(Title()) {}
  std::string Make();

 private:
  Row Facts();
  std::string Title() const { return "Privacy report of " + TextOrNothing(facts_[kDatabase]); }
  void Head();
  void Scores();
  void Sessions();
  void Alerts();
  void Relations();
  void Counts();
  void Releases();
  void State();

  WireReader reader_;
  Row facts_;
  std::vector<RoleDays> roles_;
  HtmlPage page_;
};

Row Report::Facts() {
  std::vector<Row> rows = reader_.Section(kFacts);
  if (rows.size() != 1) throw Error("XX001", "the facts of a report are not one row");
  return rows.front();
}

std::string Report::Make() {
  Head();
  Scores();
  Sessions();
  Alerts();
  Relations();
  Counts();
  Releases();
  State();
  return page_.Finish(
      "Made by privacy_score " + TextOrNothing(facts_[kVersion]) + " at " + TextOrNothing(facts_[kMadeAt]) +
      ". A score is a measure, not a verdict: a low one does not prove that nothing went wrong, and a "
      "high one may be new, legitimate work. No constant of a statement and no value of a protected table is "
      "on this page.");
}

void Report::Head() {
  std::string lead = "Work from " + TextOrNothing(facts_[kFromDay]) + " to " + TextOrNothing(facts_[kToDay]);
  if (facts_[kRole]) lead += " of role " + TextOrNothing(facts_[kRole]);
  lead += ", as " + TextOrNothing(facts_[kUser]) + " may see it. Mode: " + TextOrNothing(facts_[kMode]) + ".";
  page_.Lead(lead);
  std::int64_t queries = 0;
  double worst = 0;
  for (const RoleDays& role : roles_) {
    queries += role.queries;
    worst = std::max(worst, role.worst);
  }
  std::vector<PageTile> tiles = {{std::to_string(roles_.size()), roles_.size() == 1 ? "role at work" : "roles at work"},
                                 {std::to_string(queries), "statements"},
                                 {Shown(worst, 2), "highest score of a day"}};
  // value, meaning, whether it is alarming
  for (const Row& row : reader_.Section(3))
    tiles.push_back({TextOrNothing(row[0]), TextOrNothing(row[1]), row[2] && ParseBool(*row[2])});
  page_.Tiles(tiles);
}

void Report::Scores() {
  page_.Section("scores", "Scores, day by day");
  // role, first and last day of the baseline, its n-grams
  std::map<std::string, Row, std::less<>> baselines;
  const std::vector<Row> baseline_rows = reader_.Section(4);
  for (const Row& row : baseline_rows) baselines.emplace(TextOrNothing(row[0]), row);
  if (roles_.empty()) {
    page_.Note("No work is recorded in this time.");
    return;
  }
  page_.Note(
      "The score of a day adds up what the role's new n-grams of statements tell beyond the nearest usual ones, and "
      "how "
      "unusual their columns are. Cumulative: since the first day, each new n-gram paid once. Maximum: what the day "
      "could "
      "score at most.");
  const std::size_t charts = static_cast<std::size_t>(
      std::count_if(roles_.begin(), roles_.end(), [](const RoleDays& role) { return role.worst > 0; }));
  std::size_t days = 0;
  for (std::size_t i = 0; i < std::min(charts, kMostCharts); ++i) days += roles_[i].days.size();
  for (std::size_t i = 0; i < std::min(charts, kMostCharts); ++i)
    page_.Figure(ScoreChart(roles_[i].role, roles_[i].days, Placement::kInPage, days <= kMostHints));
  if (charts > kMostCharts)
    page_.Note("Charts are of the " + std::to_string(kMostCharts) + " roles with the highest scores of a day; " +
               Others(charts - kMostCharts) + " had new n-grams, too: see the table.");
  std::vector<std::vector<std::string>> texts;
  for (std::size_t i = 0; i < std::min(roles_.size(), kMostRoles); ++i) {
    const RoleDays& role = roles_[i];
    const auto baseline = baselines.find(role.role);
    const bool has = baseline != baselines.end();
    texts.push_back({role.role, std::to_string(role.days.size()), std::to_string(role.queries),
                     std::to_string(role.mismatched), Shown(role.worst, 2), Shown(role.days.back().cumulative, 2),
                     has ? TextOrNothing(baseline->second[1]) + " to " + TextOrNothing(baseline->second[2]) : "none",
                     has ? TextOrNothing(baseline->second[3]) : ""});
  }
  page_.Part("Roles");
  page_.Table({{"role", CellKind::kShort},
               {"days", CellKind::kNumber},
               {"statements", CellKind::kNumber},
               {"new n-grams", CellKind::kNumber},
               {"highest score", CellKind::kNumber},
               {"cumulative", CellKind::kNumber},
               {"baseline", CellKind::kShort},
               {"its n-grams", CellKind::kNumber}},
              RowsOf(texts));
  if (roles_.size() > kMostRoles)
    page_.Note("And " + Others(roles_.size() - kMostRoles) +
               ", whose days scored no higher. report() of one role shows it by itself.");
}

void Report::Sessions() {
  page_.Section("sessions", "Sessions, the worst first");
  const std::vector<Row> sessions = reader_.Section(9);
  const std::vector<Row> ngrams = reader_.Section(7);
  if (sessions.empty()) {
    page_.Note("No session has a score above 0.");
    return;
  }
  page_.Table({{"score", CellKind::kNumber},
               {"day", CellKind::kShort},
               {"role", CellKind::kShort},
               {"session", CellKind::kShort},
               {"of at most", CellKind::kNumber},
               {"statements", CellKind::kNumber},
               {"new n-grams", CellKind::kNumber},
               {"rows read", CellKind::kNumber},
               {"persons", CellKind::kNumber}},
              sessions);
  page_.Part("Why: the dearest n-grams of these days");
  page_.Note(
      "What was asked after what, as the columns it reads; the n-gram of the role's baseline that is nearest to it; "
      "and the "
      "columns that are new beyond that.");
  std::vector<std::vector<std::string>> texts;
  for (const Row& row : ngrams) {
    std::string attributes;
    const std::string names = TextOrNothing(row[6]);
    for (const std::string_view name : LinesOf(names))
      attributes += (attributes.empty() ? "" : "\n") + std::string(ShortName(name, 2));
    texts.push_back({TextOrNothing(row[0]), TextOrNothing(row[1]), TextOrNothing(row[2]), TextOrNothing(row[3]),
                     ReadableNGram(TextOrNothing(row[4])), ReadableNGram(TextOrNothing(row[5])), attributes});
  }
  page_.Table({{"day", CellKind::kShort},
               {"role", CellKind::kShort},
               {"score", CellKind::kNumber},
               {"times", CellKind::kNumber},
               {"statement after statement", CellKind::kCode},
               {"nearest usual one", CellKind::kCode},
               {"new columns", CellKind::kCode}},
              RowsOf(texts));
}

void Report::Alerts() {
  page_.Section("alerts", "Alerts");
  const std::vector<Row> alerts = reader_.Section(9);
  if (alerts.empty()) {
    page_.Note("None in this time.");
    return;
  }
  page_.Table({{"at", CellKind::kShort},
               {"role", CellKind::kShort},
               {"kind"},
               {"severity", CellKind::kMark},
               {"score", CellKind::kNumber},
               {"limit", CellKind::kNumber},
               {"times", CellKind::kNumber},
               {"refused", CellKind::kMark},
               {"seen by", CellKind::kCode}},
              alerts);
}

void Report::Relations() {
  page_.Section("relations", "Protected tables");
  // relation, subject, columns, labelled, statistics of, remark
  const std::vector<Row> relations = reader_.Section(6);
  // relation, column, label, distinct values, entropy, rate, unique values
  const std::vector<Row> risks = reader_.Section(7);
  // relation, drawing
  const std::vector<Row> charts = reader_.Section(2);
  if (relations.empty()) {
    page_.Note("No table is protected: see privacy_score.protect().");
    return;
  }
  page_.Table({{"table", CellKind::kShort},
               {"a person is", CellKind::kCode},
               {"columns", CellKind::kNumber},
               {"labelled", CellKind::kNumber},
               {"statistics of", CellKind::kShort},
               {"remark"}},
              relations);
  page_.Note(
      "Discrimination rate: the part of the uncertainty about who is who that a column takes away; 1 identifies "
      "everybody. "
      "Unique: values that occur once.");
  for (const Row& relation : relations) {
    std::vector<Row> rows;
    for (const Row& risk : risks)
      if (risk[0] == relation[0]) rows.emplace_back(risk.begin() + 1, risk.end());
    const auto chart =
        std::find_if(charts.begin(), charts.end(), [&](const Row& row) { return row[0] == relation[0]; });
    if (rows.empty() && chart == charts.end()) continue;
    page_.Part(TextOrNothing(relation[0]));
    if (!rows.empty())
      page_.Table({{"column", CellKind::kShort},
                   {"label"},
                   {"distinct", CellKind::kNumber},
                   {"entropy, bits", CellKind::kNumber},
                   {"discrimination rate", CellKind::kShare},
                   {"unique", CellKind::kNumber}},
                  rows);
    if (chart != charts.end() && (*chart)[1]) page_.Figure(*(*chart)[1]);
  }
}

void Report::Counts() {
  page_.Section("counts", "Noisy counts");
  const std::vector<Row> budgets = reader_.Section(8);
  const std::vector<Row> answers = reader_.Section(7);
  if (budgets.empty()) {
    page_.Note("No budgets that you may see.");
  } else {
    page_.Table({{"role", CellKind::kShort},
                 {"table", CellKind::kShort},
                 {"spent", CellKind::kShare},
                 {"epsilon", CellKind::kNumber},
                 {"left", CellKind::kNumber},
                 {"period"},
                 {"full again", CellKind::kShort},
                 {"whom it protects", CellKind::kCode}},
                budgets);
  }
  if (answers.empty()) return;
  page_.Part("The newest answers");
  page_.Table({{"at", CellKind::kShort},
               {"role", CellKind::kShort},
               {"table", CellKind::kShort},
               {"kind"},
               {"epsilon", CellKind::kNumber},
               {"times", CellKind::kNumber},
               {"question, without constants", CellKind::kCode}},
              answers);
}

void Report::Releases() {
  page_.Section("releases", "Published tables");
  const std::vector<Row> releases = reader_.Section(8);
  if (releases.empty()) {
    page_.Note("None that you may read.");
    return;
  }
  page_.Note(
      "Second tables of releases. Likeliest value: the greatest probability with which any value of any bucket can be "
      "told; "
      "loss: sum of (size - 1) squared over the buckets.");
  page_.Table({{"table", CellKind::kShort},
               {"buckets", CellKind::kNumber},
               {"values", CellKind::kNumber},
               {"smallest", CellKind::kNumber},
               {"largest", CellKind::kNumber},
               {"loss", CellKind::kNumber},
               {"likeliest value", CellKind::kShare},
               {"what it is"}},
              releases);
}

void Report::State() {
  page_.Section("state", "State of the watcher");
  page_.Table({{"what"}, {"now", CellKind::kCode}}, reader_.Section(2));
}

}  // namespace

std::string ReportPage(std::string_view wire) { return Report(wire).Make(); }

}  // namespace privacy_score
