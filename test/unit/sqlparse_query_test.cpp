/*
 * sqlparse_query_test.cpp - reading statements: scopes, joins, grouping, set operations, WITH.
 */
#include <gtest/gtest.h>

#include "sqlparse_support.hpp"

namespace privacy_score {
namespace {

struct Expected {
  const char* sql;
  const char* tokens;
};

// Compares the tokens of each statement over the hospital.
template <std::size_t kSize>
void ExpectTokens(const Expected (&cases)[kSize]) {
  for (const Expected& expected : cases) EXPECT_EQ(HospitalTokens(expected.sql), expected.tokens) << expected.sql;
}

TEST(Resolver, WhatMayTellItsArgumentsProjectsThem) {
  const Expected kCases[] = {
      {"SELECT count(tell_all(city)) FROM patients",
       "cmd:select f:count(public.patients.city) p:public.patients.city t:public.patients"},
      {"SELECT count(lower(city)) FROM patients", "cmd:select f:count(public.patients.city) t:public.patients"},
      {"SELECT zip FROM patients ORDER BY lower(tell_all(city))",
       "cmd:select o:public.patients.city p:public.patients.city p:public.patients.zip t:public.patients"},
      {"SELECT count(*) FROM patients p, LATERAL tell_all(p.city) x",
       "cmd:select f:count(*) p:public.patients.city t:public.patients"},
      {"SELECT count(*), tell_all('x') FROM patients", "cmd:select f:count(*) t:public.patients"}};
  ExpectTokens(kCases);
}

// What the server counts of EXPLAIN, and that this follows from the tokens of the statement where it is said to.
TEST(Resolver, ExplainedTextsOfHistoryTellEstimates) {
  const Expected kCases[] = {{"SELECT a FROM t WHERE b = 1 ORDER BY c", "cmd:explain g:t.c t:t w:t.b"},
                             {"UPDATE t SET a = x, d = (SELECT max(y) FROM u WHERE z = 1) WHERE b = 1 RETURNING e",
                              "cmd:explain g:u.y t:t t:u w:t.b w:u.z"},
                             {"SELECT count(*), sum(a), min(a) FROM t GROUP BY b", "cmd:explain g:t.a g:t.b t:t"},
                             {"SELECT DISTINCT a, 1 FROM t", "cmd:explain g:t.a t:t"},
                             {"SELECT b, (SELECT c FROM u WHERE d = t.a) FROM t", "cmd:explain j:t.a j:u.d t:t t:u"},
                             {"(SELECT a FROM t EXCEPT ALL SELECT c FROM u) UNION ALL SELECT d FROM v",
                              "cmd:explain g:t.a g:u.c g:v.d t:t t:u t:v"},
                             {"SELECT a FROM t UNION ALL SELECT c FROM u", "cmd:explain t:t t:u"},
                             {"SELECT 1 FROM (SELECT DISTINCT a, b FROM t) s", "cmd:explain g:t.a g:t.b t:t"},
                             {"SELECT 1 FROM t, unnest(t.a) x", "cmd:explain t:t w:t.a"},
                             {"CREATE TABLE x AS SELECT DISTINCT ON (a) b FROM t", "cmd:explain g:t.a t:t"},
                             {"SELECT 1", ""},
                             {"EXECUTE p", ""}};
  for (const Expected& expected : kCases) {
    const std::string sql = std::string("EXPLAIN (VERBOSE, ANALYZE OFF) ") + expected.sql;
    EXPECT_EQ(Joined(AbstractText(sql, Catalog(), nullptr, {nullptr, TextUse::kHistory})), expected.tokens) << sql;
    HeapArena arena;
    Statement statement = AnalyseText(expected.sql, Catalog(), arena, nullptr)[0];
    bool tell_more = false;
    const Tokens derived = EstimateTokens(Abstract(statement, &tell_more));
    statement.explained = true;
    EXPECT_TRUE(tell_more || derived == Abstract(statement)) << sql;
  }
  for (const char* sql : {"EXPLAIN (ANALYZE) SELECT a FROM t", "EXPLAIN ANALYZE VERBOSE SELECT a FROM t",
                          "EXPLAIN (ANALYZE false, ANALYZE 1) SELECT a FROM t"})
    EXPECT_EQ(Joined(AbstractText(sql, Catalog(), nullptr, {nullptr, TextUse::kHistory})), "cmd:select p:t.a t:t")
        << sql;
  for (const char* sql : {"EXPLAIN SELECT a FROM t", "EXPLAIN (ANALYZE FALSE) SELECT a FROM t"})
    EXPECT_EQ(BareTokens(sql), "cmd:select p:t.a t:t") << sql;
}

TEST(Resolver, ColumnsComeFromTheirRanges) {
  const Expected kCases[] = {
      {"SELECT p.last_name, x.code FROM patients p, LATERAL (SELECT d.code FROM diagnoses d WHERE d.patient_id = p.id) "
       "x",
       "cmd:select j:public.diagnoses.patient_id j:public.patients.id p:public.diagnoses.code "
       "p:public.patients.last_name t:public.diagnoses t:public.patients"},
      {"SELECT a, b FROM patients AS p(a, b) WHERE c3 = 1",
       "cmd:select p:public.patients.id p:public.patients.mrn t:public.patients w:c3"},
      {"SELECT a FROM patients AS p(x, a)", "cmd:select p:public.patients.mrn t:public.patients"},
      {"SELECT (p).last_name FROM patients p", "cmd:select p:public.patients.last_name t:public.patients"},
      {"SELECT full_name(p) FROM patients p",
       "cmd:select p:public.patients.birth_date p:public.patients.city p:public.patients.details "
       "p:public.patients.first_name p:public.patients.gender p:public.patients.id p:public.patients.last_name "
       "p:public.patients.mrn p:public.patients.zip t:public.patients"},
      {"SELECT p.full_name FROM patients p",
       "cmd:select p:public.patients.birth_date p:public.patients.city p:public.patients.details "
       "p:public.patients.first_name p:public.patients.gender p:public.patients.id p:public.patients.last_name "
       "p:public.patients.mrn p:public.patients.zip t:public.patients"},
      {"SELECT last_name(p) FROM patients p", "cmd:select p:public.patients.last_name t:public.patients"},
      {"SELECT row_to_json(p.*) FROM departments p",
       "cmd:select p:public.departments.building p:public.departments.id p:public.departments.name "
       "t:public.departments"},
      {"SELECT (p).* FROM departments p",
       "cmd:select p:public.departments.building p:public.departments.id p:public.departments.name "
       "t:public.departments"},
      {"SELECT d.* FROM departments d JOIN staff s ON s.department_id = d.id",
       "cmd:select j:public.departments.id j:public.staff.department_id p:public.departments.building "
       "p:public.departments.id p:public.departments.name t:public.departments t:public.staff"},
      {"SELECT patient_id FROM admissions NATURAL JOIN notes",
       "cmd:select j:public.admissions.id j:public.admissions.patient_id j:public.notes.id j:public.notes.patient_id "
       "p:public.admissions.patient_id t:public.admissions t:public.notes"},
      {"SELECT patient_id FROM admissions a FULL JOIN billing b USING (patient_id)",
       "cmd:select j:public.admissions.patient_id j:public.billing.patient_id p:public.admissions.patient_id "
       "p:public.billing.patient_id t:public.admissions t:public.billing"},
      {"SELECT patient_id FROM admissions a RIGHT JOIN billing b USING (patient_id)",
       "cmd:select j:public.admissions.patient_id j:public.billing.patient_id p:public.billing.patient_id "
       "t:public.admissions t:public.billing"},
      {"SELECT j.x FROM (departments d JOIN staff s ON s.department_id = d.id) AS j(x, y, z)",
       "cmd:select j:public.departments.id j:public.staff.department_id p:public.departments.id t:public.departments "
       "t:public.staff"},
      {"SELECT j FROM (departments d JOIN notes n ON n.id = d.id) AS j",
       "cmd:select j:public.departments.id j:public.notes.id p:public.departments.building p:public.departments.id "
       "p:public.departments.name p:public.notes.author p:public.notes.body p:public.notes.id "
       "p:public.notes.patient_id t:public.departments t:public.notes"},
      {"SELECT u.patient_id FROM admissions JOIN billing USING (patient_id) AS u",
       "cmd:select j:public.admissions.patient_id j:public.billing.patient_id p:public.admissions.patient_id "
       "t:public.admissions t:public.billing"},
      {"TABLE departments",
       "cmd:select p:public.departments.building p:public.departments.id p:public.departments.name "
       "t:public.departments"},
      {"SELECT p.id FROM patients p, staff s WHERE (p.first_name, p.last_name) = (s.first_name, s.last_name)",
       "cmd:select j:public.patients.first_name j:public.patients.last_name j:public.staff.first_name "
       "j:public.staff.last_name p:public.patients.id t:public.patients t:public.staff"},
      {"SELECT key FROM patients, jsonb_each(details)", "cmd:select p:public.patients.details t:public.patients"},
      {"SELECT e.value FROM patients p, jsonb_each(p.details) AS e",
       "cmd:select p:public.patients.details t:public.patients"},
      {"SELECT n.last_name FROM names_in('Cork') n", "cmd:select"},
      {"SELECT g FROM generate_series(1, 3) g", ""},
      {"SELECT p.mrn, g.o FROM patients p, generate_series(1, p.id) WITH ORDINALITY AS g(v, o)",
       "cmd:select p:public.patients.id p:public.patients.mrn t:public.patients"},
      {"SELECT r.a FROM ROWS FROM (generate_series(1,2), names_in('x')) AS r(a, b, c)", "cmd:select"},
      {"SELECT t.a FROM json_to_recordset('[]') AS t(a int, b text)", "cmd:select"},
      {"SELECT x.n FROM notes, XMLTABLE('/a' PASSING body::xml COLUMNS n int PATH 'b') x", "unparsed"},
      {"SELECT last_name FROM patients TABLESAMPLE system (10)",
       "cmd:select p:public.patients.last_name t:public.patients"},
      {"SELECT 1", ""},
      {"SELECT lower('X'), tell_all('x')", "cmd:select"},
      {"SELECT ctid FROM departments",
       "cmd:select p:public.departments.building p:public.departments.id p:public.departments.name "
       "t:public.departments"},
      {"SELECT xmin FROM departments", "cmd:select t:public.departments"},
      {"SELECT \"order\" FROM \"Lab Results\" l WHERE l.\"patientId\" = 1",
       "cmd:select p:public.\"Lab Results\".\"order\" t:public.\"Lab Results\" w:public.\"Lab Results\".\"patientId\""},
      {"SELECT pay, top FROM department_pay WHERE heads > 3",
       "cmd:select f:avg(public.staff.salary) f:count(*) f:max(public.staff.salary) g:public.staff.department_id "
       "p:public.staff.salary t:public.staff"},
      {"SELECT current_date, now(), zip FROM patients WHERE birth_date < current_date",
       "cmd:select p:public.patients.zip t:public.patients w:public.patients.birth_date"},
      {"SELECT city IN ('a'), id BETWEEN 1 AND 3 FROM patients",
       "cmd:select p:public.patients.city p:public.patients.id t:public.patients"},
      {"SELECT public.patients.zip FROM public.patients", "cmd:select p:public.patients.zip t:public.patients"},
      {"SELECT patients.zip FROM public.patients", "cmd:select p:public.patients.zip t:public.patients"},
      {"SELECT s.a FROM scratch.sink s JOIN patients p ON p.last_name = s.a",
       "cmd:select p:scratch.sink.a t:public.patients t:scratch.sink w:public.patients.last_name w:scratch.sink.a"}};
  ExpectTokens(kCases);
}

TEST(Resolver, GroupsOrdersAndSets) {
  const Expected kCases[] = {
      {"SELECT first_name AS last_name FROM staff ORDER BY last_name",
       "cmd:select o:public.staff.first_name p:public.staff.first_name t:public.staff"},
      {"SELECT first_name AS last_name, count(*) FROM staff GROUP BY last_name, first_name",
       "cmd:select f:count(*) g:public.staff.first_name g:public.staff.last_name p:public.staff.first_name "
       "t:public.staff"},
      {"SELECT upper(city) AS c, count(*) FROM patients GROUP BY c ORDER BY 2 DESC, c LIMIT 3",
       "cmd:select f:count(*) g:public.patients.city l:public.patients.city o:public.patients.city "
       "p:public.patients.city t:public.patients"},
      {"SELECT gender, city, count(*) FROM patients GROUP BY GROUPING SETS ((gender), (city), ())",
       "cmd:select f:count(*) g:public.patients.city g:public.patients.gender p:public.patients.city "
       "p:public.patients.gender t:public.patients"},
      {"SELECT gender, city, zip FROM patients GROUP BY ROLLUP ((gender, city), zip)",
       "cmd:select g:public.patients.city g:public.patients.gender g:public.patients.zip p:public.patients.city "
       "p:public.patients.gender p:public.patients.zip t:public.patients"},
      {"SELECT DISTINCT ON (city) city, zip FROM patients ORDER BY city, birth_date",
       "cmd:select g:public.patients.city l:public.patients.birth_date l:public.patients.city "
       "o:public.patients.birth_date o:public.patients.city p:public.patients.city p:public.patients.zip "
       "t:public.patients"},
      {"SELECT rank() OVER (PARTITION BY city ORDER BY birth_date) FROM patients",
       "cmd:select f:rank() g:public.patients.city o:public.patients.birth_date t:public.patients"},
      {"SELECT sum(salary) OVER w FROM staff WINDOW w AS (PARTITION BY job), w2 AS (w ORDER BY hired)",
       "cmd:select f:sum(public.staff.salary) g:public.staff.job o:public.staff.hired p:public.staff.salary "
       "t:public.staff"},
      {"SELECT string_agg(last_name, ',' ORDER BY hired) FILTER (WHERE job = 'x') FROM staff",
       "cmd:select f:string_agg(public.staff.last_name) o:public.staff.hired p:public.staff.last_name t:public.staff "
       "w:public.staff.job"},
      {"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) FROM staff",
       "cmd:select f:percentile_cont(public.staff.salary) o:public.staff.salary p:public.staff.salary t:public.staff"},
      {"SELECT count(1), count(DISTINCT city), last_text(zip) FROM patients",
       "cmd:select f:count(*) f:count(public.patients.city) f:public.last_text(public.patients.zip) "
       "p:public.patients.zip t:public.patients"},
      {"VALUES (1, 2), (3, 4)", ""},
      {"SELECT id, name FROM departments UNION SELECT id, mrn FROM patients ORDER BY name LIMIT 2",
       "cmd:select l:public.departments.name l:public.patients.mrn o:public.departments.name o:public.patients.mrn "
       "p:public.departments.id p:public.departments.name p:public.patients.id p:public.patients.mrn "
       "t:public.departments t:public.patients"},
      {"SELECT id FROM departments EXCEPT (SELECT id FROM staff ORDER BY hired LIMIT 3) INTERSECT SELECT id FROM notes "
       "ORDER BY 1",
       "cmd:select l:public.staff.hired o:public.departments.id o:public.notes.id o:public.staff.hired "
       "o:public.staff.id p:public.departments.id p:public.notes.id p:public.staff.id t:public.departments "
       "t:public.notes t:public.staff"},
      {"SELECT count(*)", ""},
      {"SELECT v.x FROM (VALUES (1, 2)) AS v(x, y) JOIN patients p ON p.id = v.x",
       "cmd:select t:public.patients w:public.patients.id"},
      {"SELECT grouping(city), city FROM patients GROUP BY CUBE (city, zip)",
       "cmd:select g:public.patients.city g:public.patients.zip p:public.patients.city t:public.patients"},
      {"SELECT amount FROM billing ORDER BY amount FETCH FIRST 3 ROWS ONLY",
       "cmd:select l:public.billing.amount o:public.billing.amount p:public.billing.amount t:public.billing"},
      {"SELECT amount FROM billing ORDER BY issued LIMIT ALL",
       "cmd:select o:public.billing.issued p:public.billing.amount t:public.billing"}};
  ExpectTokens(kCases);
}

TEST(Resolver, Subqueries) {
  const Expected kCases[] = {
      {"SELECT id FROM patients WHERE id IN (SELECT patient_id FROM billing WHERE paid)",
       "cmd:select p:public.patients.id t:public.billing t:public.patients w:public.billing.paid "
       "w:public.billing.patient_id w:public.patients.id"},
      {"SELECT id FROM patients WHERE (id, city) IN (SELECT patient_id, insurer FROM billing)",
       "cmd:select p:public.patients.id t:public.billing t:public.patients w:public.billing.insurer "
       "w:public.billing.patient_id w:public.patients.city w:public.patients.id"},
      {"SELECT id FROM patients WHERE id = ANY (SELECT patient_id FROM billing) AND NOT EXISTS (SELECT FROM notes n "
       "WHERE n.patient_id = patients.id)",
       "cmd:select j:public.notes.patient_id j:public.patients.id p:public.patients.id t:public.billing t:public.notes "
       "t:public.patients w:public.billing.patient_id w:public.patients.id"},
      {"SELECT ARRAY(SELECT amount FROM billing b WHERE b.patient_id = p.id) FROM patients p",
       "cmd:select j:public.billing.patient_id j:public.patients.id p:public.billing.amount t:public.billing "
       "t:public.patients"},
      {"SELECT (SELECT max(amount) FROM billing b WHERE b.patient_id = p.id) FROM patients p",
       "cmd:select f:max(public.billing.amount) j:public.billing.patient_id j:public.patients.id "
       "p:public.billing.amount t:public.billing t:public.patients"},
      {"SELECT EXISTS (SELECT 1 FROM notes), CASE job WHEN 'a' THEN salary END FROM staff",
       "cmd:select p:public.staff.job p:public.staff.salary t:public.notes t:public.staff"}};
  ExpectTokens(kCases);
}

TEST(Resolver, WithQueries) {
  const Expected kCases[] = {
      {"WITH a AS (SELECT id, city FROM patients), b(x) AS (SELECT city FROM a) SELECT x FROM b",
       "cmd:select p:public.patients.city t:public.patients"},
      {"WITH patients AS (SELECT name AS n FROM departments) SELECT n FROM patients",
       "cmd:select p:public.departments.name t:public.departments"},
      {"WITH d AS (DELETE FROM billing WHERE paid RETURNING amount) SELECT sum(amount) FROM d",
       "cmd:select f:sum(public.billing.amount) t:public.billing w:public.billing.paid"},
      {"WITH RECURSIVE t(n, m) AS (SELECT id, manager_id FROM staff UNION ALL SELECT s.id, t.m FROM staff s, t WHERE "
       "s.manager_id = t.n) SEARCH DEPTH FIRST BY n SET ord SELECT m FROM t ORDER BY ord",
       "cmd:select j:public.staff.id j:public.staff.manager_id o:public.staff.id p:public.staff.manager_id "
       "t:public.staff w:public.staff.id"},
      {"WITH RECURSIVE t(n) AS (SELECT id FROM staff UNION ALL SELECT s.id FROM staff s JOIN t ON s.manager_id = t.n) "
       "CYCLE n SET c USING p SELECT n FROM t WHERE NOT c",
       "cmd:select j:public.staff.id j:public.staff.manager_id p:public.staff.id t:public.staff w:public.staff.id"}};
  ExpectTokens(kCases);
}

}  // namespace
}  // namespace privacy_score
