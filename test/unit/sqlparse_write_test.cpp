/*
 * sqlparse_write_test.cpp - writing and utility statements, and names that do not resolve over the hospital.
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

TEST(Resolver, WritingStatements) {
  const Expected kCases[] = {
      {"INSERT INTO scratch.sink (a, b) SELECT last_name, zip FROM patients WHERE city = 'x'",
       "cmd:insert p:public.patients.last_name p:public.patients.zip s:scratch.sink.a s:scratch.sink.b "
       "t:public.patients t:scratch.sink w:public.patients.city"},
      {"INSERT INTO scratch.sink SELECT last_name, zip FROM patients",
       "cmd:insert p:public.patients.last_name p:public.patients.zip s:scratch.sink.a s:scratch.sink.b "
       "t:public.patients t:scratch.sink"},
      {"INSERT INTO scratch.sink VALUES ((SELECT max(last_name) FROM staff), 'a'), ('c', DEFAULT)",
       "cmd:insert f:max(public.staff.last_name) p:public.staff.last_name s:scratch.sink.a s:scratch.sink.b "
       "t:public.staff t:scratch.sink"},
      {"INSERT INTO departments DEFAULT VALUES", "cmd:insert t:public.departments"},
      {"INSERT INTO scratch.tally AS t (patient_id, n) SELECT patient_id, count(*) FROM billing GROUP BY 1 ON CONFLICT "
       "(patient_id) DO UPDATE SET n = t.n + excluded.n WHERE t.last IS NULL RETURNING n",
       "cmd:insert f:count(*) g:public.billing.patient_id p:public.billing.patient_id p:scratch.tally.n "
       "s:scratch.tally.n s:scratch.tally.patient_id t:public.billing t:scratch.tally w:scratch.tally.last"},
      {"UPDATE staff SET salary = salary * 1.02", "cmd:update s:public.staff.salary t:public.staff"},
      {"UPDATE staff s SET salary = c.monthly_pay FROM hr.contracts c WHERE c.staff_id = s.id",
       "cmd:update j:hr.contracts.staff_id j:public.staff.id p:hr.contracts.monthly_pay s:public.staff.salary "
       "t:hr.contracts t:public.staff"},
      {"UPDATE staff SET (first_name, last_name) = (SELECT p.first_name, p.last_name FROM patients p WHERE p.id = "
       "staff.id) WHERE job = 'a' RETURNING *",
       "cmd:update j:public.patients.id j:public.staff.id p:public.patients.first_name p:public.patients.last_name "
       "p:public.staff.department_id p:public.staff.first_name p:public.staff.hired p:public.staff.id "
       "p:public.staff.job p:public.staff.last_name p:public.staff.manager_id p:public.staff.salary "
       "s:public.staff.first_name s:public.staff.last_name t:public.patients t:public.staff w:public.staff.job"},
      {"UPDATE staff SET (first_name, last_name) = (last_name, DEFAULT)",
       "cmd:update p:public.staff.last_name s:public.staff.first_name s:public.staff.last_name t:public.staff"},
      {"DELETE FROM billing b USING patients p WHERE b.patient_id = p.id AND p.city = 'x' RETURNING b.amount",
       "cmd:delete j:public.billing.patient_id j:public.patients.id p:public.billing.amount t:public.billing "
       "t:public.patients w:public.patients.city"},
      {"MERGE INTO scratch.tally t USING billing b ON t.patient_id = b.patient_id WHEN MATCHED AND b.paid THEN UPDATE "
       "SET n = b.amount WHEN NOT MATCHED THEN INSERT (patient_id) VALUES (b.patient_id)",
       "cmd:merge p:public.billing.amount p:public.billing.patient_id s:scratch.tally.n s:scratch.tally.patient_id "
       "t:public.billing t:scratch.tally w:public.billing.paid w:public.billing.patient_id w:scratch.tally.patient_id"},
      {"UPDATE open_bills SET amount = 0 WHERE insurer = 'x' RETURNING patient_id",
       "cmd:update p:public.billing.patient_id s:public.billing.amount t:public.billing w:public.billing.insurer "
       "w:public.billing.paid"},
      {"INSERT INTO open_bills (id, amount) VALUES (1, 2)",
       "cmd:insert s:public.billing.amount s:public.billing.id t:public.billing"},
      {"DELETE FROM dear_bills WHERE patient = 3 RETURNING twice",
       "cmd:delete p:public.billing.amount t:public.billing w:public.billing.amount w:public.billing.paid "
       "w:public.billing.patient_id"},
      {"UPDATE department_pay SET pay = 1", "cmd:update s:public.department_pay.pay t:public.department_pay"}};
  ExpectTokens(kCases);
}

TEST(Resolver, UtilityStatements) {
  const Expected kCases[] = {
      {"COPY patients (mrn, zip) TO STDOUT", "cmd:copy p:public.patients.mrn p:public.patients.zip t:public.patients"},
      {"COPY patients (mrn, zip) FROM STDIN",
       "cmd:insert s:public.patients.mrn s:public.patients.zip t:public.patients"},
      {"COPY departments FROM STDIN",
       "cmd:insert s:public.departments.building s:public.departments.id s:public.departments.name "
       "t:public.departments"},
      {"SELECT town FROM scratch.copied",
       "cmd:select p:public.patients.city p:public.patients.zip t:public.patients t:scratch.copied"},
      {"SELECT n FROM scratch.copied WHERE town = 'x'; INSERT INTO scratch.copied (town) VALUES ('x')",
       "cmd:insert cmd:select p:scratch.copied.n s:scratch.copied.town t:public.patients t:scratch.copied "
       "w:public.patients.city w:public.patients.zip"},
      {"SELECT city FROM scratch.mother",
       "cmd:select p:public.patients.city p:scratch.mother.city t:public.patients t:scratch.mother"},
      {"SELECT city FROM ONLY scratch.mother", "cmd:select p:scratch.mother.city t:scratch.mother"},
      {"COPY scratch.mother TO STDOUT", "cmd:copy p:scratch.mother.city p:scratch.mother.n t:scratch.mother"},
      {"INSERT INTO scratch.mother (city) VALUES ('x') RETURNING city",
       "cmd:insert p:scratch.mother.city s:scratch.mother.city t:scratch.mother"},
      {"COPY (SELECT mrn FROM patients) TO STDOUT", "cmd:select p:public.patients.mrn t:public.patients"},
      {"CREATE TABLE x AS SELECT mrn FROM patients", "cmd:select p:public.patients.mrn t:public.patients"},
      {"SELECT mrn INTO y FROM patients", "cmd:select p:public.patients.mrn t:public.patients"},
      {"CREATE MATERIALIZED VIEW m AS SELECT mrn FROM patients", "cmd:select p:public.patients.mrn t:public.patients"},
      {"EXPLAIN ANALYZE SELECT mrn FROM patients", "cmd:select p:public.patients.mrn t:public.patients"},
      {"DECLARE c CURSOR FOR SELECT mrn FROM patients", "cmd:select p:public.patients.mrn t:public.patients"},
      {"PREPARE q AS SELECT mrn FROM patients WHERE id = $1",
       "cmd:select p:public.patients.mrn t:public.patients w:public.patients.id"},
      {"CREATE VIEW v AS SELECT mrn FROM patients", ""},
      {"EXECUTE q(1)", ""},
      {"BEGIN", ""},
      {"SELECT mrn FROM patients; SELECT body FROM notes",
       "cmd:select p:public.notes.body p:public.patients.mrn t:public.notes t:public.patients"}};
  ExpectTokens(kCases);
}

TEST(Resolver, NamesThatDoNotResolve) {
  const Expected kCases[] = {
      {"SELECT nosuch.a, b FROM nosuch WHERE c = 1", "cmd:select p:nosuch.a p:nosuch.b t:nosuch w:nosuch.c"},
      {"SELECT * FROM nosuch n JOIN patients p ON n.pid = p.id WHERE zip = 'x' AND foo = 1",
       "cmd:select j:nosuch.pid j:public.patients.id p:nosuch.foo p:nosuch.pid p:public.patients.birth_date "
       "p:public.patients.city p:public.patients.details p:public.patients.first_name p:public.patients.gender "
       "p:public.patients.id p:public.patients.last_name p:public.patients.mrn p:public.patients.zip t:nosuch "
       "t:public.patients w:nosuch.foo w:public.patients.zip"},
      {"SELECT q.z FROM (SELECT * FROM nosuch) q", "cmd:select p:nosuch.z t:nosuch"},
      {"SELECT p.nosuchcol FROM patients p", "cmd:select p:p.nosuchcol t:public.patients"},
      {"SELECT * FROM looping", "unparsed"},
      {"SELECT * FROM bursting", "unparsed"}};
  ExpectTokens(kCases);
}

}  // namespace
}  // namespace privacy_score
