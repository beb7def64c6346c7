/*
 * reach_test.cpp - the figures of a session that differs in constants only.
 */
#include "core/scoring/reach.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "core/base/keyed_hash.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

// patients(id, c1..c9) and visits(patient_id, ward) share the subject; stays(a, b) has a subject of two columns.
ModelRows ReachModel() {
  ModelRows model;
  model.relations = {{"patients", "1", "t"}, {"visits", "1", "f"}, {"stays", "2", "t"}};
  model.attributes = {{"patients.id", "patients", std::nullopt, "t", "0"},
                      {"visits.patient_id", "visits", std::nullopt, "t", "0"},
                      {"visits.ward", "visits", std::nullopt, "f"},
                      {"stays.a", "stays", std::nullopt, "t", "1"},
                      {"stays.b", "stays", std::nullopt, "t", "0"}};
  for (char c = '1'; c <= '9'; ++c)
    model.attributes.push_back({std::string("patients.c") + c, "patients", std::nullopt, "f"});
  return model;
}

ComparedColumn Of(const char* name, std::uint32_t item = 0) { return {item, NameHash(name)}; }

using Values = std::vector<std::uint64_t>;

// Adds columns that are compared, one by one, with these values.
void AddGroup(ExecutionConstants& constants, const std::vector<ComparedColumn>& compared,
              const std::vector<Values>& with) {
  std::vector<std::uint64_t>& groups = constants.groups;
  ++groups[0];
  groups.push_back(compared.size());
  for (const ComparedColumn& column : compared) {
    groups.push_back(column.item);
    groups.push_back(column.name);
  }
  groups.push_back(with.size());
  for (const Values& values : with) {
    groups.push_back(values.size());
    groups.insert(groups.end(), values.begin(), values.end());
  }
}

// One execution that compares a column with values.
ExecutionConstants Asking(const char* column, const Values& values) {
  ExecutionConstants constants;
  AddGroup(constants, {Of(column)}, {values});
  for (const std::uint64_t value : values) constants.vector = FoldHash(constants.vector, value);
  return constants;
}

// Tokens by id, one column each: p:patients.c<id>, filtered by the id.
const Tokens& Column(AbstractionId id) {
  static std::map<AbstractionId, Tokens> all;
  return all.emplace(id, Tokens{"cmd:select", "p:patients.c" + std::to_string(id), "t:patients", "w:patients.id"})
      .first->second;
}

void Observe(ReachTracker& tracker, const Model& model, AbstractionId id, const Tokens& tokens,
             const ExecutionConstants& constants) {
  tracker.Observe(tracker.FormOf(model, id, tokens), constants);
}

class ReachTest : public ::testing::Test {
 protected:
  void Ask(AbstractionId id, const char* column, const Values& values) {
    Observe(tracker, model, id, Column(id), Asking(column, values));
  }
  std::vector<std::int64_t> Figures() const { return FiguresOf(tracker); }
  static std::vector<std::int64_t> FiguresOf(const ReachTracker& of) {
    return {of.figures().values, of.figures().values + kReachFigureCount};
  }
  using Is = std::vector<std::int64_t>;

  Model model = Model::Parse(ReachModel().Wire());
  ReachTracker tracker{model, true};
};

TEST_F(ReachTest, ALoopOverThirtyPatients) {
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t patient = 1; patient <= 30; ++patient) Ask(1, "patients.id", {patient});
  EXPECT_EQ(Figures(), (Is{30, 30, 1}));
}

TEST_F(ReachTest, ADossierOnOnePatient) {
  for (AbstractionId id = 1; id <= 8; ++id) Ask(id, "patients.id", {7});
  EXPECT_EQ(Figures(), (Is{1, 1, 8}));
  Ask(9, "patients.id", {8});
  EXPECT_EQ(Figures(), (Is{1, 2, 8}));
}

TEST_F(ReachTest, AListIsOneVectorOfManySubjects) {
  Values all;
  for (std::uint64_t patient = 1; patient <= 30; ++patient) all.push_back(patient);
  Ask(1, "patients.id", all);
  EXPECT_EQ(Figures(), (Is{1, 30, 1}));
}

