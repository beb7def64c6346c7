/*
 * sqlparse_test.cpp - text without a database, the catalog, and text that no parser should be asked to take.
 */
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.hpp"
#include "sanitizers.hpp"
#include "sqlparse/parser_island.hpp"
#include "sqlparse_support.hpp"

namespace privacy_score {
namespace {

std::string Repeat(const std::string& text, int times) {
  std::string result;
  result.reserve(text.size() * static_cast<std::size_t>(times));
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

bool Parses(std::string_view sql) {
  PrivacyScoreParse parse = privacy_score_parse(sql.data(), sql.size(), kNoLimits);
  const bool parses = parse.tree != nullptr;
  EXPECT_NE(parses, parse.message != nullptr);
  privacy_score_parse_free(&parse);
  return parses;
}

std::string ParseMessage(std::string_view sql) {
  PrivacyScoreParse parse = privacy_score_parse(sql.data(), sql.size(), kNoLimits);
  const std::string message = parse.message == nullptr ? "" : parse.message;
  privacy_score_parse_free(&parse);
  return message;
}

TEST(PosterText, IsThePublishedFormWithoutAnyTable) {
  const Catalog catalog;
  EXPECT_EQ(PosterText("SELECT lastName, gender, city FROM hospitaldb WHERE firstName = 'Bob'", catalog),
            "{SELECT, lastname, gender, city, hospitaldb, firstname_w}");
  EXPECT_EQ(PosterText("SELECT lastName, gender FROM hospitaldb WHERE firstName = 'Bob'", catalog),
            "{SELECT, lastname, gender, hospitaldb, firstname_w}");
  EXPECT_EQ(PosterText("SELECT lastName, gender, department FROM hospitaldb", catalog),
            "{SELECT, lastname, gender, department, hospitaldb}");
  EXPECT_EQ(PosterText("SELECT lastName, department FROM hospitaldb WHERE firstName = 'Alice'", catalog),
            "{SELECT, lastname, department, hospitaldb, firstname_w}");
  EXPECT_EQ(PosterText("SELECT a FROM t; SELECT b FROM u", catalog), "{SELECT, a, t} {SELECT, b, u}");
}

struct Bare {
  const char* sql;
  const char* tokens;
  const char* poster;
};

TEST(Resolver, TakesNamesAsWrittenWhenNothingExists) {
  const Bare kCases[] = {
      {"SELECT lastName, gender, city FROM hospitaldb WHERE firstName = 'Bob'",
       "cmd:select p:hospitaldb.city p:hospitaldb.gender p:hospitaldb.lastname t:hospitaldb w:hospitaldb.firstname",
       "{SELECT, lastname, gender, city, hospitaldb, firstname_w}"},
      {"SELECT foo, \"a, b\" FROM a, b WHERE bar = 1 AND a.x = b.x",
       "cmd:select j:a.x j:b.x p:\"a, b\" p:foo t:a t:b w:bar", "{SELECT, foo, \"a, b\", a, b, bar_w, x_j}"},
      {"SELECT foo", "cmd:select p:foo", "{SELECT, foo}"},
      {"SELECT sum(foo), max(\"Q\") FROM x, y", "cmd:select f:max(\"Q\") f:sum(foo) p:\"Q\" t:x t:y",
       "{SELECT, \"Q\", x, y, sum(foo), max(\"Q\")}"},
      {"SELECT \"Desc\", \"order\", user_id FROM \"My Table\" t",
       "cmd:select p:\"My Table\".\"Desc\" p:\"My Table\".order p:\"My Table\".user_id t:\"My Table\"",
       "{SELECT, \"Desc\", order, user_id, \"My Table\"}"},
      {"SELECT x.* FROM nosuch.tab x", "cmd:select t:nosuch.tab", "{SELECT, tab}"},
      {"SELECT nosuch.tab.col FROM nosuch.tab", "cmd:select p:nosuch.tab.col t:nosuch.tab", "{SELECT, col, tab}"},
      {"INSERT INTO nosuch (a, b) SELECT c, d FROM other",
       "cmd:insert p:other.c p:other.d s:nosuch.a s:nosuch.b t:nosuch t:other",
       "{INSERT, c, d, nosuch, other, a_s, b_s}"},
      {"INSERT INTO nosuch SELECT * FROM other", "cmd:insert t:nosuch t:other", "{INSERT, nosuch, other}"},
      {"INSERT INTO nosuch VALUES (1,2)", "cmd:insert t:nosuch", "{INSERT, nosuch}"},
      {"UPDATE nosuch SET a = b WHERE c = 1", "cmd:update p:nosuch.b s:nosuch.a t:nosuch w:nosuch.c",
       "{UPDATE, b, nosuch, c_w, a_s}"},
      {"SELECT * FROM (SELECT * FROM a UNION SELECT * FROM b) q WHERE z = 1",
       "cmd:select p:a.z p:b.z t:a t:b w:a.z w:b.z", "{SELECT, z, a, b, z_w}"},
      {"WITH c AS (SELECT * FROM nosuch) SELECT z FROM c WHERE c.y = 3", "cmd:select p:nosuch.z t:nosuch w:nosuch.y",
       "{SELECT, z, nosuch, y_w}"},
      {"SELECT a.x FROM a JOIN b USING (k) LEFT JOIN c ON c.i = a.i",
       "cmd:select j:a.i j:a.k j:b.k j:c.i p:a.x t:a t:b t:c", "{SELECT, x, a, b, c, k_j, i_j}"},
      {"SELECT p FROM nosuch p", "cmd:select t:nosuch", "{SELECT, nosuch}"},
      {"COPY nosuch TO STDOUT", "cmd:copy t:nosuch", "{COPY, nosuch}"},
      {"SELECT count(*) FROM (SELECT DISTINCT city FROM hospitaldb) x",
       "cmd:select f:count(*) f:count(hospitaldb.city) t:hospitaldb", "{SELECT, hospitaldb, count(*), count(city)}"},
      {"SELECT zip FROM (a CROSS JOIN b) AS j", "cmd:select p:zip t:a t:b", "{SELECT, zip, a, b}"},
      {"SELECT relname FROM pg_catalog.pg_class", "", "{}"},
      {"SELECT n.y FROM notes, XMLTABLE('/a' PASSING (body::xml) COLUMNS y int PATH 'b') n",
       "cmd:select p:notes.body t:notes", "{SELECT, body, notes}"},
      {"SELECT f(x).* FROM t", "unparsed", "{UNPARSED}"},
      {"SELECT (f(x)).a FROM t", "cmd:select p:t.x t:t", "{SELECT, x, t}"},
      {"MERGE INTO t USING s ON t.a = s.b WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (s.c)",
       "cmd:merge j:s.b j:t.a p:s.c t:s t:t", "{MERGE, c, t, s, a_j, b_j}"},
      {"SELECT sum(x) OVER (ORDER BY y) FROM t WHERE t IS NOT NULL",
       "cmd:select f:sum(t.x) o:t.y p:t.x t:t w:t.x w:t.y", "{SELECT, x, t, x_w, y_w, y_o, sum(x)}"},
      {"SELECT * FROM (SELECT * FROM a UNION SELECT * FROM b) q WHERE z = 1",
       "cmd:select p:a.z p:b.z t:a t:b w:a.z w:b.z", "{SELECT, z, a, b, z_w}"},
      {"SELECT * FROM (SELECT * FROM a UNION SELECT x, y FROM b) q WHERE z = 1",
       "cmd:select p:a.z p:b.x p:b.y t:a t:b w:a.z", "{SELECT, z, x, y, a, b, z_w}"},
      {"SELECT q.z FROM (SELECT * FROM a, b) q", "cmd:select p:z t:a t:b", "{SELECT, z, a, b}"},
      {"WITH RECURSIVE c AS (SELECT * FROM a UNION SELECT c.x FROM c) SELECT y FROM c",
       "cmd:select p:a.y t:a w:a.x w:a.y", "{SELECT, y, a, x_w, y_w}"},
      {"SELECT z FROM (SELECT * FROM (SELECT * FROM a) b) c", "cmd:select p:a.z t:a", "{SELECT, z, a}"}};
  for (const Bare& bare : kCases) {
    EXPECT_EQ(BareTokens(bare.sql), bare.tokens) << bare.sql;
    EXPECT_EQ(PosterText(bare.sql, Catalog()), bare.poster) << bare.sql;
  }
}

TEST(Resolver, AsksForEveryNameOnceAndForViewsInRounds) {
  Catalog catalog;
  HeapArena arena;
  std::vector<MissingName> missing;
  AnalyseText("SELECT lower(p.pid::text), lower('a'), sum(1) FROM inpatients p, hr.contracts, inpatients q", catalog,
              arena, &missing);
  ASSERT_EQ(missing.size(), 3u);
  EXPECT_EQ(missing[0].name, "inpatients");
  EXPECT_EQ(missing[1].schema + "." + missing[1].name, "hr.contracts");
  EXPECT_EQ(missing[2].kind, MissingName::Kind::kFunction);
  EXPECT_EQ(missing[2].name, "lower");
  EXPECT_EQ(missing[2].arguments, 1);
  int rounds = 0;
  AnalyseHospital("SELECT * FROM inpatients", &catalog, &arena, &rounds);
  EXPECT_EQ(rounds, 4);  // the view, what is in it, what is in the view within, nothing missing
}

TEST(Resolver, FillsRelationsFromTheCatalog) {
  HeapArena arena;
  std::vector<Statement> statements;
  {
    Catalog catalog;
    statements = AnalyseHospital("SELECT 1 FROM patients, scratch.sink, pg_catalog.pg_class", &catalog, &arena);
  }  // statements do not point into the catalog
  ASSERT_EQ(statements.size(), 1u);
  ASSERT_NE(statements[0].query, nullptr);
  const Query& query = *statements[0].query;
  ASSERT_EQ(query.ranges.size, 3);
  const Relation& patients = *query.ranges.At(0)->relation;
  EXPECT_EQ(patients.name, "public.patients");
  EXPECT_EQ(patients.columns.size, 9);
  ASSERT_EQ(patients.keys.size, 2);
  EXPECT_EQ(patients.keys.At(1)->size, 1);
  EXPECT_EQ(patients.keys.At(1)->columns[0], 1);
  EXPECT_FALSE(patients.own);
  EXPECT_TRUE(query.ranges.At(1)->relation->own);
  EXPECT_TRUE(query.ranges.At(2)->relation->catalog);
}

TEST(Resolver, CountsLevels) {
  Catalog catalog;
  HeapArena arena;
  const auto statements = AnalyseHospital(
      "SELECT 1 FROM patients p WHERE EXISTS (SELECT 1 UNION SELECT 2 FROM notes n WHERE n.patient_id = p.id)",
      &catalog, &arena);
  const Expr* exists = statements[0].query->conditions.first;
  ASSERT_EQ(exists->kind, ExprKind::kSubquery);
  const Query* arm = exists->subquery->arms.last;
  const Expr* equality = arm->conditions.first;
  ASSERT_EQ(equality->kind, ExprKind::kEquality);
  EXPECT_EQ(equality->args.first->levels_up, 0);
  EXPECT_EQ(equality->args.last->levels_up, 2);  // the arm and the set operation are levels
}

// Items of many columns look their names up by another way than those of few.
TEST(Resolver, FindsColumnsAmongMany) {
  std::string listed, renamed, names;
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    listed += (i == 0 ? "a" : ", a") + number + " AS c" + std::to_string(i % 39);  // c0 stands there twice
    names += (i == 0 ? "d" : ", d") + number;
  }
  const std::string inner = "(SELECT " + listed + " FROM t)";
  EXPECT_EQ(BareTokens("SELECT c17 FROM " + inner + " q"), "cmd:select p:t.a17 t:t");
  EXPECT_EQ(BareTokens("SELECT q.c0 FROM " + inner + " q"), "cmd:select p:t.a0 t:t");
  EXPECT_EQ(BareTokens("SELECT c38, nosuch FROM " + inner + " q"), "cmd:select p:nosuch p:t.a38 t:t");
  EXPECT_EQ(BareTokens("SELECT d39 FROM " + inner + " q (" + names + ")"), "cmd:select p:t.a39 t:t");
  EXPECT_EQ(BareTokens("SELECT c5 FROM " + inner + " q JOIN (SELECT b AS c5, c FROM u) v USING (c5)"),
            "cmd:select j:t.a5 j:u.b p:t.a5 t:t t:u");
}

// What takes too much memory does not parse, and leaves the parser fit for the next text; nor does what the scanner
// would take too long for.
TEST(Resolver, TakesNoMoreThanItMay) {
  constexpr std::size_t kMemory = 1 << 20;
  std::string columns = "a";
  for (int i = 0; i < 5000; ++i) columns += ", a";
  const std::string text = "SELECT " + columns + " FROM t";
  const auto tokens = [](const std::string& sql, std::size_t memory) {
    return Joined(AbstractText(sql, Catalog(), nullptr, {nullptr, TextUse::kMeaning, memory}));
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(tokens(text, kMemory), "unparsed");
    EXPECT_EQ(tokens(text, 16 * kMemory), "cmd:select p:t.a t:t");
  }
  EXPECT_EQ(tokens(text, text.size() * 64 - 1), "unparsed");
  for (const char* sign : {"+", "+-", "/*", "*-"}) {
    std::string signs;
    for (int i = 0; i < 500000; ++i) signs += sign;
    EXPECT_EQ(tokens("SELECT " + signs + "a FROM t", SIZE_MAX), "unparsed") << sign;
  }
  const std::string frame = "/*" + std::string(500, '*') + "*/\n" + std::string(2000, '-') + "\n";
  EXPECT_EQ(tokens(frame + "SELECT a FROM t", SIZE_MAX), "cmd:select p:t.a t:t");
}

// What takes too long is left when nobody waits for it any more.
TEST(Resolver, GivesUp) {
  static int asked = 0;
  std::string columns = "a";
  for (int i = 0; i < 1000; ++i) columns += ", a" + std::to_string(i);
  const std::string text = "SELECT " + columns + " FROM t";
  const Catalog catalog;
  Tokens tokens;
  EXPECT_FALSE(Finishes([&] { tokens = AbstractText(text, catalog, nullptr, {[] { return ++asked == 3; }}); }));
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(Finishes([&] { PosterText(text, catalog, nullptr, {[] { return true; }}); }));
  EXPECT_TRUE(Finishes([&] { tokens = AbstractText(text, catalog, nullptr, {[] { return false; }}); }));
  EXPECT_EQ(tokens.size(), 1003U);
}

TEST(Catalog, RefusesABrokenFeeding) {
  Catalog catalog;
  WireReader reader("abc");
  EXPECT_THROW(catalog.Feed(reader), Error);
}

TEST(Island, RefusesWhatDoesNotParse) {
  EXPECT_EQ(ParseMessage("SELECT FORM x WHERE"), "syntax error at end of input");
  EXPECT_EQ(ParseMessage("SELECT 'open" + Repeat(" ", 5000)).substr(0, 26), "unterminated quoted string");
  EXPECT_EQ(ParseMessage(std::string_view("SELECT 1\0", 9)), "invalid byte sequence for encoding \"UTF8\"");
  for (const char* bytes :
       {"SELECT '\xff'", "SELECT '\xc0\xaf'", "SELECT '\xed\xa0\x80'", "SELECT '\xf4\x90\x80\x80'", "\xf0"})
    EXPECT_EQ(ParseMessage(bytes), "invalid byte sequence for encoding \"UTF8\"");
  EXPECT_EQ(BareTokens("SELECT '\xff'"), "unparsed");
  EXPECT_TRUE(Parses(""));
  EXPECT_TRUE(Parses(" ;; -- nothing"));
  EXPECT_TRUE(Parses("SELECT 'größe', '体重', U&'\\0061'"));
}

TEST(Island, TakesFiveHundredLevels) {
  const int n = 500;
  const std::string kDeep[] = {
      "SELECT " + Repeat("(", n) + "zip" + Repeat(")", n) + " FROM patients",
      "SELECT " + Repeat("lower(", n) + "zip" + Repeat(")", n) + " FROM patients",
      "SELECT zip FROM " + Repeat("(SELECT zip FROM ", n) + "patients" + Repeat(") q", n),
      "SELECT " + Repeat("(SELECT ", n) + "zip" + Repeat(")", n) + " FROM patients",
      "SELECT " + Repeat("CASE WHEN true THEN ", n) + "zip" + Repeat(" END", n) + " FROM patients",
      "SELECT zip" + Repeat("::text", n) + " FROM patients",
      "SELECT " + Repeat("ARRAY[", n) + "zip" + Repeat("]", n) + " FROM patients",
      "SELECT zip FROM patients" + Repeat(" UNION ALL SELECT zip FROM patients", n),
      "SELECT p.zip FROM patients p" + Repeat(" CROSS JOIN (SELECT 1) x", n)};
  for (const std::string& sql : kDeep)
    EXPECT_EQ(HospitalTokens(sql), "cmd:select p:public.patients.zip t:public.patients") << sql.substr(0, 60);
  EXPECT_EQ(HospitalTokens("SELECT zip FROM patients WHERE " + Repeat("NOT ", n) + "zip IS NULL"),
            "cmd:select p:public.patients.zip t:public.patients w:public.patients.zip");
}

TEST(Island, RefusesToNestTooDeeply) {
  const std::string kDeep[] = {"SELECT 1" + Repeat("+1", 500000),
                               "SELECT " + Repeat("(", 500000),
                               "SELECT " + Repeat("(", 5000) + "1" + Repeat(")", 5000),
                               "SELECT " + Repeat("- ", 5000) + "1",
                               "SELECT " + Repeat("NOT ", 5000) + "true",
                               "SELECT a" + Repeat("::int", 5000),
                               "SELECT 1" + Repeat(" BETWEEN 1 AND NOT 2", 5000),
                               "SELECT a" + Repeat(".and+a", 5000),
                               "SELECT 1" + Repeat(Repeat("+1", 900) + "+join(1)", 10),
                               "SELECT " + Repeat("CASE WHEN ", 5000) + "1" + Repeat(" THEN 1 END", 5000),
                               "SELECT " + Repeat("f(1,", 5000) + "1" + Repeat(")", 5000),
                               "SELECT 1 FROM a" + Repeat(" NATURAL JOIN a", 5000),
                               "SELECT 1 FROM a" + Repeat(" JOIN a ON b AND c", 5000),
                               "SELECT 1" + Repeat(" UNION SELECT 1, 2", 5000)};
  for (const std::string& sql : kDeep)
    EXPECT_EQ(ParseMessage(sql), "statement is nested too deeply") << sql.substr(0, 60);
}

// A text that is nested n times in some way.
struct Nested {
  int most;  // as deep as the server runs it
  const char* before;
  const char* opens;
  const char* within;
  const char* closes;
  const char* after;

