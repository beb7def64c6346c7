/*
 * sqlparse_versions_test.cpp - what differs between the grammars of libpg_query's versions, and nodes read by what they
 * hold.
 */
#include <gtest/gtest.h>

#include "sqlparse/parse.hpp"
#include "sqlparse/parser_versions.hpp"
#include "sqlparse_support.hpp"

namespace privacy_score {
namespace {

// The kinds of the nodes below the first target of a SELECT.
std::vector<int> KindsBelowTarget(const char* sql) {
  const Parse parse(sql);
  std::vector<int> kinds;
  if (parse.tree() == nullptr) return kinds;
  const auto& select = *parse.tree()->stmts[0]->stmt->select_stmt;
  for (const Node* node : ChildNodes(*select.target_list[0]->res_target->val))
    kinds.push_back(static_cast<int>(node->node_case));
  return kinds;
}

TEST(ChildNodes, AreTheNearestNodesInOrder) {
  const int column = PG_QUERY__NODE__NODE_COLUMN_REF, constant = PG_QUERY__NODE__NODE_A_CONST;
  const int link = PG_QUERY__NODE__NODE_SUB_LINK, name = PG_QUERY__NODE__NODE_STRING;
  EXPECT_EQ(KindsBelowTarget("SELECT coalesce(a, 1, (SELECT b))"), (std::vector<int>{column, constant, link}));
  EXPECT_EQ(KindsBelowTarget("SELECT a + 1"), (std::vector<int>{name, column, constant}));
  EXPECT_EQ(KindsBelowTarget("SELECT CASE WHEN a THEN b ELSE c END"),
            (std::vector<int>{PG_QUERY__NODE__NODE_CASE_WHEN, column}));
  EXPECT_EQ(KindsBelowTarget("SELECT 1"), std::vector<int>{});
  // Past what is not a node itself: the name of a type below a cast.
  EXPECT_EQ(KindsBelowTarget("SELECT a::int"), (std::vector<int>{column, name, name}));
}

TEST(ParserVersions, JsonHidesNoColumn) {
  if (kGrammarVersion < 170000) GTEST_SKIP() << "its grammar is that of an older server";
  EXPECT_EQ(
      HospitalTokens("SELECT JSON_VALUE(jsonb_build_object('a', last_name), '$.a' PASSING zip AS z DEFAULT city ON "
                     "EMPTY) FROM patients"),
      "cmd:select p:public.patients.city p:public.patients.last_name p:public.patients.zip t:public.patients");
  EXPECT_EQ(
      HospitalTokens("SELECT j.n FROM patients p, JSON_TABLE(to_jsonb(p.last_name), '$' COLUMNS (n text PATH '$')) j"),
      "cmd:select p:public.patients.last_name t:public.patients");
  EXPECT_EQ(HospitalTokens("SELECT JSON_ARRAY(last_name, (SELECT max(job) FROM staff)) FROM patients"),
            "cmd:select f:max(public.staff.job) p:public.patients.last_name p:public.staff.job t:public.patients "
            "t:public.staff");
}

TEST(ParserVersions, MergeReturnsAndSeesWhatItMatches) {
  if (kGrammarVersion < 170000) GTEST_SKIP() << "its grammar is that of an older server";
  EXPECT_EQ(
      HospitalTokens("MERGE INTO staff s USING patients p ON s.id = p.id WHEN NOT MATCHED BY SOURCE AND job = 'x' "
                     "THEN DELETE WHEN MATCHED THEN UPDATE SET job = p.city RETURNING p.zip"),
      "cmd:merge j:public.patients.id j:public.staff.id p:public.patients.city p:public.patients.zip "
      "s:public.staff.job t:public.patients t:public.staff w:public.staff.job");
}

TEST(ParserVersions, RowsBeforeAndAfter) {
  if (kGrammarVersion < 180000) GTEST_SKIP() << "its grammar is that of an older server";
  EXPECT_EQ(HospitalTokens("UPDATE staff SET salary = 1 RETURNING old.salary, new.job"),
            "cmd:update p:public.staff.job p:public.staff.salary s:public.staff.salary t:public.staff");
  EXPECT_EQ(HospitalTokens("DELETE FROM staff RETURNING WITH (OLD AS o) o.salary"),
            "cmd:delete p:public.staff.salary t:public.staff");
}

}  // namespace
}  // namespace privacy_score
