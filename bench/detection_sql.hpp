/*
 * detection_sql.hpp - the bank of detection_bank.hpp as SQL: its tables, and executions of statements.
 */
#pragma once

#include <string>

#include "detection_bank.hpp"

namespace bank {

// SQL of an execution.
inline std::string SqlOf(const Execution& execution) {
  const Question& question = execution.statement->question;
  const auto name = [](ColumnRef ref) {
    return std::string(Tables()[static_cast<std::size_t>(TableOf(ref))].name) + '.' + ColumnOf(ref).name;
  };
  const auto subject = [](int table) { return SubjectOf(table).substr(7); };
  std::string outputs, from, where, groups;
  const auto append = [](std::string& to, const char* between, const std::string& what) {
    to += (to.empty() ? "" : between) + what;
  };
  for (const ColumnRef ref : question.shown) append(outputs, ", ", name(ref));
  for (const ColumnRef ref : question.grouped) {
    append(outputs, ", ", name(ref));
    append(groups, ", ", name(ref));
  }
  if (question.kind == Kind::kAggregate)
    append(outputs, ", ", question.averaged < 0 ? "count(*)" : "avg(" + name(question.averaged) + ')');
  from = Tables()[static_cast<std::size_t>(question.table)].name;
  for (const int table : question.joined)
    from += std::string(" JOIN ") + Tables()[static_cast<std::size_t>(table)].name + " ON " + subject(table) + " = " +
            subject(question.table);
  std::size_t next = 0;
  for (const ColumnRef ref : question.filtered) {
    const std::string value =
        std::to_string(execution.drawn[next++] % static_cast<std::uint64_t>(ColumnOf(ref).distinct));
    const auto literal = [ref](const std::string& digits) {
      return ColumnOf(ref).is_number ? digits : "'v" + digits + '\'';
    };
    std::string list = literal(value);
    if (next == question.filtered.size())
      for (const std::uint64_t further : execution.more)
        list += ", " + literal(std::to_string(further % static_cast<std::uint64_t>(ColumnOf(ref).distinct)));
    const bool is_list = next == question.filtered.size() && !execution.more.empty();
    append(where, " AND ", name(ref) + (is_list ? " IN (" + list + ')' : " = " + list));
  }
  if (question.subject != SubjectTest::kNone) {
    std::string list;
    for (const int one : execution.subjects) append(list, ", ", std::to_string(one));
    const bool is_not = question.subject == SubjectTest::kIsNot;
    append(where, " AND ",
           subject(question.table) + (execution.subjects.size() == 1 ? (is_not ? " <> " : " = ") + list
                                                                     : (is_not ? " NOT IN (" : " IN (") + list + ')'));
  }
  return "SELECT " + outputs + " FROM " + from + (where.empty() ? "" : " WHERE " + where) +
         (groups.empty() ? "" : " GROUP BY " + groups) +
         (execution.limit > 0 ? " LIMIT " + std::to_string(execution.limit) : "");
}

// SQL that makes the bank.
inline std::string SqlOfBank(int customers) {
  std::string sql;
  for (const Table& table : Tables()) {
    const bool is_customer = &table == &Tables().front();
    const auto rows = static_cast<int>(customers * table.rows_a_customer);
    std::string columns, values;
    int place = 0;
    for (const Column& column : table.columns) {
      columns += std::string(", ") + column.name + (column.is_number ? " int" : " text");
      const std::string value =
          "(hashint8extended(i, " + std::to_string(++place) + ") & 2147483647) % " + std::to_string(column.distinct);
      values += column.is_number ? ", " + value : ", 'v' || " + value;
    }
    sql += std::string("CREATE TABLE ") + table.name + " (id int PRIMARY KEY" +
           (is_customer ? "" : ", customer int REFERENCES customer") + columns + ");\nINSERT INTO " + table.name +
           " SELECT i" + (is_customer ? "" : ", 1 + i % " + std::to_string(customers)) + values +
           " FROM generate_series(1, " + std::to_string(rows) + ") i;\nANALYZE " + table.name +
           ";\nSELECT privacy_score.protect('" + table.name + '\'' + (is_customer ? "" : ", '{customer}'") + ");\n";
  }
  return sql;
}

}  // namespace bank