TEST_F(ReachTest, WithoutConstantsThereIsOneVector) {
  Observe(tracker, model, 1, Column(1), {});
  Observe(tracker, model, 1, Column(1), {});
  EXPECT_EQ(Figures(), (Is{1, 0, 0}));
}

TEST_F(ReachTest, RelationsWithOneSubjectShareItsValues) {
  const Tokens visits = {"cmd:select", "p:visits.ward", "t:visits", "w:visits.patient_id"};
  Ask(1, "patients.id", {7});
  Observe(tracker, model, 50, visits, Asking("visits.patient_id", {7}));
  EXPECT_EQ(Figures(), (Is{1, 1, 2}));
  Observe(tracker, model, 50, visits, Asking("visits.patient_id", {8}));
  EXPECT_EQ(Figures(), (Is{2, 2, 2}));
}

TEST_F(ReachTest, OtherColumnsAreNoSubjects) {
  for (std::uint64_t value = 1; value <= 20; ++value) Ask(1, "patients.c1", {value});
  EXPECT_EQ(Figures(), (Is{20, 0, 0}));
}

TEST_F(ReachTest, WhatIsNotProtectedDoesNotCount) {
  const Tokens log = {"cmd:insert", "s:public.log.line", "t:public.log"};
  const Tokens load = {"cmd:insert", "s:patients.c1", "t:patients"};
  for (std::uint64_t value = 1; value <= 20; ++value) {
    Observe(tracker, model, 60, log, Asking("public.log.line", {value}));
    Observe(tracker, model, 61, load, Asking("patients.id", {value}));
  }
  EXPECT_EQ(Figures(), (Is{0, 0, 0}));
}

TEST_F(ReachTest, IdentifiersAreNoColumns) {
  const Tokens tokens = {"cmd:select", "p:patients.id", "t:patients", "w:patients.c1"};
  Observe(tracker, model, 70, tokens, Asking("patients.id", {7}));
  EXPECT_EQ(Figures(), (Is{1, 1, 1}));
  ReachTracker projected(model, false);  // filters reveal nothing, but their constants count
  Observe(projected, model, 70, tokens, Asking("patients.id", {7}));
  EXPECT_EQ(FiguresOf(projected), (Is{1, 1, 0}));
}

// (a, b) IN ((1, 2), (3, 4)) is an OR of two comparisons of each column; a = 1 AND b IN (2, 3) has one of each.
TEST_F(ReachTest, SubjectsOfTwoColumns) {
  const Tokens tokens = {"cmd:select", "t:stays", "w:stays.a", "w:stays.b"};
  const auto ask = [&](std::uint64_t vector, const std::vector<Values>& a, const std::vector<Values>& b) {
    ExecutionConstants constants;
    constants.vector = vector;
    AddGroup(constants, {Of("stays.a")}, a);
    AddGroup(constants, {Of("stays.b")}, b);
    ReachTracker fresh(model, true);
    Observe(fresh, model, 80, tokens, constants);
    Observe(tracker, model, 80, tokens, constants);
    return fresh.figures().values[1];
  };
  EXPECT_EQ(ask(1, {{1}, {3}}, {{2}, {4}}), 2);
  EXPECT_EQ(ask(2, {{1}}, {{2, 3}}), 2);
  EXPECT_EQ(ask(3, {{1, 3}}, {{2, 4}}), 4);
  EXPECT_EQ(ask(4, {{1}, {3}, {5}}, {{2}}), 3);
  EXPECT_EQ(ask(5, {{1}, {3}, {5}}, {{2}, {4}}), 6);  // each with each
  EXPECT_EQ(ask(6, {{1}}, {}), 0);
  // (1,2), (3,4), (1,3), (1,4), (3,2), (5,2), (5,4)
  EXPECT_EQ(Figures(), (Is{6, 7, 0}));
  ExecutionConstants apart;  // columns of two FROM items are not one subject
  AddGroup(apart, {Of("stays.a", 0)}, {{1}});
  AddGroup(apart, {Of("stays.b", 1)}, {{99}});
  Observe(tracker, model, 80, tokens, apart);
  EXPECT_EQ(Figures()[1], 7);
}

