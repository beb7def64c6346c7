/*
 * report.cpp - see report.hpp.
 */
#include "core/report/report.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/alert_list.hpp"
#include "core/report/html_page.hpp"
#include "core/report/markup.hpp"
#include "core/report/people.hpp"
#include "core/report/reasons.hpp"
#include "core/report/report_sections.hpp"

namespace privacy_score {

namespace {

// Columns of the sections, in their order.
enum Fact { kDatabase, kUser, kVersion, kMadeAt, kFromDay, kToDay, kOfRole, kUnwatched, kFacts };

class Report {
 public:
  explicit Report(std::string_view wire) : reader_(wire), facts_(OnlyRow(reader_, kFacts)), page_(Title()) {}
  std::string Make();

 private:
  std::string Title() const { return "Privacy report of " + TextOrNothing(facts_[kDatabase]); }
  void Head(const std::vector<Row>& tiles, const Row& alerts);
  std::string Modes() const;
  void Accepted(const std::vector<Row>& accepted);
  void Sessions(const std::vector<Row>& sessions, const std::vector<Row>& ngrams);
  void Relations();
  void Counts();
  void Releases();
  void State();

  WireReader reader_;
  Row facts_;
  std::vector<Person> people_;
  HtmlPage page_;
};

std::string Report::Make() {
  const std::vector<Row> days = reader_.Section(ScoredDaySection::kColumns);
  const std::vector<Row> tiles = reader_.Section(TileSection::kColumns);
  const Row totals = OnlyRow(reader_, AlertTotalSection::kColumns);
  const std::vector<Row> roles = reader_.Section(RoleSection::kColumns);
  people_ = PeopleOf(days, roles, reader_.Section(EndUserSection::kColumns));
  const std::vector<Row> sessions = reader_.Section(WorstSessionSection::kColumns);
  const std::vector<Row> ngrams = reader_.Section(WorstNGramSection::kColumns);
  const std::vector<Row> alerts = reader_.Section(kAlertFields);
  const std::vector<Row> accepted = reader_.Section(7);
  Head(tiles, totals);
  page_.Section("alerts", "Open alerts");
  WriteAlerts(page_, alerts, totals, people_);
  Accepted(accepted);
  page_.Section("people", "People");
  WritePeople(page_, people_);
  Sessions(sessions, ngrams);
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

// How many roles are in which mode: "5 observe, 1 warn".
std::string Report::Modes() const {
  std::map<std::string, std::size_t> modes;
  std::set<std::string> counted;
  for (const Person& person : people_)
    if (counted.insert(person.of_role).second) ++modes[person.ModeOfRole()];
  std::string text;
  for (const auto& [mode, count] : modes)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + (mode.empty() ? "not watched" : mode);
  return text;
}

void Report::Head(const std::vector<Row>& tiles, const Row& alerts) {
  std::string lead = "Work from " + TextOrNothing(facts_[kFromDay]) + " to " + TextOrNothing(facts_[kToDay]);
  if (facts_[kOfRole]) lead += " of role " + TextOrNothing(facts_[kOfRole]);
  lead += ", as " + TextOrNothing(facts_[kUser]) + " may see it.";
  if (facts_[kUnwatched])
    lead += " Nothing is watched: " + TextOrNothing(facts_[kUnwatched]) + ".";
  else if (!people_.empty())
    lead += " Modes of the roles: " + Modes() + ".";
  page_.Lead(lead);
  std::int64_t queries = 0;
  double worst = 0;
  for (const Person& person : people_) {
    queries += person.queries;
    worst = std::max(worst, person.worst);
  }
  const std::int64_t critical = ParseInteger(Required(alerts[AlertTotalSection::kCritical]));
  std::vector<PageTile> shown = {{TextOrNothing(alerts[AlertTotalSection::kOpen]),
                                  "open alerts, " + std::to_string(critical) + " critical", critical > 0, "alerts"},
                                 {std::to_string(people_.size()), AtWork(people_), false, "people"},
                                 {Shown(worst, 2), "highest score of a day", false, "people"},
                                 {std::to_string(queries), "statements"}};
  for (const Row& row : tiles) {
    const Field& alarming = row[TileSection::kAlarming];
    shown.push_back({TextOrNothing(row[TileSection::kValue]), TextOrNothing(row[TileSection::kMeaning]),
                     alarming && ParseBool(*alarming)});
  }
  page_.Tiles(shown);
}

// Rows of for whom, state, what, why, by whom, since, until.
void Report::Accepted(const std::vector<Row>& accepted) {
  if (accepted.empty()) return;
  page_.Part("Accepted: what raises no alarm any more");
  page_.Table({{"for", CellKind::kShort},
               {"state", CellKind::kMark},
               {"what"},
               {"why"},
               {"by", CellKind::kShort},
               {"since", CellKind::kShort},
               {"until", CellKind::kShort}},
              accepted, "", 0);
}

void Report::Sessions(const std::vector<Row>& sessions, const std::vector<Row>& ngrams) {
  page_.Section("sessions", "Sessions, the worst first");
  std::vector<PageColumn> columns = {{"score", CellKind::kNumber, "score"},
                                     {"day", CellKind::kShort},
                                     {"role", CellKind::kShort},
                                     {"session", CellKind::kShort, "session"},
                                     {"of at most", CellKind::kNumber, "maximum"},
                                     {"statements", CellKind::kNumber},
                                     {"new n-grams", CellKind::kNumber, "ngram"},
                                     {"rows read", CellKind::kNumber},
                                     {"persons", CellKind::kNumber, "persons"}};
  // Of end users with a baseline of their own.
  if (std::any_of(sessions.begin(), sessions.end(),
                  [](const Row& row) { return row[WorstSessionSection::kPeerScore].has_value(); }))
    columns.push_back({"by peers", CellKind::kNumber, "peers"});
  page_.Table(columns, sessions, "No session has a score above 0.", 3);
  if (!sessions.empty())
    page_.Note(
        "A session bears the name that the server's log has for it, or that an import gave it. pg_stat_statements with "
        "a number is one statement of that view, by its queryid, and no connection.");
  if (!ngrams.empty()) WriteReasons(page_, "Why: the dearest n-grams of these days", ngrams);
}

void Report::Relations() {
  page_.Section("relations", "Protected tables");
  // relation, subject, columns, labelled, statistics of, remark
  const std::vector<Row> relations = reader_.Section(6);
  // relation, column, label, distinct values, entropy, rate, unique values
  const std::vector<Row> risks = reader_.Section(7);
  const std::vector<Row> charts = reader_.Section(RelationChartSection::kColumns);
  page_.Table({{"table", CellKind::kShort, "protected"},
               {"a person is", CellKind::kCode},
               {"columns", CellKind::kNumber},
               {"labelled", CellKind::kNumber, "label"},
               {"statistics of", CellKind::kShort},
               {"remark"}},
              relations, "No table is protected: see privacy_score.protect().");
  for (const Row& relation : relations) {
    std::vector<Row> rows;
    for (const Row& risk : risks)
      if (risk.front() == relation.front()) rows.emplace_back(risk.begin() + 1, risk.end());
    const auto chart = std::find_if(charts.begin(), charts.end(), [&](const Row& row) {
      return row[RelationChartSection::kRelation] == relation.front();
    });
    if (rows.empty() && chart == charts.end()) continue;
    page_.Block("<div class=\"relation\">\n");
    page_.Part(TextOrNothing(relation.front()));
    if (!rows.empty())
      page_.Table({{"column", CellKind::kShort},
                   {"label", CellKind::kText, "label"},
                   {"distinct", CellKind::kNumber, "distinct"},
                   {"entropy, bits", CellKind::kNumber, "entropy"},
                   {"discrimination rate", CellKind::kShare, "rate"},
                   {"unique", CellKind::kNumber, "unique"}},
                  rows, "");
    if (chart != charts.end() && (*chart)[1]) page_.Figure(*(*chart)[1]);
    page_.Block("</div>\n");
  }
}

void Report::Counts() {
  page_.Section("counts", "Noisy counts");
  const std::vector<Row> budgets = reader_.Section(8);
  const std::vector<Row> answers = reader_.Section(7);
  page_.Table({{"role", CellKind::kShort},
               {"table", CellKind::kShort},
               {"spent", CellKind::kShare, "budget"},
               {"epsilon", CellKind::kNumber, "epsilon"},
               {"left", CellKind::kNumber},
               {"period"},
               {"full again", CellKind::kShort},
               {"whom it protects", CellKind::kCode}},
              budgets, "No budgets that you may see.", 0);
  page_.Part("The newest answers");
  page_.Table({{"at", CellKind::kShort},
               {"role", CellKind::kShort},
               {"table", CellKind::kShort},
               {"kind"},
               {"epsilon", CellKind::kNumber, "epsilon"},
               {"times", CellKind::kNumber},
               {"question, without constants", CellKind::kCode}},
              answers, "None in this time.", 1);
}

void Report::Releases() {
  page_.Section("releases", "Published tables");
  const std::vector<Row> releases = reader_.Section(8);
  page_.Table({{"table", CellKind::kShort},
               {"buckets", CellKind::kNumber, "bucket"},
               {"values", CellKind::kNumber},
               {"smallest", CellKind::kNumber},
               {"largest", CellKind::kNumber},
               {"loss", CellKind::kNumber, "loss"},
               {"likeliest value", CellKind::kShare, "likeliest"},
               {"what it is"}},
              releases, "None that you may read.");
}

void Report::State() {
  page_.Section("state", "State of the watcher");
  page_.Table({{"what"}, {"now", CellKind::kCode}}, reader_.Section(2),
              "Nothing is watched: the library is not preloaded.");
  const std::vector<Row> months = reader_.Section(4);
  if (months.empty()) return;
  page_.Part("Recorded history");
  page_.Table({{"month", CellKind::kShort},
               {"sessions, about", CellKind::kNumber},
               {"on disk", CellKind::kShort},
               {"removed on", CellKind::kShort}},
              months, "");
}

}  // namespace

std::string ReportPage(std::string_view wire) { return Report(wire).Make(); }

}  // namespace privacy_score
