/*
 * detection_attacks.hpp - what insiders of the bank do who mean no good: fifteen families of sessions.
 *
 * Each is done under the login of somebody who works there, amid some normal work of hers. How much is drawn each time.
 * "Hard" ones stay within what the role does where they can.
 */
#pragma once

#include <array>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "detection_people.hpp"

namespace bank {

enum class Family {
  kExfiltration,
  kNarrowLookUp,
  kSplit,
  kDifferencing,
  kSweep,
  kHardExfiltration,
  kHardSplit,
  kMasquerade,
  kSlowDrip,
  kHardDifferencing,
  kDossier,
  kEnumeration,
  kMailingList,
  kWhoseIsIt,
  kJoinedDossier,
};

struct FamilyName {
  Family family;
  std::string_view name;
  std::string_view what;
};

inline constexpr std::array<FamilyName, 15> kFamilies = {{
    {Family::kExfiltration, "exfiltration", "one to three whole tables"},
    {Family::kNarrowLookUp, "narrow look-up", "who one is, by birthday, city and job"},
    {Family::kSplit, "split", "what a table holds, one or two columns at a time"},
    {Family::kDifferencing, "differencing", "averages with and without one customer (`<>`)"},
    {Family::kSweep, "sweep", "the same new list for one city after the other"},
    {Family::kHardExfiltration, "hard exfiltration", "the role's own list with two columns more, in pieces"},
    {Family::kHardSplit, "hard split", "three unusual columns, one at a time, amid much work"},
    {Family::kMasquerade, "masquerade", "work of another role under this one's login"},
    {Family::kSlowDrip, "slow drip", "each day a few customers, by one look-up with a column more"},
    {Family::kHardDifferencing, "differencing, hard", "pairs of the role's own aggregates, one customer apart"},
    {Family::kDossier, "dossier of one person", "8 to 20 look-ups of the role about one customer"},
    {Family::kEnumeration, "enumeration", "30 to 300 customers by the role's own look-up"},
    {Family::kMailingList, "mailing list *", "one of the role's own lists without a LIMIT, of 2,000 rows or more"},
    {Family::kWhoseIsIt, "whose is it *", "customers by phone, e-mail or payee"},
    {Family::kJoinedDossier, "joined dossier *", "all tables about one to three customers by one statement"},
}};

class Attacks {
 public:
  explicit Attacks(People& people) : people_(people) {}

  // A session of the family by a person.
  Session Make(Family family, int person, int day) {
    Session session = people_.Begin(person, day, 7);
    const Role& role = people_.RoleOf(person);
    Cover(session, family == Family::kHardSplit ? 20 : 4);
    switch (family) {
      case Family::kExfiltration:
        for (int left = Between(1, 3, random()); left > 0; --left) Whole(session, Below(5, random()));
        break;
      case Family::kNarrowLookUp:
        NarrowLookUp(session);
        break;
      case Family::kSplit:
        Split(session);
        break;
      case Family::kDifferencing:
        Differencing(session);
        break;
      case Family::kSweep:
        Sweep(session, role);
        break;
      case Family::kHardExfiltration:
        HardExfiltration(session, role);
        break;
      case Family::kHardSplit:
        HardSplit(session, role);
        break;
      case Family::kMasquerade:
        Masquerade(session);
        break;
      case Family::kSlowDrip:
        Drip(session, role);
        break;
      case Family::kHardDifferencing:
        for (int left = Between(4, 8, random()); left > 0; --left) {
          const Statement* statement = people_.UsualNumber(role);
          for (int i = 0; i < 2; ++i) people_.Run(session, statement, {});
          people_.Extend(session, 1);
        }
        break;
      case Family::kDossier: {
        const std::vector<int> customer = {people_.AnyCustomer()};
        for (int left = Between(8, 20, random()); left > 0; --left)
          people_.Run(session, people_.Usual(role, Kind::kLookUp), customer);
        break;
      }
      case Family::kEnumeration: {
        const Statement* statement = people_.Usual(role, Kind::kLookUp);
        for (const int customer : people_.SomeCustomers(Between(30, 300, random())))
          people_.Run(session, statement, {customer});
        break;
      }
      case Family::kMailingList:
        MailingList(session, role);
        break;
      case Family::kWhoseIsIt:
        WhoseIsIt(session);
        break;
      case Family::kJoinedDossier:
        JoinedDossier(session);
        break;
    }
    Cover(session, 3);
    return session;
  }

 private:
  Random& random() { return people_.random(); }

  // Normal work around it, at most so many tasks.
  void Cover(Session& session, int most) { people_.Work(session, session.person, Between(most / 4, most, random())); }

  static ColumnRef Of(int table, std::string_view name) {
    for (const ColumnRef ref : ColumnsOf(table))
      if (ColumnOf(ref).name == name) return ref;
    std::abort();
  }

