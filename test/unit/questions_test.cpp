/*
 * questions_test.cpp - how many subjects one statement addresses and how much is asked about one subject.
 */
#include "core/scoring/questions.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/scoring/reach.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// people(id, c1 .. c9), where id is the subject.
Model PeopleModel() {
  ModelRows model;
  model.relations = {{"people", "1", "t"}};
  model.attributes = {{"people.id", "people", std::nullopt, "t", "0"}};
  for (char c = '1'; c <= '9'; ++c)
    model.attributes.push_back({std::string("people.c") + c, "people", std::nullopt, "f"});
  return Model::Parse(model.Wire());
}

// Statement `id` reveals c1 .. c<1 + id % 4> and the identifier: several reveal the same columns.
std::size_t ColumnsOf(AbstractionId id) { return 1 + static_cast<std::size_t>(id) % 4; }

const Tokens& TokensOf(AbstractionId id) {
  static std::map<AbstractionId, Tokens> all;
  Tokens tokens = {"cmd:select", "p:people.id", "t:people", "w:people.id"};
  for (std::size_t column = 1; column <= ColumnsOf(id); ++column)
    tokens.push_back("p:people.c" + std::to_string(column));
  return all.emplace(id, tokens).first->second;
}

struct Execution {
  AbstractionId id;
  std::vector<std::uint64_t> subjects;
};

ComparedColumn Subject() { return {0, NameHash("people.id")}; }

// A single subject comes as a parameter, as from a backend; several come as a list.
void Execute(ReachTracker& tracker, const Model& model, const Execution& execution) {
  const std::uint32_t form = tracker.FormOf(model, execution.id, TokensOf(execution.id));
  if (execution.subjects.size() == 1) {
    StatementConstants constants;
    constants.parameters = {1};
    constants.groups.push_back({{Subject()}, {{{0, {1}, false}}}});
    const ConstantWords words = Encode(constants);
    const ParameterValue value = {1, false, execution.subjects[0], nullptr, 0};
    tracker.Observe(form, BoundConstants{words.data(), words.size(), &value, 1});
    return;
  }
  ExecutionConstants constants;
  constants.groups = {1, 1, Subject().item, Subject().name, 1, execution.subjects.size()};
  for (const std::uint64_t subject : execution.subjects) {
    constants.groups.push_back(subject);
    constants.vector = FoldHash(constants.vector, subject);
  }
  tracker.Observe(form, constants);
}

struct Expected {
  std::int64_t addressed = 0;
  std::int64_t person = 0;
};

// The definition, on plain values.
Expected ByDefinition(const std::vector<Execution>& session) {
  std::map<AbstractionId, std::set<std::uint64_t>> addressed;
  std::map<std::uint64_t, std::set<AbstractionId>> about;
  for (const Execution& execution : session) {
    for (const std::uint64_t subject : execution.subjects) {
      addressed[execution.id].insert(subject);
      about[subject].insert(execution.id);
    }
  }
  Expected expected;
  for (const auto& [id, subjects] : addressed)
    expected.addressed = std::max(expected.addressed, static_cast<std::int64_t>(subjects.size()));
  for (const auto& [subject, statements] : about) {
    std::size_t columns = 0;
    for (const AbstractionId id : statements) columns += ColumnsOf(id);
    expected.person = std::max(expected.person, static_cast<std::int64_t>(columns));
  }
  return expected;
}

void ExpectFigures(const ReachTracker& tracker, const Expected& expected, unsigned seed) {
  EXPECT_EQ(tracker.figures().addressed, expected.addressed) << seed;
  EXPECT_EQ(tracker.figures().person, expected.person) << seed;
}

// For random sessions: live and after each prefix monotone, after a replay, and in another order.
TEST(Questions, EqualTheDefinition) {
  const Model model = PeopleModel();
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<Execution> session;
    ReachTracker live(model, true);
    ReachFigures before;
    for (int step = 0; step < 200; ++step) {
      Execution execution = {static_cast<AbstractionId>(1 + random() % 9), {}};
      for (unsigned left = random() % 4 == 0 ? 2 + random() % 5 : 1; left > 0; --left)
        execution.subjects.push_back(1 + random() % 60);
      session.push_back(execution);
      Execute(live, model, execution);
      EXPECT_GE(live.figures().addressed, before.addressed);
      EXPECT_GE(live.figures().person, before.person);
      before = live.figures();
    }
    const Expected expected = ByDefinition(session);
    ExpectFigures(live, expected, seed);
    ReachTracker again(model, true);
    again.Replay(live, model, TokensOf);
    ExpectFigures(again, expected, seed);
    std::shuffle(session.begin(), session.end(), random);
    ReachTracker shuffled(model, true);
    for (const Execution& execution : session) Execute(shuffled, model, execution);
    ExpectFigures(shuffled, expected, seed);
  }
}

TEST(Questions, RepeatsAddNothing) {
  const Model model = PeopleModel();
  ReachTracker tracker(model, true);
  for (int round = 0; round < 3; ++round) {
    Execute(tracker, model, {3, {7}});
    Execute(tracker, model, {3, {7, 8}});
  }
  ExpectFigures(tracker, {2, 4}, 0);
  Execute(tracker, model, {7, {8}});  // another statement that reveals the same columns asks once more
  ExpectFigures(tracker, {2, 8}, 0);
}

TEST(Questions, MemoryIsBounded) {
  Questions questions;
  ReachFigures figures;
  Questions::Statement statement = {0, 1, 0};
  for (std::uint64_t subject = 1; subject <= kMostQuestions + 1000; ++subject)
    questions.Ask(statement, subject, nullptr, figures);
  EXPECT_EQ(figures.addressed, static_cast<std::int64_t>(kMostQuestions));
  EXPECT_EQ(questions.size(), 2 * kMostQuestions);
}

}  // namespace
}  // namespace privacy_score
