/*
 * detection_people.hpp - who works in the bank of detection_bank.hpp, and what their normal sessions are.
 *
 * A role has a law by which its statements are drawn, and a repertoire drawn by it. Each of its people has habits of
 * her own in it, by the day of the week, and a share of new work, from 2 to 20 %, on all days alike: variations of the
 * repertoire or statements drawn anew by the role's law, half of which she repeats for a while. The number of tasks of
 * a session and of customers of a task have heavy tails.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "detection_bank.hpp"

namespace bank {

constexpr int kWorkdays = 5;
// The share of new work that is no variation of what the role does.
constexpr double kFresh = .25;
// The share of repeated aggregates that compare with one value more, and not with others.
constexpr double kExtended = .3;

struct Role {
  std::string name;
  std::vector<double> tables;             // weights of tables
  std::vector<std::vector<double>> show;  // of their columns
  std::vector<std::vector<double>> filter;
  std::array<double, 3> kinds{};  // weights of Kind
  double joins = 0;               // share of statements over several tables
  double tasks = 0;               // logarithm of the usual number of tasks of a session
  double unlimited = 0;           // share of lists without a LIMIT
  std::vector<const Statement*> repertoire;
  std::vector<double> popularity;
};

struct Person {
  int role = 0;
  std::string name;
  double new_work = 0;
  double pace = 0;      // added to Role::tasks
  double presence = 0;  // share of days
  double sessions = 0;  // more than one a day, on average
  std::array<std::discrete_distribution<std::size_t>, kWorkdays> habits;
  std::deque<const Statement*> recent;  // new work of late
  std::vector<int> portfolio;           // customers she knows well
};

struct Session {
  int role = 0;
  int person = 0;
  int day = 0;             // working days from 0
  std::int64_t begin = 0;  // seconds
  std::vector<Execution> executions;
};

struct Size {
  int customers;
  int people_a_role;
  int roles;
};

inline double Uniform(Random& random) { return std::uniform_real_distribution<double>(0, 1)(random); }
inline int Below(int end, Random& random) { return std::uniform_int_distribution<int>(0, end - 1)(random); }
inline double Normal(Random& random) { return std::normal_distribution<double>(0, 1)(random); }
inline int Between(int least, int most, Random& random) { return least + Below(most - least + 1, random); }
template <typename T>
const T& OneOf(const std::vector<T>& all, Random& random) {
  return all[static_cast<std::size_t>(Below(static_cast<int>(all.size()), random))];
}

class People {
 public:
  People(std::uint64_t seed, const Size& size) : random_(seed), answers_random_(seed + 1), size_(size) {
    struct Job {
      const char* name;
      std::array<double, 3> kinds;
      double joins, tasks, unlimited;
      std::vector<double> tables;
    };
    static const std::vector<Job> jobs = {{"teller", {.9, .08, .02}, .05, 1.6, .01, {1, 1, .3, .02, .1}},
                                          {"adviser", {.75, .15, .1}, .2, 1.5, .02, {1, .8, .1, .5, .5}},
                                          {"marketing", {.15, .5, .35}, .3, 1.2, .3, {1, .3, .1, .02, .5}},
                                          {"fraud", {.5, .4, .1}, .3, 1.7, .1, {.4, .5, 1, .02, .1}},
                                          {"lending", {.7, .2, .1}, .2, 1.4, .05, {.7, .3, .1, 1, .2}},
                                          {"analyst", {.1, .2, .7}, .3, 1.3, .5, {.7, .5, 1, .5, .05}},
                                          {"call_centre", {.95, .04, .01}, .02, 2.1, .01, {1, .5, .2, .05, 1}},
                                          {"audit", {.3, .4, .3}, .3, 1.5, .3, {.5, .5, .5, .5, .5}}};
    for (int i = 0; i < size.roles; ++i) {
      const Job& job = jobs[static_cast<std::size_t>(i)];
      Role role;
      role.name = job.name;
      role.tables = job.tables;
      role.kinds = job.kinds;
      role.joins = job.joins;
      role.tasks = job.tasks;
      role.unlimited = job.unlimited;
      for (const Table& table : Tables()) {
        role.show.push_back(DrawWeights(table.columns.size(), {1, 1, .3, .1, .01, 0}));
        role.filter.push_back(DrawWeights(table.columns.size(), {1, .3, .1, 0, 0, 0}));
      }
      roles_.push_back(std::move(role));
      MakeRepertoire(roles_.back());
      for (int k = 0; k < size.people_a_role; ++k) MakePerson(i, k);
    }
  }

  const std::vector<Role>& roles() const { return roles_; }
  std::vector<Person>& people() { return people_; }
  Statements& statements() { return statements_; }
  Random& random() { return random_; }
  int customers() const { return size_.customers; }
  const Role& RoleOf(int person) const {
    return roles_[static_cast<std::size_t>(people_[static_cast<std::size_t>(person)].role)];
  }

  // What a person does on a day.
  std::vector<Session> DayOf(int person, int day) {
    const Person& who = people_[static_cast<std::size_t>(person)];
    std::vector<Session> sessions;
    if (Uniform(random_) > who.presence) return sessions;
    int count = 1;
    while (count < 6 && Uniform(random_) < who.sessions / (1 + who.sessions)) ++count;
    for (int i = 0; i < count; ++i) sessions.push_back(NormalSession(person, day, i));
    return sessions;
  }

  // The so-manieth session of a day.
  Session NormalSession(int person, int day, int number) {
    Session session = Begin(person, day, number);
    const Person& who = people_[static_cast<std::size_t>(person)];
    const double tasks = std::exp(RoleOf(person).tasks + who.pace + .8 * Normal(random_));
    Work(session, person, static_cast<int>(std::min(200., std::max(1., std::round(tasks)))));
    return session;
  }

  Session Begin(int person, int day, int number) const {
    Session session;
    session.role = people_[static_cast<std::size_t>(person)].role;
    session.person = person;
    session.day = day;
    session.begin = day * std::int64_t{86400} + 28800 + number * std::int64_t{5400} + person;
    return session;
  }

  // Appends so many tasks as a person has them.
  void Work(Session& session, int person, int tasks) {
    Person& who = people_[static_cast<std::size_t>(person)];
    int customer = DrawCustomer(who);
    for (; tasks > 0; --tasks) {
      const Statement* statement = DrawStatement(who, session.day);
      if (Uniform(random_) < .5) customer = DrawCustomer(who);
      // A task is repeated with other constants.
      bool extends = false;
      do {
        Run(session, statement, {customer});
        if (extends) Extend(session, std::nullopt);
        if (Uniform(random_) < .7) break;
        customer = DrawCustomer(who);
        extends = Uniform(answers_random_) < kExtended;
      } while (true);
    }
  }

  // Runs a statement about customers, where it names any.
  void Run(Session& session, const Statement* statement, const std::vector<int>& customers, bool limited = true) {
    Execution execution;
    execution.statement = statement;
    if (statement->question.subject != SubjectTest::kNone) execution.subjects = customers;
    for (std::size_t i = 0; i < statement->question.filtered.size(); ++i) execution.drawn.push_back(random_());
    const Role& role = roles_[static_cast<std::size_t>(session.role)];
    if (limited && statement->question.kind == Kind::kList && Uniform(random_) >= role.unlimited)
      execution.limit = Uniform(random_) < .8 ? 100 : 500;
    execution.rows = DrawRows(execution, size_.customers, random_);
    DrawAnswer(execution, size_.customers, answers_random_);
    session.executions.push_back(std::move(execution));
  }

  // Makes the last execution the one before it with one value more in a list, where both are of one aggregate that can
  // have one: what the value adds is drawn by the law of the others, or is so many records.
  void Extend(Session& session, std::optional<double> records) {
    if (session.executions.size() < 2) return;
    const Execution& before = session.executions[session.executions.size() - 2];
    Execution& last = session.executions.back();
    if (before.statement != last.statement || !last.answer || last.drawn.empty()) return;
    const double others = last.records;
    Execution next = before;
    AskWithOneMore(next, answers_random_(), records ? *records : others, answers_random_);
    last = std::move(next);
  }

  // Makes the last execution one of the records of the one before it but one.
  void WithoutOne(Session& session) {
    const Execution& before = session.executions[session.executions.size() - 2];
    Execution& last = session.executions.back();
    last.drawn = before.drawn;
    if (!before.answer || !last.answer || before.records < 2) return;
    last.records = before.records - 1;
    const double range = ColumnOf(last.statement->question.averaged).distinct;
    last.answer = (*before.answer * before.records - range * Uniform(answers_random_)) / last.records;
  }

  const Statement* Of(const Question& question) { return statements_.Of(question); }

  // A statement that a role runs often.
  const Statement* Usual(const Role& role, Kind kind) {
    std::discrete_distribution<std::size_t> law(role.popularity.begin(), role.popularity.end());
    while (true) {
      const Statement* statement = role.repertoire[law(random_)];
      if (statement->question.kind == kind) return statement;
    }
  }

  // One that answers by one number that a list can be had for, if the role has any such; else any aggregate.
  const Statement* UsualNumber(const Role& role) {
    const Statement* statement = nullptr;
    for (int tries = 0; tries < 200; ++tries) {
      statement = Usual(role, Kind::kAggregate);
      if (statement->question.grouped.empty() && !statement->question.filtered.empty()) break;
    }
    return statement;
  }

  // Columns of a table that a role shows seldom or never, the rarest first.
  std::vector<ColumnRef> Unusual(const Role& role, int table, int count) const {
    std::vector<ColumnRef> columns = ColumnsOf(table);
    const std::vector<double>& weights = role.show[static_cast<std::size_t>(table)];
    std::stable_sort(columns.begin(), columns.end(), [&](ColumnRef a, ColumnRef b) {
      return weights[static_cast<std::size_t>(a % kMostColumns)] < weights[static_cast<std::size_t>(b % kMostColumns)];
    });
    columns.resize(std::min(columns.size(), static_cast<std::size_t>(count)));
    return columns;
  }

  int AnyCustomer() { return 1 + Below(size_.customers, random_); }
  std::vector<int> SomeCustomers(int count) {
    std::set<int> some;
    while (static_cast<int>(some.size()) < count) some.insert(AnyCustomer());
    return {some.begin(), some.end()};
  }

  int MainTable(const Role& role) {
    return static_cast<int>(std::max_element(role.tables.begin(), role.tables.end()) - role.tables.begin());
  }

 private:
  // How often a role uses each column: some it never does, and two it does.
  std::vector<double> DrawWeights(std::size_t count, const std::vector<double>& law) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < count; ++i) weights.push_back(i < 2 ? 1 : OneOf(law, random_));
    std::shuffle(weights.begin(), weights.end(), random_);
    return weights;
  }

  // New work: what the role does with a column more, less or in place of another, or something else.
  Question DrawNew(const Role& role) {
    if (Uniform(random_) < kFresh) return DrawQuestion(role);
    Question question = OneOf(role.repertoire, random_)->question;
    const auto table = static_cast<std::size_t>(question.table);
    if (question.kind == Kind::kAggregate) {
      question.grouped = DrawColumns(question.table, role.filter[table], 1);
    } else if (Uniform(random_) < .5) {
      question.shown.merge(DrawColumns(question.table, role.show[table], 1));
    } else {
      if (question.shown.size() > 1) question.shown.erase(question.shown.begin());
      question.shown.merge(DrawColumns(question.table, role.show[table], 1));
    }
    return question;
  }

  std::set<ColumnRef> DrawColumns(int table, const std::vector<double>& weights, int count) {
    std::discrete_distribution<int> law(weights.begin(), weights.end());
    std::set<ColumnRef> columns;
    for (int i = 0; i < count; ++i) columns.insert(table * kMostColumns + law(random_));
    return columns;
  }

  Question DrawQuestion(const Role& role) {
    Question question;
    question.kind = static_cast<Kind>(std::discrete_distribution<int>(role.kinds.begin(), role.kinds.end())(random_));
    return DrawQuestion(role, question);
  }

  // Of the kind that it has.
  Question DrawQuestion(const Role& role, Question question) {
    std::discrete_distribution<int> tables(role.tables.begin(), role.tables.end());
    question.table = tables(random_);
    const auto& show = role.show[static_cast<std::size_t>(question.table)];
    const auto& filter = role.filter[static_cast<std::size_t>(question.table)];
    if (Uniform(random_) < role.joins) question.joined.insert(tables(random_));
    question.joined.erase(question.table);
    if (question.kind == Kind::kAggregate) {
      question.filtered = DrawColumns(question.table, filter, Between(0, 2, random_));
      if (Uniform(random_) < .6) question.grouped = DrawColumns(question.table, filter, 1);
    } else {
      question.shown = DrawColumns(question.table, show, Between(2, 5, random_));
      for (const int table : question.joined)
        question.shown.merge(DrawColumns(table, role.show[static_cast<std::size_t>(table)], Between(1, 2, random_)));
      if (question.kind == Kind::kLookUp) {
        question.subject = SubjectTest::kIsOneOf;
        if (Uniform(random_) < .2) question.filtered = DrawColumns(question.table, filter, 1);
      } else {
        question.filtered = DrawColumns(question.table, filter, Between(1, 2, random_));
      }
    }
    return question;
  }

  void MakeRepertoire(Role& role) {
    // Three of each kind at least.
    for (const Kind kind : {Kind::kLookUp, Kind::kList, Kind::kAggregate}) {
      for (int i = 0; i < 3; ++i) {
        Question question;
        question.kind = kind;
        role.repertoire.push_back(Of(DrawQuestion(role, question)));
      }
    }
    while (role.repertoire.size() < 60) role.repertoire.push_back(Of(DrawQuestion(role)));
    std::shuffle(role.repertoire.begin(), role.repertoire.end(), random_);
    for (std::size_t i = 0; i < role.repertoire.size(); ++i) {
      const auto kind = static_cast<std::size_t>(role.repertoire[i]->question.kind);
      role.popularity.push_back((.1 + role.kinds[kind]) / static_cast<double>(i + 1));
    }
  }

  void MakePerson(int role, int number) {
    Person person;
    person.role = role;
    person.name = roles_[static_cast<std::size_t>(role)].name + std::to_string(number);
    person.new_work = .02 + .18 * Uniform(random_);
    person.pace = .3 * Normal(random_);
    person.presence = .6 + .35 * Uniform(random_);
    person.sessions = .8 * Uniform(random_);
    std::vector<double> own = roles_[static_cast<std::size_t>(role)].popularity;
    for (double& weight : own) weight *= std::exp(Normal(random_));
    for (auto& law : person.habits) {
      std::vector<double> weights = own;
      for (double& weight : weights) weight *= std::exp(.6 * Normal(random_));
      law = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
    }
    for (int i = 0; i < 80; ++i) person.portfolio.push_back(AnyCustomer());
    people_.push_back(std::move(person));
  }

  int DrawCustomer(const Person& who) { return Uniform(random_) < .3 ? OneOf(who.portfolio, random_) : AnyCustomer(); }

  const Statement* DrawStatement(Person& who, int day) {
    const Role& role = roles_[static_cast<std::size_t>(who.role)];
    if (Uniform(random_) >= who.new_work)
      return role.repertoire[who.habits[static_cast<std::size_t>(day % kWorkdays)](random_)];
    if (!who.recent.empty() && Uniform(random_) < .5)
      return who.recent[static_cast<std::size_t>(Below(static_cast<int>(who.recent.size()), random_))];
    who.recent.push_back(Of(DrawNew(role)));
    if (who.recent.size() > 5) who.recent.pop_front();
    return who.recent.back();
  }

  Random random_;
  Random answers_random_;  // of its own, so that what is not of answers is drawn as without them
  Size size_;
  Statements statements_;
  std::vector<Role> roles_;
  std::vector<Person> people_;
};

}  // namespace bank