TEST_F(ReachTest, EquatedColumnsOfOneGroup) {
  ExecutionConstants constants;
  AddGroup(constants, {Of("patients.id", 0), Of("visits.patient_id", 1)}, {{5}, {6}});
  Observe(tracker, model, 1, Column(1), constants);
  EXPECT_EQ(Figures(), (Is{1, 2, 1}));
}

// Against sets of plain values, for random sessions; and the same again after a replay.
TEST_F(ReachTest, EqualsTheDefinition) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    ReachTracker live(model, true);
    std::map<AbstractionId, std::set<Values>> vectors;
    std::map<std::uint64_t, std::set<AbstractionId>> columns;
    for (int step = 0; step < 300; ++step) {
      const AbstractionId id = 1 + random() % 9;
      Values values;
      for (unsigned i = 1 + random() % 3; i > 0; --i) values.push_back(random() % 50);
      Observe(live, model, id, Column(id), Asking("patients.id", values));
      vectors[id].insert(values);
      for (const std::uint64_t value : values) columns[value].insert(id);
    }
    Is expected = {0, static_cast<std::int64_t>(columns.size()), 0};
    for (const auto& [id, of] : vectors) expected[0] = std::max<std::int64_t>(expected[0], of.size());
    for (const auto& [value, of] : columns) expected[2] = std::max<std::int64_t>(expected[2], of.size());
    EXPECT_EQ(FiguresOf(live), expected) << seed;
    ReachTracker again(model, true);
    again.Replay(live, model, Column);
    EXPECT_EQ(FiguresOf(again), expected) << seed;
  }
}

// The constants as they come from the backend, for the statements that most are: one comparison with a constant or a
// parameter; a list; NULL; none.
TEST_F(ReachTest, ConstantsFromThePlan) {
  const auto words_of = [](std::vector<std::vector<ComparedValue>> comparisons, std::vector<int> parameters) {
    StatementConstants constants;
    constants.parameters = std::move(parameters);
    if (!comparisons.empty()) constants.groups.push_back({{Of("patients.id")}, std::move(comparisons)});
    return Encode(constants);
  };
  const ConstantWords given = words_of({{{0, {1}, false}}}, {1});
  const ConstantWords list = words_of({{{31, {}, false}, {32, {}, false}}}, {});
  const ConstantWords none = words_of({}, {});
  const std::uint32_t form = tracker.FormOf(model, 1, Column(1));
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t patient = 1; patient <= 30; ++patient) {
      const ParameterValue value = {1, false, patient, nullptr, 0};
      tracker.Observe(form, {given.data(), given.size(), &value, 1});
    }
  }
  EXPECT_EQ(Figures(), (Is{30, 30, 1}));
  const ParameterValue null = {1, true, 0, nullptr, 0};
  tracker.Observe(form, {given.data(), given.size(), &null, 1});
  tracker.Observe(form, {none.data(), none.size(), nullptr, 0});
  EXPECT_EQ(Figures(), (Is{32, 30, 1}));
  tracker.Observe(form, BoundConstants());
  tracker.Observe(form, {list.data(), list.size(), nullptr, 0});  // its vector is that of none: it was seen
  EXPECT_EQ(Figures(), (Is{32, 30, 1}));
  // A constant is the same as a parameter of that value.
  const std::uint32_t other = tracker.FormOf(model, 2, Column(2));
  for (std::uint64_t patient : {std::uint64_t{30}, std::uint64_t{77}}) {
    StatementConstants constants;
    constants.vector = FoldHash(0, patient);
    constants.groups.push_back({{Of("patients.id")}, {{{patient, {}, false}}}});
    const ConstantWords words = Encode(constants);
    tracker.Observe(other, {words.data(), words.size(), nullptr, 0});
  }
  EXPECT_EQ(Figures(), (Is{32, 31, 2}));
  ReachTracker again(model, true);
  again.Replay(tracker, model, Column);
  EXPECT_EQ(FiguresOf(again), Figures());
}

