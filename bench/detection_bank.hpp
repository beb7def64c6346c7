/*
 * detection_bank.hpp - the bank whose sessions the benchmark of detection makes up: its tables, and questions about
 * them.
 *
 * A question is known as tokens (docs/scoring.md, section 1), by what docs/alarms.md counts of it (columns, subjects,
 * rows), and as SQL (detection_sql.hpp). detection.sh holds the first two against what a server records.
 */
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/scoring/differences.hpp"
#include "core/scoring/ngram.hpp"
#include "core/statement/abstraction.hpp"

namespace bank {

using Random = std::mt19937_64;

struct Column {
  const char* name;
  int distinct;
  bool is_number;
};

// Each table has a primary key `id`, which of customer is the subject; the others refer to it.
struct Table {
  const char* name;
  const char* subject;
  double rows_a_customer;
  std::vector<Column> columns;  // that are no identifiers
};

inline const std::vector<Table>& Tables() {
  static const std::vector<Table> tables = {{"customer",
                                             "id",
                                             1,
                                             {{"name", 40000, false},
                                              {"birthday", 8000, false},
                                              {"city", 60, false},
                                              {"job", 80, false},
                                              {"phone", 49000, false},
                                              {"email", 49500, false},
                                              {"income", 200, true},
                                              {"segment", 5, false},
                                              {"risk", 9, true}}},
                                            {"account",
                                             "customer",
                                             1.6,
                                             {{"variety", 4, false},
                                              {"opened", 3000, false},
                                              {"branch", 40, false},
                                              {"balance", 5000, true},
                                              {"credit_line", 20, true}}},
                                            {"payment",
                                             "customer",
                                             30,
                                             {{"booked", 365, false},
                                              {"amount", 2000, true},
                                              {"payee", 3000, false},
                                              {"purpose", 30, false},
                                              {"country", 40, false}}},
                                            {"loan",
                                             "customer",
                                             .4,
                                             {{"variety", 6, false},
                                              {"granted", 2000, false},
                                              {"volume", 300, true},
                                              {"rate", 40, true},
                                              {"status", 5, false},
                                              {"arrears", 12, true}}},
                                            {"contact",
                                             "customer",
                                             6,
                                             {{"held", 700, false},
                                              {"channel", 5, false},
                                              {"topic", 40, false},
                                              {"note", 50000, false},
                                              {"outcome", 6, false}}}};
  return tables;
}

// A column by its table and place.
using ColumnRef = int;
constexpr int kMostColumns = 16;
constexpr int TableOf(ColumnRef ref) { return ref / kMostColumns; }
inline const Column& ColumnOf(ColumnRef ref) {
  return Tables()[static_cast<std::size_t>(TableOf(ref))].columns[static_cast<std::size_t>(ref % kMostColumns)];
}
inline std::vector<ColumnRef> ColumnsOf(int table) {
  std::vector<ColumnRef> all;
  for (std::size_t i = 0; i < Tables()[static_cast<std::size_t>(table)].columns.size(); ++i)
    all.push_back(table * kMostColumns + static_cast<int>(i));
  return all;
}

enum class Kind { kLookUp, kList, kAggregate };
enum class SubjectTest { kNone, kIsOneOf, kIsNot };

// A statement without its constants.
struct Question {
  Kind kind = Kind::kList;
  int table = 0;
  std::set<int> joined;  // by the customer
  std::set<ColumnRef> shown;
  std::set<ColumnRef> filtered;  // = constant
  std::set<ColumnRef> grouped;
  ColumnRef averaged = -1;  // of an aggregate; below 0: it counts
  SubjectTest subject = SubjectTest::kNone;
};

inline std::string Named(int table) { return std::string("public.") + Tables()[static_cast<std::size_t>(table)].name; }
inline std::string SubjectOf(int table) {
  return Named(table) + '.' + Tables()[static_cast<std::size_t>(table)].subject;
}
inline std::string Named(ColumnRef ref, const char* token) {
  return token + Named(TableOf(ref)) + '.' + ColumnOf(ref).name;
}

inline privacy_score::Tokens TokensOf(const Question& question) {
  std::set<std::string> tokens = {"cmd:select", "t:" + Named(question.table)};
  for (const int table : question.joined) {
    tokens.insert("t:" + Named(table));
    tokens.insert("j:" + SubjectOf(table));
    tokens.insert("j:" + SubjectOf(question.table));
  }
  for (const ColumnRef ref : question.shown) tokens.insert(Named(ref, "p:"));
  for (const ColumnRef ref : question.filtered) tokens.insert(Named(ref, "w:"));
  for (const ColumnRef ref : question.grouped) {
    tokens.insert(Named(ref, "g:"));
    tokens.insert(Named(ref, "p:"));
  }
  if (question.subject != SubjectTest::kNone) tokens.insert("w:" + SubjectOf(question.table));
  if (question.kind == Kind::kAggregate) {
    tokens.insert(question.averaged < 0 ? "f:count(*)" : "f:avg(" + Named(question.averaged, "") + ')');
    // What names the rows that the average is taken over.
    if (question.averaged >= 0) {
      for (const ColumnRef ref : question.filtered) tokens.insert(Named(ref, "e:"));
      if (question.subject != SubjectTest::kNone) tokens.insert("e:" + SubjectOf(question.table));
    }
  }
  return {tokens.begin(), tokens.end()};
}

struct Statement {
  privacy_score::AbstractionId id = 0;
  privacy_score::Tokens tokens;
  Question question;
  std::int64_t columns = 0;  // that it reveals
};

// All statements that were ever asked, each once.
class Statements {
 public:
  const Statement* Of(const Question& question) {
    privacy_score::Tokens tokens = TokensOf(question);
    const privacy_score::AbstractionId id = privacy_score::Fingerprint(tokens);
    std::unique_ptr<Statement>& place = all_[id];
    if (!place) {
      std::set<ColumnRef> revealed = question.shown;
      revealed.insert(question.filtered.begin(), question.filtered.end());
      revealed.insert(question.grouped.begin(), question.grouped.end());
      place = std::make_unique<Statement>(
          Statement{id, std::move(tokens), question, static_cast<std::int64_t>(revealed.size())});
    }
    return place.get();
  }
  const Statement* Find(privacy_score::AbstractionId id) const { return all_.at(id).get(); }
  const std::map<privacy_score::AbstractionId, std::unique_ptr<Statement>>& all() const { return all_; }