  std::string Text(int n) const { return before + Repeat(opens, n) + within + Repeat(closes, n) + after; }
};

constexpr Nested kNested[] = {
    {4073, "SELECT zip", "+zip", "", "", " FROM patients"},
    {4073, "SELECT zip", "+1", "", "", " FROM patients"},
    {4073, "SELECT ", "- ", "zip", "", " FROM patients"},
    {4073, "SELECT ", "lower(", "zip", ")", " FROM patients"},
    {13035, "SELECT zip", "::text", "", "", " FROM patients"},
    {13035, "SELECT zip", "::int", "", "", " FROM patients"},
    {13035, "SELECT zip", "::double precision", "", "", " FROM patients"},
    {13035, "SELECT zip", "::national character varying", "", "", " FROM patients"},
    {13035, "SELECT zip", "::timestamp with time zone", "", "", " FROM patients"},
    {2047, "SELECT ", "(SELECT ", "zip", ")", " FROM patients"},
    {9919, "SELECT ", "(", "zip", ")", " FROM patients"},
    {3294, "SELECT ", "zip+(", "zip", ")", " FROM patients"},
    {1969, "SELECT ", "CASE WHEN true THEN ", "zip", " END", " FROM patients"},
    {1400, "SELECT zip FROM ", "(SELECT zip FROM ", "patients", ") q", ""},
    {3000, "SELECT zip FROM patients", " CROSS JOIN (SELECT 1) x", "", "", ""},
    {4000, "SELECT zip FROM patients", " UNION ALL SELECT zip FROM patients", "", "", ""},
    {9000, "SELECT zip FROM patients WHERE ", "NOT ", "zip IS NULL", "", ""},
    {1200, "SELECT zip FROM patients WHERE ", "EXISTS (SELECT 1 WHERE ", "zip = '1'", ")", ""}};

TEST(Island, TakesWhatTheServerRuns) {
  for (const Nested& nested : kNested)
    EXPECT_EQ(HospitalTokens(nested.Text(testing_support::Instances(nested.most))), HospitalTokens(nested.Text(1)))
        << nested.Text(1);
}

// Beyond that texts are unparsed, by whatever meets its limit first, and the next one is read as ever.
TEST(Island, RefusesWhatIsDeeperThanItsStack) {
  for (const Nested& nested : kNested) EXPECT_EQ(BareTokens(nested.Text(50000)), "unparsed") << nested.Text(1);
  EXPECT_EQ(HospitalTokens("SELECT zip FROM patients"), "cmd:select p:public.patients.zip t:public.patients");
}

// What a text holds is not moved once for each level that it lies in.
TEST(Island, CopiesALargeTextThatIsDeepOnce) {
  const std::string text = "SELECT " + Repeat("- ", 9000) + "'" + Repeat("x", 4000000) + "', zip FROM patients";
  EXPECT_EQ(HospitalTokens(text), "cmd:select p:public.patients.zip t:public.patients");
}

TEST(Resolver, GivesUpInTheDeep) {
  static int asked = 0;
  static int last = 0;
  const Catalog catalog;
  for (const Nested& nested : kNested) {
    const std::string text = nested.Text(testing_support::Instances(nested.most / 2));
    asked = 0;
    AbstractText(text, catalog, nullptr, {[] { return ++asked < 0; }});
    for (last = asked; last > 0; last /= 4) {
      asked = 0;
      EXPECT_FALSE(Finishes([&] { AbstractText(text, catalog, nullptr, {[] { return ++asked == last; }}); }));
    }
  }
}

TEST(Island, TakesLongFlatStatements) {
  EXPECT_EQ(HospitalTokens("SELECT zip FROM patients WHERE id IN (1" +
                           Repeat(",23456", testing_support::Instances(170000)) + ")"),
            "cmd:select p:public.patients.zip t:public.patients w:public.patients.id");
  EXPECT_EQ(HospitalTokens("SELECT zip FROM patients WHERE id = 1" +
                           Repeat(" OR id = 2 AND id = 3", testing_support::Instances(10000))),
            "cmd:select p:public.patients.zip t:public.patients w:public.patients.id");
  EXPECT_EQ(HospitalTokens("INSERT INTO departments VALUES (1, 'a', 'b')" +
                           Repeat(", (1, 'a', 'b')", testing_support::Instances(50000))),
            "cmd:insert s:public.departments.building s:public.departments.id s:public.departments.name "
            "t:public.departments");
  EXPECT_TRUE(Parses("SELECT (a)" + Repeat(".b", testing_support::Instances(100000))));
  EXPECT_TRUE(Parses("SELECT a" + Repeat("[1]", testing_support::Instances(10000))));
  EXPECT_TRUE(Parses(Repeat("SELECT 1+1;", testing_support::Instances(20000))));
}

TEST(Island, SurvivesMutilatedText) {
  const std::string kSeeds[] = {
      "WITH RECURSIVE t(n) AS (SELECT id FROM staff UNION ALL SELECT s.id FROM staff s JOIN t ON s.manager_id = t.n) "
      "SELECT n, (p).zip, count(*) FILTER (WHERE paid) OVER w FROM t, patients p NATURAL JOIN LATERAL (VALUES (1, "
      "p.id)) v "
      "WHERE (a, b) IN (SELECT * FROM nosuch) GROUP BY ROLLUP (1, n) WINDOW w AS (PARTITION BY zip) ORDER BY 2 LIMIT 1",
      "MERGE INTO open_bills o USING (SELECT * FROM nosuch) s ON o.id = s.x WHEN MATCHED THEN UPDATE SET (amount, "
      "insurer) "
      "= (SELECT 1, 2) WHEN NOT MATCHED THEN INSERT VALUES (s.a, DEFAULT)",
      "INSERT INTO dear_bills AS d SELECT j.* FROM (a FULL JOIN b USING (x) AS u) AS j ON CONFLICT (x) DO UPDATE SET "
      "number "
      "= excluded.number WHERE d.twice > 1 RETURNING d, (d).*, ctid",
      "SELECT XMLELEMENT(NAME a, x), ARRAY(SELECT y), f(VARIADIC a => b).c, x[1:2], $1, U&\"d\" FROM ROWS FROM (f(1) "
      "AS (a "
      "int), g(2)) WITH ORDINALITY z TABLESAMPLE bernoulli (1)"};
  std::mt19937 random(12345);
  Catalog catalog;
  HeapArena names;
  for (const std::string& seed : kSeeds) AnalyseHospital(seed, &catalog, &names);
  for (int i = 0; i < 4000; ++i) {
    std::string text = kSeeds[random() % 4];
    const int edits = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < edits; ++k) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 12);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
        case 2:
          text[at] = static_cast<char>(32 + random() % 95);
          break;
        default:
          text[at] = static_cast<char>(random());
          break;
      }
      if (text.empty()) text = "x";
    }
    std::vector<MissingName> missing;
    AbstractText(text, catalog, &missing);
    PosterText(text, catalog, nullptr);
  }
}

}  // namespace
}  // namespace privacy_score