// The words of a statement that compares patients.id with its parameter, and has another constant when that is not 0.
ConstantWords OneParameter(std::uint64_t other = 0) {
  StatementConstants constants;
  if (other != 0) constants.vector = FoldHash(0, other);
  constants.parameters = {1};
  constants.groups.push_back({{Of("patients.id")}, {{{0, {1}, false}}}});
  return Encode(constants);
}

// Executes it as a backend does.
void Execute(ReachTracker& to, std::uint32_t form, const ConstantWords& words, std::uint64_t value) {
  const ParameterValue parameter = {1, false, value, nullptr, 0};
  const BoundConstants constants = {words.data(), words.size(), &parameter, 1};
  SoleConstant sole;
  if (FindSoleConstant(words.data(), words.size(), sole)) {
    const std::uint64_t subject = to.Expect(form, sole.column, value);
    if (subject != 0 && to.ObserveBySubject(form, subject)) return;
  }
  to.Observe(form, constants);
}

// Statements with one constant, which is a subject, among others that ask about the same ones: against sets of plain
// values, and the same again after a replay.
TEST_F(ReachTest, OneConstantEqualsTheDefinition) {
  const ConstantWords alone = OneParameter();
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    ReachTracker live(model, true);
    std::map<AbstractionId, std::set<Values>> vectors;
    std::map<std::uint64_t, std::set<AbstractionId>> columns;
    for (int step = 0; step < 300; ++step) {
      const AbstractionId id = 1 + random() % 9;
      const std::uint64_t value = 1 + random() % 50;
      const std::uint64_t other = random() % 3 == 0 ? 100 + random() % 2 : 0;
      const std::uint32_t form = live.FormOf(model, id, Column(id));
      if (other != 0) {
        Execute(live, form, OneParameter(other), value);
        vectors[id].insert({other, value});
      } else {
        Execute(live, form, alone, value);
        vectors[id].insert({value});
      }
      columns[value].insert(id);
    }
    Is expected = {0, static_cast<std::int64_t>(columns.size()), 0};
    for (const auto& [id, of] : vectors) expected[0] = std::max<std::int64_t>(expected[0], of.size());
    for (const auto& [value, of] : columns) expected[2] = std::max<std::int64_t>(expected[2], of.size());
    EXPECT_EQ(FiguresOf(live), expected) << seed;
    ReachTracker again(model, true);
    again.Replay(live, model, Column);
    EXPECT_EQ(FiguresOf(again), expected) << seed;
    // Where the column is no subject any more, the vectors stay what they are.
    ModelRows rows = ReachModel();
    rows.attributes[0][4] = std::nullopt;
    const Model other_model = Model::Parse(rows.Wire());
    ReachTracker without(other_model, true);
    without.Replay(again, other_model, Column);
    EXPECT_EQ(FiguresOf(without), (Is{expected[0], 0, 0})) << seed;
  }
}

TEST_F(ReachTest, OneConstantIsBounded) {
  const ConstantWords alone = OneParameter();
  const std::uint32_t form = tracker.FormOf(model, 1, Column(1));
  for (std::uint64_t value = 1; value <= 3 * kMostVectorsOfForm; ++value) Execute(tracker, form, alone, value);
  const auto most = static_cast<std::int64_t>(kMostVectorsOfForm);
  EXPECT_EQ(Figures(), (Is{most, static_cast<std::int64_t>(kMostSubjects), 1}));
  const std::uint32_t other = tracker.FormOf(model, 2, Column(2));
  for (std::uint64_t value = 1; value <= 40; ++value) Execute(tracker, other, alone, value);
  EXPECT_EQ(Figures()[2], 2);
}

