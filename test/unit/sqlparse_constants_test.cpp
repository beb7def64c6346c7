/*
 * sqlparse_constants_test.cpp - which constants of a text columns are compared with; that no abstraction sees them.
 */
#include "sqlparse/constants.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "core/base/constant_hash.hpp"
#include "sqlparse_support.hpp"

namespace privacy_score {
namespace {

constexpr HashKey kKey = {3, 5};

StatementConstants ConstantsOf(const std::string& sql, Tokens* tokens = nullptr) {
  Catalog catalog;
  TextConstants constants = {kKey, {}, false};
  TextReading reading;
  reading.constants = &constants;
  for (;;) {
    std::vector<MissingName> missing;
    const Tokens found = AbstractText(sql, catalog, &missing, reading);
    if (missing.empty()) {
      if (tokens != nullptr) *tokens = found;
      return constants.found;
    }
    AnswerNames(missing, &catalog);
  }
}

// "columns = values": of the names and constants given here; ? for others.
std::string Shown(const std::string& sql) {
  std::map<std::uint64_t, std::string> names, constants;
  for (const char* name : {"id", "name", "city", "diagnosis", "ward"})
    names[NameHash(std::string("public.patients.") + name)] = name;
  for (int i = -9; i <= 99; ++i) constants[ConstantHash(kKey, std::int64_t{i})] = std::to_string(i);
  for (const char* text : {"a", "b", "it's", "t", "f", "1.5"})
    constants[ConstantHash(kKey, std::string_view(text))] = text;
  std::string shown;
  for (const ComparedGroup& group : ConstantsOf(sql).groups) {
    std::set<std::string> columns;
    for (const ComparedColumn& column : group.columns) {
      const auto name = names.find(column.name);
      columns.insert((name == names.end() ? "?" : name->second) + '#' + std::to_string(column.item));
    }
    for (const std::string& column : columns) shown += (shown.empty() ? "" : " ") + column;
    shown += " =";
    for (const auto& comparison : group.comparisons) {
      for (const ComparedValue& value : comparison) {
        shown += ' ';
        if (value.hash != 0) shown += constants.count(value.hash) != 0 ? constants[value.hash] : "?";
        for (const int parameter : value.parameters) shown += '$' + std::to_string(parameter);
        if (value.elements) shown += "[]";
      }
      shown += ';';
    }
  }
  return shown;
}

TEST(TextConstants, OfComparisons) {
  const std::pair<const char*, const char*> expected[] = {
      {"SELECT city FROM patients WHERE id = 7", "id#0 = 7;"},
      {"SELECT city FROM patients WHERE '7' = id", "id#0 = 7;"},
      {"SELECT city FROM patients WHERE id = CAST(-7 AS bigint)", "id#0 = -7;"},
      {"SELECT city FROM patients WHERE city = 'it''s'", "city#0 = it's;"},
      {"SELECT city FROM patients WHERE id = 1.5 AND city = 'a'", "id#0 = 1.5; city#0 = a;"},
      {"SELECT city FROM patients WHERE id IN (1, 2, NULL, $1)", "id#0 = 1 2 $1;"},
      {"SELECT city FROM patients WHERE id IN (1)", "id#0 = 1;"},
      {"SELECT city FROM patients WHERE id NOT IN (1, 2)", "id#0 = 1 2;"},
      {"SELECT city FROM patients WHERE id <> 3", "id#0 = 3;"},
      {"SELECT city FROM patients WHERE id != 3", "id#0 = 3;"},
      {"SELECT city FROM patients WHERE id < 3", ""},
      {"SELECT city FROM patients WHERE id = ANY (ARRAY[1, 2])", "id#0 = 1 2;"},
      {"SELECT city FROM patients WHERE id = ANY ('{4, NULL,5}'::int[])", "id#0 = 4 5;"},
      {"SELECT city FROM patients WHERE id = ANY ($1::int[])", "id#0 = $1[];"},
      {"SELECT city FROM patients WHERE id = $2", "id#0 = $2;"},
      {"SELECT city FROM patients WHERE id < ANY (ARRAY[1, 2])", ""},
      {"SELECT CASE id WHEN 5 THEN 6 WHEN 7 THEN 8 END FROM patients", "id#0 = 5 7;"},
      {"SELECT nullif(id, 4) FROM patients WHERE city IS DISTINCT FROM 'b'", "id#0 = 4; city#0 = b;"},
      {"SELECT name FROM patients WHERE (id, city) IN ((1, 'a'), (2, 'b'))", "id#0 = 1 2; city#0 = a b;"},
      {"SELECT name FROM patients WHERE (id, city) = (1, 'a')", "id#0 = 1; city#0 = a;"},
      {"SELECT name FROM patients WHERE id IN (VALUES (1), (2))", "id#0 = 1 2;"},
      {"SELECT name FROM patients WHERE id = (SELECT 9)", "id#0 = 9;"},
      {"SELECT name FROM patients WHERE id = 5 + 2", "id#0 = ?;"},
      {"SELECT name FROM patients WHERE id = 5 + city", ""},
      {"SELECT p.city FROM patients p JOIN patients q ON p.id = q.id WHERE q.id = 8", "id#0 id#1 = 8;"},
      {"INSERT INTO patients (id) VALUES (1), (2)", ""},
      {"UPDATE patients SET id = 1 WHERE city = 'a'", "city#0 = a;"},
      {"SELECT city FROM patients WHERE id = 1; SELECT name FROM patients WHERE id = 2", "id#0 = 1; id#1 = 2;"},
      {"SELEC 1", ""},
  };
  for (const auto& [sql, shown] : expected) EXPECT_EQ(Shown(sql), shown) << sql;
}

TEST(TextConstants, TheVectorTellsTextsApartThatDifferInConstantsOnly) {
  const auto vector = [](const char* sql) { return ConstantsOf(sql).vector; };
  EXPECT_EQ(vector("SELECT city FROM patients WHERE id = 7"), vector("SELECT  city FROM patients WHERE id='7'"));
  EXPECT_NE(vector("SELECT city FROM patients WHERE id = 7"), vector("SELECT city FROM patients WHERE id = 8"));
  EXPECT_NE(vector("SELECT city FROM patients LIMIT 7"), vector("SELECT city FROM patients LIMIT 8"));
  EXPECT_NE(vector("SELECT id FROM patients WHERE id BETWEEN 1 AND 2"),
            vector("SELECT id FROM patients WHERE id BETWEEN 2 AND 1"));
  EXPECT_EQ(ConstantsOf("SELECT $3, $1 FROM patients WHERE id = $1").parameters, (std::vector<int>{1, 3}));
}

// Every statement of the corpus of both front ends.
TEST(TextConstants, NoAbstractionSeesThem) {
  std::ifstream corpus("test/corpus/front_ends.txt");
  ASSERT_TRUE(corpus.good());
  int count = 0;
  for (std::string line; std::getline(corpus, line);) {
    if (line.empty() || line.compare(0, 3, "-- ") == 0) continue;
    Tokens with;
    ConstantsOf(line, &with);
    EXPECT_EQ(Joined(with), HospitalTokens(line)) << line;
    ++count;
  }
  EXPECT_GT(count, 300);
}

TEST(TextConstants, WhatExecuteGives) {
  const auto shown = [](const char* sql) {
    std::string text;
    for (const std::optional<std::string>& given : ParametersOfExecute(sql))
      text += given ? '<' + *given + "> " : "NULL ";
    return text;
  };
  EXPECT_EQ(shown("EXECUTE p(7, 'it''s', NULL, -1.5, true, '{1,2}'::int[])"), "<7> <it's> NULL <-1.5> <t> <{1,2}> ");
  EXPECT_EQ(shown("EXECUTE p(7, 1 + 1)"), "");
  EXPECT_EQ(shown("EXPLAIN ANALYZE EXECUTE p(7)"), "<7> ");
  EXPECT_EQ(shown("EXECUTE p"), "");
  EXPECT_EQ(shown("SELECT 7"), "");
  EXPECT_EQ(shown("EXECUTE p(7"), "");
}

}  // namespace
}  // namespace privacy_score
