/*
 * alert_list_test.cpp - who, what, why, since when; one step to the statement.
 */
#include "core/report/alert_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

Row Alert(std::string_view kind, std::string_view cause = {}) {
  return {"7",
          "2026-11-21 07:49",
          "2026-11-21 09:00",
          "anna",
          kind,
          "critical",
          "6.71",
          "1.5",
          "3",
          Field(),
          "6b01.47",
          Field(),
          Field(),
          "cmd:select p:s.t.iban t:s.t",
          Field(),
          "s.t.iban",
          cause,
          "203.0.113.7, psql <x>, TLS, scram-sha-256",
          "network 203.0.113.0/24, hour Sat 03",
          Field(),
          Field(),
          Field()};
}

std::string PageOf(const std::vector<Row>& alerts, const Row& totals) {
  HtmlPage page("t");
  page.Section("alerts", "Open alerts");
  WriteAlerts(page, alerts, totals, {});
  return page.Finish("");
}

TEST(AlertList, SaysWhoWhatWhyAndSinceWhen) {
  const std::string page = PageOf({Alert("session")}, {"1", "1", "0", "0"});
  EXPECT_EQ(testing_support::Misnested(page), "");
  for (const char* part : {">anna<", "score of a session above its limit", "<b>6.71</b>, limit 1.5", "new: t.iban",
                           "since <time>2026-11-21 07:49</time>", "3 times, last 2026-11-21 09:00", "<mark>iban</mark>",
                           "acknowledge_alert(7)", "It came from 203.0.113.7, psql &#60;x&#62;, TLS, scram-sha-256.",
                           "The baseline has never had: network 203.0.113.0/24, hour Sat 03."})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(AlertList, SaysOnWhichMemberOfAFleet) {
  Row alert = Alert("session");
  alert[20] = "o'<north>";
  const std::string page = PageOf({alert}, {"9", "1", "0", "0"});
  EXPECT_EQ(testing_support::Misnested(page), "");
  for (const char* part :
       {"on o&#39;&#60;north&#62;", "Alert 7 of o&#39;&#60;north&#62;",
        "fleet_acknowledge('o&#39;&#39;&#60;north&#62;', 7)", "And 8 more: SELECT * FROM privacy_score.fleet_alerts."})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(page.find("pending"), std::string::npos);
  alert[21] = "pending";
  const std::string pending = PageOf({alert}, {"1", "1", "0", "0"});
  EXPECT_NE(pending.find("acknowledgement is pending"), std::string::npos);
  EXPECT_NE(pending.find("the member has not heard of it yet"), std::string::npos);
  EXPECT_EQ(pending.find("fleet_acknowledge"), std::string::npos);
}

TEST(AlertList, HasTheReasonInWords) {
  Row alert = Alert("unusual", "tokens");
  alert[19] = "3 of 4 tokens are <new>";
  EXPECT_NE(PageOf({alert}, {"1", "0", "0", "0"}).find("3 of 4 tokens are &#60;new&#62;"), std::string::npos);
}

TEST(AlertList, HasWordsForEachKind) {
  EXPECT_NE(PageOf({Alert("reach", "subjects")}, {"1", "0", "0", "0"}).find("asked about more people than usual"),
            std::string::npos);
  EXPECT_NE(PageOf({Alert("session", "others")}, {"1", "0", "0", "0"}).find("further causes of this kind together"),
            std::string::npos);
  EXPECT_NE(PageOf({Alert("<new kind>")}, {"1", "0", "0", "0"}).find("&#60;new kind&#62;"), std::string::npos);
}

TEST(AlertList, PartsOpenOnesFromThoseSeen) {
  Row seen = Alert("daily");
  seen[11] = "dpo";
  seen[12] = "2026-11-22 08:00";
  const std::string page = PageOf({Alert("session"), seen}, {"3", "1", "1", "1"});
  EXPECT_LT(page.find("score of a session"), page.find("Alerts that somebody has seen"));
  EXPECT_GT(page.find("score of a day"), page.find("Alerts that somebody has seen"));
  EXPECT_NE(page.find("Seen by dpo at 2026-11-22 08:00."), std::string::npos);
  EXPECT_NE(page.find("And 2 more"), std::string::npos);
  EXPECT_NE(page.find("1 alert of before this time is open"), std::string::npos);
}

}  // namespace
}  // namespace privacy_score
