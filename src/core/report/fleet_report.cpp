/*
 * fleet_report.cpp - see fleet_report.hpp.
 */
#include "core/report/fleet_report.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"
#include "core/report/alert_list.hpp"
#include "core/report/html_page.hpp"
#include "core/report/markup.hpp"
#include "core/report/people.hpp"
#include "core/report/reasons.hpp"
#include "core/report/report_sections.hpp"
#include "core/report/score_chart.hpp"

namespace privacy_score {

namespace {

class FleetReport {
 public:
  explicit FleetReport(std::string_view wire)
      : reader_(wire),
        facts_(OnlyRow(reader_, FleetFactSection::kColumns)),
        page_("Privacy report of the fleet of " + TextOrNothing(facts_[FleetFactSection::kDatabase])) {}
  std::string Make();

 private:
  bool SeesAll() const { return ParseBool(Required(facts_[FleetFactSection::kSeesAll])); }
  void Head(const std::vector<Row>& tiles, const Row& alerts);
  void Members(const std::vector<Row>& figures);
  void Days(const std::vector<Row>& days);
  void Orders(const std::vector<Row>& orders);

  WireReader reader_;
  Row facts_;
  std::vector<Row> members_;
  std::vector<Person> people_;
  HtmlPage page_;
};

std::string FleetReport::Make() {
  members_ = reader_.Section(FleetMemberSection::kColumns);
  // server, watching, statements, lost, faults of scoring, faults of writing, memory, last written
  const std::vector<Row> figures = reader_.Section(8);
  const std::vector<Row> days = reader_.Section(ScoredDaySection::kColumns);
  const std::vector<Row> roles = reader_.Section(RoleSection::kColumns);
  people_ = PeopleOf(days, roles, reader_.Section(EndUserSection::kColumns));
  const std::vector<Row> tiles = reader_.Section(TileSection::kColumns);
  const Row totals = OnlyRow(reader_, AlertTotalSection::kColumns);
  const std::vector<Row> alerts = reader_.Section(kAlertFields);
  // role, server, days, statements, new n-grams, highest score of a day, n-grams of the baseline
  const std::vector<Row> places = reader_.Section(7);
  const std::vector<Row> of_days = reader_.Section(FleetDaySection::kColumns);
  const std::vector<Row> ngrams = reader_.Section(WorstNGramSection::kColumns);
  // server, kind, about, by, since, last try, why it failed
  const std::vector<Row> orders = reader_.Section(7);
  Head(tiles, totals);
  Members(figures);
  page_.Section("alerts", "Open alerts");
  WriteAlerts(page_, alerts, totals, people_);
  page_.Section("people", "People");
  WritePeople(page_, people_, PeopleOn::kFleet);
  page_.Part("Server by server");
  page_.Table({{"role", CellKind::kShort},
               {"server", CellKind::kShort},
               {"days", CellKind::kNumber},
               {"statements", CellKind::kNumber},
               {"new n-grams", CellKind::kNumber, "ngram"},
               {"highest", CellKind::kNumber, "score"},
               {"baseline", CellKind::kNumber, "baseline"}},
              places, "No work is recorded in this time.", 0);
  if (!places.empty())
    page_.Note(
        "The scores by server are each member's own. Those above are of all together: an n-gram that several members "
        "have found new counts once a day, at the greatest of their scores, as in fleet_score().");
  Days(of_days);
  page_.Section("mismatches", "New n-grams, the dearest first");
  if (ngrams.empty())
    page_.Note("None in this time.");
  else
    WriteReasons(page_, "Why: the dearest n-grams of all members", ngrams);
  Orders(orders);
  return page_.Finish(
      "Made by privacy_score " + TextOrNothing(facts_[FleetFactSection::kVersion]) + " at " +
      TextOrNothing(facts_[FleetFactSection::kMadeAt]) +
      " from what this hub has collected; no member was asked for it. A score is a measure, not a verdict: a low one "
      "does not prove that nothing went wrong, and a high one may be new, legitimate work.");
}

void FleetReport::Head(const std::vector<Row>& tiles, const Row& alerts) {
  using Fact = FleetFactSection;
  std::string lead =
      "Work from " + TextOrNothing(facts_[Fact::kFromDay]) + " to " + TextOrNothing(facts_[Fact::kToDay]);
  if (facts_[Fact::kOfRole]) lead += " of role " + TextOrNothing(facts_[Fact::kOfRole]);
  page_.Lead(lead + " on all members, as " + TextOrNothing(facts_[Fact::kUser]) + " may see it.");
  std::int64_t queries = 0;
  double worst = 0;
  for (const Person& person : people_) {
    queries += person.queries;
    worst = std::max(worst, person.worst);
  }
  const std::int64_t critical = ParseInteger(Required(alerts[AlertTotalSection::kCritical]));
  std::vector<PageTile> shown = {{TextOrNothing(alerts[AlertTotalSection::kOpen]),
                                  "open alerts, " + std::to_string(critical) + " critical", critical > 0, "alerts"}};
  if (SeesAll()) {
    const auto reachable = std::count_if(members_.begin(), members_.end(),
                                         [](const Row& row) { return !row[FleetMemberSection::kError]; });
    const auto all = static_cast<std::ptrdiff_t>(members_.size());
    shown.push_back(
        {std::to_string(reachable) + " of " + std::to_string(all), "members reachable", reachable < all, "members"});
  }
  shown.push_back({std::to_string(people_.size()), AtWork(people_), false, "people"});
  shown.push_back({Shown(worst, 2), "highest score of a day, all together", false, "people"});
  shown.push_back({std::to_string(queries), "statements"});
  for (const Row& row : tiles)
    shown.push_back({TextOrNothing(row[TileSection::kValue]), TextOrNothing(row[TileSection::kMeaning]),
                     ParseBool(Required(row[TileSection::kAlarming]))});
  page_.Tiles(shown);
}

void FleetReport::Members(const std::vector<Row>& figures) {
  page_.Section("members", "Members");
  const char* none = SeesAll() ? "The fleet has no member: see privacy_score.fleet_add()."
                               : "Members are shown to members of pg_read_all_stats.";
  page_.Table({{"server", CellKind::kShort},
               {"state", CellKind::kShort},
               {"why it does not answer"},
               {"last answered", CellKind::kShort},
               {"what it is", CellKind::kShort},
               {"privacy_score", CellKind::kShort},
               {"PostgreSQL", CellKind::kShort},
               {"orders waiting", CellKind::kNumber}},
              members_, none);
  if (figures.empty()) return;
  page_.Part("State of their watchers");
  page_.Table({{"server", CellKind::kShort},
               {"watching"},
               {"statements", CellKind::kNumber},
               {"lost", CellKind::kNumber},
               {"faults of scoring", CellKind::kNumber},
               {"faults of writing", CellKind::kNumber},
               {"memory"},
               {"last written", CellKind::kShort}},
              figures, "");
  page_.Note("Of a member that is not reachable all of this page is as it was when it last answered.");
}

void FleetReport::Days(const std::vector<Row>& days) {
  struct Sum {
    std::int64_t roles = 0, mismatched = 0;
    double worst = -1;
    const Person* whose = nullptr;
  };
  std::map<std::int64_t, Sum> sums;
  for (const Person& person : people_)
    for (const DayOfScore& day : person.days) {
      Sum& sum = sums[day.day];
      ++sum.roles;
      sum.mismatched += day.mismatched;
      if (day.score <= sum.worst) continue;
      sum.worst = day.score;
      sum.whose = &person;
    }
  std::vector<std::vector<std::string>> texts;
  for (const Row& row : days) {
    const std::int64_t day = ParseInteger(Required(row[FleetDaySection::kDay]));
    const Sum& sum = sums[day];
    texts.push_back({DateText(day), RequiredText(row[FleetDaySection::kServers]), std::to_string(sum.roles),
                     RequiredText(row[FleetDaySection::kQueries]), std::to_string(sum.mismatched),
                     Shown(std::max(sum.worst, 0.0), 2), sum.worst > 0 ? sum.whose->role : ""});
  }
  std::vector<Row> rows;
  for (const std::vector<std::string>& text : texts) rows.emplace_back(text.begin(), text.end());
  page_.Section("days", "Days");
  page_.Table({{"day", CellKind::kShort},
               {"servers", CellKind::kNumber},
               {"roles", CellKind::kNumber},
               {"statements", CellKind::kNumber},
               {"new n-grams", CellKind::kNumber, "ngram"},
               {"highest", CellKind::kNumber, "score"},
               {"whose", CellKind::kShort}},
              rows, "No work is recorded in this time.");
}

void FleetReport::Orders(const std::vector<Row>& orders) {
  page_.Section("orders", "Orders that have not arrived");
  page_.Table({{"server", CellKind::kShort},
               {"order", CellKind::kShort},
               {"about", CellKind::kShort},
               {"by", CellKind::kShort},
               {"since", CellKind::kShort},
               {"last try", CellKind::kShort},
               {"why it failed"}},
              orders,
              SeesAll() ? "None: every member has done what it was told."
                        : "Orders are shown to members of pg_read_all_stats.");
}

}  // namespace

std::string FleetReportPage(std::string_view wire) { return FleetReport(wire).Make(); }

}  // namespace privacy_score
