/*
 * reasons_test.cpp - n-grams beside the nearest usual ones, of one server and of a fleet.
 */
#include "core/report/reasons.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "markup_fixture.hpp"

namespace privacy_score {
namespace {

std::string PageOf(const Field& attributes, const Field& servers) {
  HtmlPage page("t");
  page.Section("reasons", "Reasons");
  WriteReasons(page, "Why <so>",
               {{"2026-11-21", "anna / <eve>", "1.25", "1", "(start)\ncmd:select p:s.t.iban t:s.t",
                 "cmd:select p:s.t.city t:s.t", attributes, servers},
                {"2026-11-21", "bob", "1.2", "3", "", Field(), attributes, servers}});
  return page.Finish("");
}

TEST(Reasons, SayWhoseAndWhatIsNew) {
  const std::string page = PageOf("s.t.iban", Field());
  EXPECT_EQ(testing_support::Misnested(page), "");
  for (const char* part : {"Why &#60;so&#62;", "<b>1.25</b>", "anna / &#60;eve&#62;", "1 time<", "3 times<",
                           "<span>t.iban</span>", "<mark>iban</mark>", "What is new is marked.", "the session begins"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_NE(PageOf(Field(), Field()).find("known columns in statements that are new"), std::string::npos);
}

TEST(Reasons, OfAFleetSayOnWhichServers) {
  const std::string page = PageOf(Field(), "far, <north>");
  EXPECT_EQ(testing_support::Misnested(page), "");
  EXPECT_NE(page.find("<span>on far, &#60;north&#62;</span>"), std::string::npos);
  EXPECT_EQ(page.find("is marked"), std::string::npos);
  EXPECT_EQ(page.find("known columns"), std::string::npos);
}

}  // namespace
}  // namespace privacy_score
