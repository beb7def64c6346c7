/*
 * sqlparse_support.cpp - the tables, views and functions of the in-memory hospital.
 */
#include "sqlparse_support.hpp"

#include <map>
#include <optional>
#include <set>

namespace privacy_score {

namespace {

using Rows = std::vector<std::vector<std::optional<std::string>>>;

struct Table {
  std::string canonical;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> keys;
  std::string view;
  bool catalog = false;
  bool own = false;
};

const std::vector<std::string> kAdmissionColumns = {"id",       "patient_id", "department_id",
                                                    "admitted", "discharged", "ward"};

// By name as asked, with schema public, hr, scratch or pg_catalog.
const std::map<std::string, Table>& Tables() {
  static const std::map<std::string, Table> kTables = {
      {"public.departments", {"public.departments", {"id", "name", "building"}, {{"id"}}, "", false, false}},
      {"public.staff",
       {"public.staff",
        {"id", "department_id", "manager_id", "first_name", "last_name", "job", "salary", "hired"},
        {{"id"}},
        "",
        false,
        false}},
      {"public.patients",
       {"public.patients",
        {"id", "mrn", "first_name", "last_name", "gender", "birth_date", "city", "zip", "details"},
        {{"id"}, {"mrn"}},
        "",
        false,
        false}},
      {"public.admissions", {"public.admissions", kAdmissionColumns, {{"id", "admitted", "ward"}}, "", false, false}},
      {"public.admissions_2024",
       {"public.admissions", kAdmissionColumns, {{"id", "admitted", "ward"}}, "", false, false}},
      {"public.diagnoses",
       {"public.diagnoses",
        {"id", "admission_id", "patient_id", "code", "description", "severity", "noted"},
        {{"id"}},
        "",
        false,
        false}},
      {"public.billing",
       {"public.billing", {"id", "patient_id", "amount", "paid", "issued", "insurer"}, {{"id"}}, "", false, false}},
      {"public.notes", {"public.notes", {"id", "patient_id", "author", "body"}, {{"id"}}, "", false, false}},
      {"public.Lab Results",
       {"public.\"Lab Results\"",
        {"\"Sample ID\"", "\"patientId\"", "\"Value\"", "\"order\""},
        {{"\"Sample ID\""}},
        "",
        false,
        false}},
      {"hr.contracts", {"hr.contracts", {"id", "staff_id", "monthly_pay", "starts"}, {{"id"}}, "", false, false}},
      {"scratch.sink", {"scratch.sink", {"a", "b", "c"}, {}, "", false, true}},
      {"scratch.tally", {"scratch.tally", {"patient_id", "n", "last"}, {{"patient_id"}}, "", false, true}},
      {"scratch.copied", {"scratch.copied", {"town", "n"}, {}, "", false, true}},
      {"scratch.mother", {"scratch.mother", {"city", "n"}, {}, "", false, true}},
      {"pg_catalog.pg_class", {"pg_catalog.pg_class", {"oid", "relname", "relkind"}, {}, "", true, false}},
      {"public.patient_public",
       {"public.patient_public",
        {"pid", "gender", "city", "birth_year"},
        {},
        " SELECT patients.id AS pid,\n    patients.gender,\n    patients.city,\n    (EXTRACT(year FROM "
        "patients.birth_date))::integer AS birth_year\n   FROM public.patients;",
        false,
        false}},
      {"public.inpatients",
       {"public.inpatients",
        {"admission_id", "ward", "pid", "city", "admitted"},
        {},
        " SELECT a.id AS admission_id, a.ward, p.pid, p.city, a.admitted\n   FROM (public.admissions a\n     JOIN "
        "public.patient_public p ON ((p.pid = a.patient_id)))\n  WHERE (a.discharged IS NULL);",
        false,
        false}},
      {"public.department_pay",
       {"public.department_pay",
        {"department_id", "heads", "pay", "top"},
        {},
        " SELECT staff.department_id,\n    count(*) AS heads,\n    avg(staff.salary) AS pay,\n    max(staff.salary) AS "
        "top\n   FROM public.staff\n  GROUP BY staff.department_id;",
        false,
        false}},
      {"public.open_bills",
       {"public.open_bills",
        {"id", "patient_id", "amount", "insurer"},
        {},
        " SELECT billing.id,\n    billing.patient_id,\n    billing.amount,\n    billing.insurer\n   FROM "
        "public.billing\n  WHERE (NOT billing.paid);",
        false,
        false}},
      {"public.dear_bills",
       {"public.dear_bills",
        {"number", "patient", "twice"},
        {},
        " SELECT o.id AS number, o.patient_id AS patient, o.amount * 2 AS twice FROM public.open_bills o WHERE "
        "o.amount > 100::numeric;",
        false,
        false}},
      {"public.looping", {"public.looping", {"a"}, {}, "SELECT looping.a FROM public.looping;", false, false}},
      {"public.bursting",
       {"public.bursting", {"a"}, {}, "SELECT x.a FROM public.bursting x, public.bursting y;", false, false}}};
  return kTables;
}

struct Function {
  char kind;
  std::string canonical;
  std::vector<std::string> columns;
};

const std::map<std::string, Function>& Functions() {
  static const std::map<std::string, Function> kFunctions = {
      {"last_text", {'a', "public.last_text", {}}},
      {"full_name", {'f', "public.full_name", {}}},
      {"tell_all", {'t', "public.tell_all", {}}},
      {"count_city", {'f', "public.count_city", {}}},
      {"names_in", {'f', "public.names_in", {"first_name", "last_name"}}},
      {"generate_series", {'f', "generate_series", {}}},
      {"jsonb_each", {'f', "jsonb_each", {"key", "value"}}},
      {"lower", {'f', "lower", {}}},
      {"row_to_json", {'f', "row_to_json", {}}},
      {"date_trunc", {'f', "date_trunc", {}}}};
  return kFunctions;
}

}  // namespace

void AnswerNames(const std::vector<MissingName>& missing, Catalog* catalog) {
  Rows relations;
  Rows columns;
  Rows keys;
  Rows functions;
  Rows function_columns;
  std::set<std::string> described;
  for (const MissingName& name : missing) {
    if (name.kind == MissingName::Kind::kFunction) {
      const std::string arguments = std::to_string(name.arguments);
      const auto found = Functions().find(name.name);
      if (found == Functions().end()) {
        functions.push_back({name.schema, name.name, arguments, std::nullopt, std::nullopt});
        continue;
      }
      functions.push_back(
          {name.schema, name.name, arguments, found->second.canonical, std::string(1, found->second.kind)});
      for (const std::string& column : found->second.columns)
        function_columns.push_back({name.schema, name.name, arguments, column});
      continue;
    }
    auto found = Tables().end();
    for (const std::string& schema :
         name.schema.empty() ? std::vector<std::string>{"public", "pg_catalog"} : std::vector<std::string>{name.schema})
      if (found == Tables().end()) found = Tables().find(schema + "." + name.name);
    if (found == Tables().end()) {
      relations.push_back({name.schema, name.name, std::nullopt, "t", "f", "f", std::nullopt, std::nullopt});
      continue;
    }
    const Table& table = found->second;
    const bool is_view = !table.view.empty();
    relations.push_back({name.schema, name.name, table.canonical, is_view ? "v" : "t", table.catalog ? "t" : "f",
                         table.own ? "t" : "f", is_view ? std::optional<std::string>(table.view) : std::nullopt,
                         table.canonical == "public.patients" ? "t" : "f"});
    if (!described.insert(table.canonical).second) continue;
    for (const std::string& column : table.columns) columns.push_back({table.canonical, column});
    for (std::size_t i = 0; i < table.keys.size(); ++i)
      for (const std::string& column : table.keys[i]) keys.push_back({table.canonical, std::to_string(i), column});
  }
  WireWriter writer;
  writer.Section(8, relations);
  writer.Section(2, columns);
  writer.Section(3, keys);
  writer.Section(5, functions);
  writer.Section(4, function_columns);
  // The first column of scratch.copied is a copy of two; scratch.mother is a parent of public.patients.
  writer.Section(5, {{"scratch.copied", "town", "public.patients", "city", "f"},
                     {"scratch.copied", "town", "public.patients", "zip", "f"},
                     {"scratch.copied", "nosuch", "public.patients", "city", "f"},
                     {"scratch.nosuch", "town", "public.patients", "city", "f"},
                     {"scratch.mother", "city", "scratch.mother", "city", "f"},
                     {"scratch.mother", "city", "public.patients", "city", "t"}});
  WireReader reader(writer.bytes());
  catalog->Feed(reader);
}

std::vector<Statement> AnalyseHospital(const std::string& sql, Catalog* catalog, Arena* arena, int* rounds) {
  for (int round = 1;; ++round) {
    std::vector<MissingName> missing;
    std::vector<Statement> statements = AnalyseText(sql, *catalog, *arena, &missing);
    if (rounds != nullptr) *rounds = round;
    if (missing.empty() || round >= kMaxCatalogRounds) return statements;
    AnswerNames(missing, catalog);
  }
}

std::vector<std::string> HospitalTokenList(const std::string& sql) {
  Catalog catalog;
  {
    HeapArena arena;
    AnalyseHospital(sql, &catalog, &arena);
  }
  return AbstractText(sql, catalog);
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

std::string HospitalTokens(const std::string& sql) { return Joined(HospitalTokenList(sql)); }

std::string BareTokens(const std::string& sql) { return Joined(AbstractText(sql, Catalog())); }

}  // namespace privacy_score
