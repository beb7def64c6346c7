/*
 * sqlparse_session_test.cpp - temporary tables that the texts of a session make.
 */
#include <gtest/gtest.h>

#include "sqlparse_support.hpp"

namespace privacy_score {
namespace {

// The texts of one session, one after the other.
class SessionTest : public ::testing::Test {
 protected:
  std::string Send(const std::string& sql) {
    Catalog catalog;
    for (;;) {
      std::vector<MissingName> missing;
      Tokens tokens = AbstractText(sql, catalog, &missing, {nullptr, TextUse::kHistory, SIZE_MAX, &tables});
      if (missing.empty()) return Joined(tokens);
      AnswerNames(missing, &catalog);
    }
  }

  SessionTables tables;
};

TEST_F(SessionTest, NamesNoTemporaryTable) {
  EXPECT_EQ(Send("CREATE TEMP TABLE tmp_83ab (id int, note text)"), "");
  EXPECT_EQ(Send("INSERT INTO tmp_83ab VALUES (1, 'a'), (2, 'b')"),
            "cmd:insert s:pg_temp.*.1 s:pg_temp.*.2 t:pg_temp.*");
  const std::string look_up =
      "cmd:select p:public.patients.city t:pg_temp.* t:public.patients w:pg_temp.*.1 w:public.patients.id";
  EXPECT_EQ(Send("SELECT p.city FROM patients p JOIN tmp_83ab t ON t.id = p.id"), look_up);
  Send("CREATE TEMPORARY TABLE \"Tmp 91\" (note text, id int); DROP TABLE \"Tmp 91\"");
  Send("CREATE TABLE pg_temp.\"Tmp 91\" (id int, note text)");
  EXPECT_EQ(Send("SELECT p.city FROM patients p JOIN \"Tmp 91\" t ON t.id = p.id"), look_up);
  EXPECT_EQ(Send("SELECT p.city FROM patients p JOIN pg_temp.\"Tmp 91\" t ON t.id = p.id"), look_up);
  EXPECT_EQ(Send("SELECT a.note, b.id FROM tmp_83ab a, \"Tmp 91\" b, tmp_83ab c WHERE a.id = b.id"),
            "cmd:select p:pg_temp.*.2 p:pg_temp.*2.1 t:pg_temp.* t:pg_temp.*2 w:pg_temp.*.1 w:pg_temp.*2.1");
}

TEST_F(SessionTest, KnowsWhatCopiesCopy) {
  const std::string copied = "cmd:select p:public.patients.city t:pg_temp.* t:public.patients";
  Send("CREATE TEMP TABLE c AS SELECT city || '' AS town, 1 AS one FROM patients");
  EXPECT_EQ(Send("SELECT town FROM c"), copied);
  EXPECT_EQ(Send("SELECT one FROM c"), "cmd:select p:pg_temp.*.2 t:pg_temp.* t:public.patients");
  Send("SELECT town INTO TEMP d FROM c UNION SELECT 'x'");
  EXPECT_EQ(Send("SELECT * FROM d"), copied);
  Send("CREATE TEMP TABLE e (a) AS TABLE d; SELECT 1");
  EXPECT_EQ(Send("SELECT a FROM e"), copied);
  Send("CREATE TEMP TABLE f AS SELECT name FROM departments");
  EXPECT_EQ(Send("SELECT * FROM f"), "cmd:select p:pg_temp.*.1 t:pg_temp.*");
}

TEST_F(SessionTest, FollowsWhatBecomesOfThem) {
  Send("CREATE TEMP TABLE t (LIKE patients INCLUDING ALL, extra int UNIQUE)");
  EXPECT_EQ(Send("SELECT extra FROM t"), "cmd:select p:pg_temp.*.10 t:pg_temp.*");
  Send("CREATE TEMP TABLE t (extra int)");
  EXPECT_EQ(Send("SELECT extra FROM t"), "cmd:select p:pg_temp.*.10 t:pg_temp.*");
  Send("EXPLAIN CREATE TEMP TABLE u AS SELECT 1 AS a");
  EXPECT_EQ(Send("SELECT a FROM u"), "cmd:select p:u.a t:u");
  Send("DROP TABLE IF EXISTS t");
  EXPECT_EQ(Send("SELECT extra FROM t"), "cmd:select p:t.extra t:t");
  Send("CREATE TEMP TABLE t (a int); CREATE TEMP TABLE u (a int)");
  Send("ALTER TABLE t ADD COLUMN b int");
  EXPECT_EQ(Send("SELECT a FROM t"), "cmd:select p:t.a t:t");
  EXPECT_EQ(Send("SELECT a FROM u"), "cmd:select p:pg_temp.*.1 t:pg_temp.*");
  Send("DISCARD ALL");
  EXPECT_EQ(Send("SELECT a FROM u"), "cmd:select p:u.a t:u");
}

// A text does not tell whether the table was made.
TEST_F(SessionTest, HidesNothingThatIsInTheDatabase) {
  Send("CREATE TEMP TABLE patients (city text)");
  EXPECT_EQ(Send("SELECT city FROM patients"), "cmd:select p:public.patients.city t:public.patients");
  EXPECT_EQ(Send("SELECT city FROM pg_temp.patients"), "cmd:select p:pg_temp.*.1 t:pg_temp.*");
  EXPECT_EQ(Send("SELECT pid FROM inpatients"),
            "cmd:select j:public.admissions.patient_id j:public.patients.id p:public.patients.id t:public.admissions "
            "t:public.patients w:public.admissions.discharged");
}

TEST_F(SessionTest, KnowsWhichTextsToLookAtAgain) {
  EXPECT_FALSE(tables.MayBeNamedIn("SELECT 1"));
  const auto before = tables.changes();
  Send("CREATE TEMP TABLE \"Mine\" (a int)");
  EXPECT_NE(tables.changes(), before);
  EXPECT_TRUE(tables.MayBeNamedIn("TABLE \"Mine\""));
  EXPECT_TRUE(tables.MayBeNamedIn("select * from MINE m"));
  EXPECT_FALSE(tables.MayBeNamedIn("select * from ours"));
  for (int i = 0; i < 100; ++i) Send("CREATE TEMP TABLE t" + std::to_string(i) + " (a int)");
  EXPECT_FALSE(tables.MayBeNamedIn("TABLE \"Mine\""));
  EXPECT_EQ(Send("TABLE t99"), "cmd:select p:pg_temp.*.1 t:pg_temp.*");
}

}  // namespace
}  // namespace privacy_score