 private:
  std::map<privacy_score::AbstractionId, std::unique_ptr<Statement>> all_;
};

struct Execution {
  const Statement* statement = nullptr;
  std::vector<int> subjects;         // that it names
  std::vector<std::uint64_t> drawn;  // a constant for each column it filters by
  std::int64_t limit = 0;            // 0: none
  std::int64_t rows = 0;             // that it returns
  // Further values that the last column is compared with, by IN.
  std::vector<std::uint64_t> more;
  // Of an aggregate without groups: the records that it is over, and the number that it returns.
  double records = 0;
  std::optional<double> answer;
};

// Draws what an aggregate without groups is over and answers, in a bank of so many customers. An average over n records
// of a column of so many values strays by its deviation over the root of n, and with what is asked for.
inline void DrawAnswer(Execution& execution, double customers, Random& random) {
  const Question& question = execution.statement->question;
  if (question.kind != Kind::kAggregate || !question.grouped.empty()) return;
  double records = Tables()[static_cast<std::size_t>(question.table)].rows_a_customer;
  for (const int table : question.joined) records *= Tables()[static_cast<std::size_t>(table)].rows_a_customer;
  records *= question.subject == SubjectTest::kIsOneOf ? static_cast<double>(execution.subjects.size()) : customers;
  for (const ColumnRef ref : question.filtered) records /= ColumnOf(ref).distinct;
  if (!question.filtered.empty()) records *= std::exp(std::normal_distribution<double>(0, .7)(random));
  execution.records = std::floor(records + std::uniform_real_distribution<double>(0, 1)(random));
  execution.answer = execution.records;
  if (question.averaged < 0) return;
  execution.answer.reset();
  if (execution.records < 1) return;
  const double range = ColumnOf(question.averaged).distinct;
  const double deviation = range / std::sqrt(12.) * (.1 + 1 / std::sqrt(execution.records));
  execution.answer = range / 2 + deviation * std::normal_distribution<double>(0, 1)(random);
}

// Makes of an execution the next one of a person who compares with one value more, of so many records.
inline void AskWithOneMore(Execution& execution, std::uint64_t value, double records, Random& random) {
  execution.more.push_back(value);
  if (!execution.answer) return;
  const Question& question = execution.statement->question;
  const double all = execution.records + records;
  if (question.averaged < 0) {
    execution.answer = all;
  } else if (records > 0) {
    const double range = ColumnOf(question.averaged).distinct;
    const double other = range * std::uniform_real_distribution<double>(0, 1)(random);
    execution.answer = (*execution.answer * execution.records + other * records) / all;
  }
  execution.records = all;
}

// What the server would know of it.
inline std::optional<privacy_score::AskedAggregate> AskedOf(const Execution& execution) {
  if (!execution.answer) return std::nullopt;
  privacy_score::AskedAggregate asked;
  const Statement& statement = *execution.statement;
  asked.shape = privacy_score::ShapeOfAggregate(statement.tokens);
  asked.form = static_cast<std::uint32_t>(statement.id);
  asked.answer = *execution.answer;
  // Numbers are the same wherever they stand; texts are alike in all columns.
  const auto add = [&](bool is_number, std::uint64_t value) {
    asked.constants.Add(privacy_score::FoldHash(is_number ? 1 : 2, value));
  };
  std::size_t next = 0;
  ColumnRef last = -1;
  for (const ColumnRef ref : statement.question.filtered) {
    last = ref;
    add(ColumnOf(ref).is_number, execution.drawn[next++] % static_cast<std::uint64_t>(ColumnOf(ref).distinct));
  }
  for (const std::uint64_t value : execution.more)
    add(ColumnOf(last).is_number, value % static_cast<std::uint64_t>(ColumnOf(last).distinct));
  for (const int subject : execution.subjects) add(true, static_cast<std::uint64_t>(subject));
  return asked;
}

// Rows of an execution in a bank of so many customers.
inline std::int64_t DrawRows(const Execution& execution, double customers, Random& random) {
  const Question& question = execution.statement->question;
  double rows = Tables()[static_cast<std::size_t>(question.table)].rows_a_customer;
  for (const int table : question.joined) rows *= Tables()[static_cast<std::size_t>(table)].rows_a_customer;
  rows *= question.subject == SubjectTest::kIsOneOf ? static_cast<double>(execution.subjects.size()) : customers;
  for (const ColumnRef ref : question.filtered) rows /= ColumnOf(ref).distinct;
  if (question.kind == Kind::kAggregate) {
    double cells = 1;
    for (const ColumnRef ref : question.grouped) cells *= ColumnOf(ref).distinct;
    return static_cast<std::int64_t>(std::max(1., std::min(cells, rows)));
  }
  // Values are not used alike.
  if (!question.filtered.empty() || question.subject != SubjectTest::kNone)
    rows *= std::exp(std::normal_distribution<double>(0, .7)(random));
  const auto found = static_cast<std::int64_t>(rows + std::uniform_real_distribution<double>(0, 1)(random));
  return execution.limit > 0 ? std::min(found, execution.limit) : found;
}

}  // namespace bank