// Observed before anything was known to be protected, a session has its figures once the model is there.
TEST_F(ReachTest, ReplayUnderAnotherModel) {
  const Model nothing;
  ReachTracker before(nothing, true);
  for (std::uint64_t patient = 1; patient <= 30; ++patient)
    Observe(before, nothing, 1, Column(1), Asking("patients.id", {patient}));
  EXPECT_EQ(FiguresOf(before), (Is{0, 0, 0}));
  tracker.Replay(before, model, Column);
  EXPECT_EQ(Figures(), (Is{30, 30, 1}));
  ReachTracker after(nothing, true);
  after.Replay(tracker, nothing, Column);
  EXPECT_EQ(FiguresOf(after), (Is{0, 0, 0}));
}

TEST_F(ReachTest, MemoryIsBounded) {
  const Tokens log = {"cmd:insert", "s:public.log.line", "t:public.log"};
  for (std::uint64_t value = 0; value < 2 * kMostUnprotectedVectors; ++value)
    Observe(tracker, model, 60, log, Asking("public.log.line", {value}));
  const auto most = static_cast<std::int64_t>(kMostVectorsOfForm);
  for (std::uint64_t value = 0; value < 3 * kMostVectorsOfForm; ++value) Ask(1, "patients.id", {value});
  EXPECT_EQ(Figures(), (Is{most, static_cast<std::int64_t>(kMostSubjects), 1}));
  for (std::uint64_t value = 0; value < 40; ++value) Ask(2, "patients.id", {value});  // others are still told apart
  EXPECT_EQ(Figures()[2], 2);
  ReachTracker again(model, true);
  again.Replay(tracker, model, Column);
  EXPECT_EQ(FiguresOf(again)[0], most);
}

TEST_F(ReachTest, AFullLogKeepsTheFigures) {
  Values all(4096);
  for (std::uint64_t round = 0; round < 160; ++round) {
    for (std::uint64_t& value : all) value = round % 2 == 0 ? 1 : round;
    all[0] = round;
    Ask(1, "patients.id", all);
  }
  EXPECT_EQ(Figures(), (Is{160, 160, 1}));
  ReachTracker again(model, true);
  again.Replay(tracker, model, Column);
  EXPECT_EQ(FiguresOf(again), (Is{160, 160, 1}));
}

TEST(OutOfReach, ExceedsTheFactorAndTen) {
  const GreatestReach greatest = {5, 4, std::nullopt};
  const auto figures = [&](std::int64_t reach, std::int64_t subjects, double factor = 2) {
    std::vector<int> names;
    for (const ReachExcess& excess : OutOfReach({{reach, subjects, 1000}}, greatest, factor))
      names.push_back(excess.figure);
    return names;
  };
  EXPECT_EQ(figures(10, 9), (std::vector<int>{}));  // not more than twice 5; below 10
  EXPECT_EQ(figures(11, 10), (std::vector<int>{0, 1}));
  EXPECT_EQ(figures(11, 10, 3), (std::vector<int>{}));
  EXPECT_EQ(figures(11, 13, 3), (std::vector<int>{1}));
  EXPECT_TRUE(OutOfReach({{1000, 1000, 1000}}, GreatestReach(), 2).empty());
  const auto excess = OutOfReach({{30, 1, 1}}, greatest, 2);
  ASSERT_EQ(excess.size(), 1U);
  EXPECT_EQ(excess[0].limit, 10);
  EXPECT_EQ(LeastOutOfReach(greatest, 2), (ReachLimits{11, 10, kNeverOutOfReach}));
  EXPECT_EQ(LeastOutOfReach(greatest, 2.5), (ReachLimits{13, 11, kNeverOutOfReach}));
  EXPECT_EQ(LeastOutOfReach(greatest, 1e300)[0], kNeverOutOfReach);
  EXPECT_EQ(ReachExcessJson(excess[0], 2),
            R"({"cause": "reach", "figure": "reach", "value": 30, "baseline": 5, "factor": 2})");
}

}  // namespace
}  // namespace privacy_score
