/*
 * history_file_test.cpp - what is written is read; what was torn off is not; each role its own.
 */
#include "core/scoring/history_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace privacy_score {
namespace {

FiledRow PartOf(const std::string& role, const std::string& session, const std::string& queries, const std::string& ids,
                const std::string& part = "0") {
  FiledRow row(FiledPartSection::kColumns);
  row[FiledPartSection::kRole] = role;
  row[FiledPartSection::kDay] = "9800";
  row[FiledPartSection::kSession] = session;
  row[FiledPartSection::kStarted] = "5";
  row[FiledPartSection::kQueries] = queries;
  row[FiledPartSection::kPart] = part;
  row[FiledPartSection::kIds] = ids;
  row[FiledPartSection::kRuns] = ids;
  row[FiledPartSection::kRows] = ids;
  return row;
}

const FiledRow kAlert = {"7", "session", "2", "1", "f", "warning", "{}", std::nullopt, "psql"};

std::string File() {
  return FileRecord(PartOf("anna", "a", "2", "{1,2}"), {{"1", "{x}"}, {"2", "{y}"}}, {kAlert}) +
         FileRecord(PartOf("bert", "b", "1", "{2}"), {}, {kAlert, kAlert}) +
         FileRecord(PartOf("anna", "a", "3", "{3}", "1"), {{"3", "{z}"}}, {}) +
         FileRecord(PartOf("anna", "a", "3", ""), {}, {});
}

TEST(HistoryFile, HasPartsWithTheNewestFigures) {
  const std::string file = File();
  const ResultTable all = FiledParts({file}, {});
  ASSERT_EQ(all.rows.size(), 3U);
  const std::size_t queries = 1 + FiledPartSection::kQueries;
  const std::size_t part = 1 + FiledPartSection::kPart;
  EXPECT_EQ(all.rows[0].size(), part + 4);
  EXPECT_EQ(all.rows[0][queries], "3");
  EXPECT_EQ(all.rows[0][0], all.rows[2][0]);
  EXPECT_NE(all.rows[0][0], all.rows[1][0]);
  EXPECT_EQ(all.rows[0][part], "0");
  EXPECT_EQ(all.rows[2][part], "1");
  EXPECT_EQ(all.rows[2][part + 1], "{3}");
  EXPECT_EQ(FiledParts({file}, "bert").rows.size(), 1U);
  EXPECT_EQ(FiledParts({file, file}, {}).rows.size(), 6U);
  EXPECT_TRUE(FiledParts({}, {}).rows.empty());
}

TEST(HistoryFile, ForgetsAnEndUserAndKeepsTokens) {
  FiledRow hers = PartOf("app", "c", "5", "{4}");
  hers[FiledPartSection::kEndUser] = "eve";
  FiledRow his = PartOf("app", "d", "5", "{4}");
  his[FiledPartSection::kEndUser] = "adam";
  const std::string file = File() + FileRecord(hers, {{"4", "{t}"}}, {kAlert}) + FileRecord(his, {}, {kAlert}) +
                           FileRecord(hers, {}, {kAlert}) + FileRecord(PartOf("app", "e", "1", "{4}"), {}, {});
  std::int64_t sessions = 0;
  const std::string left = WithoutEndUser(file + "torn", "app", "eve", &sessions);
  EXPECT_EQ(sessions, 1);
  EXPECT_EQ(left.find("eve"), std::string::npos);
  EXPECT_EQ(WholeRecords(left), left.size());
  EXPECT_EQ(FiledParts({left}, "app").rows.size(), 2U);
  EXPECT_EQ(FiledParts({left}, {}).rows.size(), FiledParts({file}, {}).rows.size() - 2);
  EXPECT_EQ(FiledTokens({left}, {}).rows.size(), 4U);
  EXPECT_EQ(FiledTokens({left}, "app").rows.size(), 1U);
  EXPECT_EQ(FiledAlerts({left}, {}).rows.size(), 4U);
  EXPECT_EQ(WithoutEndUser(file, "app", "nobody", &sessions), file);
  EXPECT_EQ(WithoutEndUser(file, "anna", "eve", &sessions), file);
  EXPECT_EQ(sessions, 1);
}

TEST(HistoryFile, HasTokensOnce) {
  const std::string file = File();
  EXPECT_EQ(FiledTokens({file, file}, {}).rows.size(), 3U);
  // Whoever has written them first.
  const ResultTable of_bert = FiledTokens({file}, "bert");
  ASSERT_EQ(of_bert.rows.size(), 1U);
  EXPECT_EQ(of_bert.rows[0], (FiledRow{"2", "{y}"}));
}

TEST(HistoryFile, NumbersAlertsForGood) {
  const std::string file = File();
  const ResultTable all = FiledAlerts({file}, {});
  ASSERT_EQ(all.rows.size(), 3U);
  EXPECT_NE(all.rows[1][0], all.rows[2][0]);
  for (const FiledRow& row : all.rows) {
    EXPECT_EQ(row[0]->front(), '-');
    EXPECT_EQ(row.size(), 5U + FiledAlertSection::kColumns);
  }
  const ResultTable of_bert = FiledAlerts({file}, "bert");
  ASSERT_EQ(of_bert.rows.size(), 2U);
  EXPECT_EQ(of_bert.rows[0], all.rows[1]);
}

// Wherever a crash has cut it.
TEST(HistoryFile, IsReadUpToWhatIsWhole) {
  const std::string file = File();
  EXPECT_EQ(WholeRecords(file), file.size());
  std::size_t before = 0;
  for (std::size_t cut = 0; cut <= file.size(); ++cut) {
    const std::string_view part = std::string_view(file).substr(0, cut);
    const std::size_t whole = WholeRecords(part);
    EXPECT_LE(whole, cut);
    EXPECT_GE(whole, before);
    before = whole;
    EXPECT_LE(FiledParts({part}, {}).rows.size(), 3U);
  }
  std::string changed = file;
  changed[20] ^= 1;
  EXPECT_EQ(WholeRecords(changed), 0U);
}

}  // namespace
}  // namespace privacy_score