  void Ask(Session& session, const Question& question, const std::vector<int>& customers = {}) {
    people_.Run(session, people_.Of(question), customers, false);
  }

  void Whole(Session& session, int table) {
    Question question;
    question.table = table;
    for (const ColumnRef ref : ColumnsOf(table)) question.shown.insert(ref);
    Ask(session, question);
  }

  void NarrowLookUp(Session& session) {
    Question question;
    question.shown = {Of(0, "name"), Of(0, "income"), Of(0, "risk")};
    question.filtered = {Of(0, "birthday"), Of(0, "city"), Of(0, "job")};
    for (int left = Between(1, 3, random()); left > 0; --left) Ask(session, question);
  }

  void Split(Session& session) {
    const int table = Below(5, random());
    for (const ColumnRef ref : ColumnsOf(table)) {
      if (Uniform(random()) < .2) continue;
      Question question;
      question.table = table;
      question.shown = {ref};
      if (Uniform(random()) < .4) question.shown.insert(OneOf(ColumnsOf(table), random()));
      Ask(session, question);
    }
  }

  void Differencing(Session& session) {
    for (int left = Between(1, 4, random()); left > 0; --left) {
      Question question;
      question.kind = Kind::kAggregate;
      question.averaged = Of(0, Uniform(random()) < .5 ? "income" : "risk");
      question.filtered = {Of(0, "city"), Of(0, "job")};
      Ask(session, question);
      question.subject = SubjectTest::kIsNot;
      Ask(session, question, {people_.AnyCustomer()});
      people_.WithoutOne(session);
    }
  }

  void Sweep(Session& session, const Role& role) {
    Question question;
    question.table = people_.MainTable(role);
    for (const ColumnRef ref : people_.Unusual(role, question.table, 3)) question.shown.insert(ref);
    question.joined = {0};
    question.joined.erase(question.table);
    question.shown.insert(Of(0, "name"));
    question.filtered = {Of(0, "city")};
    for (int left = Between(15, 60, random()); left > 0; --left) Ask(session, question);
  }

  void HardExfiltration(Session& session, const Role& role) {
    Question question = people_.Usual(role, Kind::kList)->question;
    for (const ColumnRef ref : people_.Unusual(role, question.table, 2)) question.shown.insert(ref);
    for (int left = Between(3, 8, random()); left > 0; --left) Ask(session, question);
  }

  void HardSplit(Session& session, const Role& role) {
    const int table = people_.MainTable(role);
    for (const ColumnRef ref : people_.Unusual(role, table, 3)) {
      Question question;
      question.table = table;
      question.shown = {ref};
      question.filtered = people_.Usual(role, Kind::kList)->question.filtered;
      for (auto place = question.filtered.begin(); place != question.filtered.end();)
        place = TableOf(*place) == table ? std::next(place) : question.filtered.erase(place);
      Ask(session, question);
      people_.Work(session, session.person, Between(1, 4, random()));
    }
  }

  void Masquerade(Session& session) {
    const int count = static_cast<int>(people_.people().size());
    int other = Below(count, random());
    while (people_.people()[static_cast<std::size_t>(other)].role == session.role) other = Below(count, random());
    const Session work = people_.NormalSession(other, session.day, 0);
    session.executions = work.executions;
  }

  void Drip(Session& session, const Role& role) {
    Question question = people_.Usual(role, Kind::kLookUp)->question;
    question.shown.insert(OneOf(people_.Unusual(role, question.table, 2), random()));
    for (int left = Between(3, 8, random()); left > 0; --left) Ask(session, question, {people_.AnyCustomer()});
  }

  // Few rows are not worth it.
  void MailingList(Session& session, const Role& role) {
    for (int tries = 0; tries < 50; ++tries) {
      people_.Run(session, people_.Usual(role, Kind::kList), {}, false);
      if (session.executions.back().rows >= 2000) break;
      session.executions.pop_back();
    }
  }

  void WhoseIsIt(Session& session) {
    Question question;
    const bool payee = Uniform(random()) < .4;
    question.table = payee ? 2 : 0;
    question.joined = payee ? std::set<int>{0} : std::set<int>{};
    question.shown = {Of(0, "name"), Of(0, "city")};
    question.filtered = {payee ? Of(2, "payee") : Of(0, Uniform(random()) < .5 ? "phone" : "email")};
    for (int left = Between(1, 6, random()); left > 0; --left) Ask(session, question);
  }

  void JoinedDossier(Session& session) {
    Question question;
    question.kind = Kind::kLookUp;
    question.joined = {1, 2, 3, 4};
    question.subject = SubjectTest::kIsOneOf;
    for (int table = 0; table < 5; ++table)
      for (int left = 3; left > 0; --left) question.shown.insert(OneOf(ColumnsOf(table), random()));
    for (int left = Between(1, 3, random()); left > 0; --left) Ask(session, question, {people_.AnyCustomer()});
  }

  People& people_;
};

}  // namespace bank
