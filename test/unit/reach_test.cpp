/*
 * reach_test.cpp - the figures of a session that differs in constants only.
 */
#include "core/scoring/reach.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/base/keyed_hash.hpp"
#include "sanitizers.hpp"
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

// Reads into a tracker what another has written.
struct Follower {
  ReachTracker& tracker;
  const Model& model;
  std::uint32_t FormOf(AbstractionId id) const { return tracker.FormOf(model, id, Column(id)); }
  void Take(const SessionJournal::Definition&) const {}
  void Take(const SessionJournal::Met&) const {}
  void Take(const SessionJournal::Asked& asked) const { tracker.TakeAsked(FormOf(asked.id), asked); }
  void Take(const SessionJournal::Subject& subject) const { tracker.TakeSubject(FormOf(subject.id), subject); }
  void Take(const SessionJournal::Reached& reached) const { tracker.TakeReached(reached); }
  void Take(const SessionJournal::Sketch& sketch) const {
    if (sketch.of_subjects)
      tracker.TakeSubjects(DistinctSketch(sketch.bytes));
    else
      tracker.TakeVectors(FormOf(sketch.id), sketch);
  }
};

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
  void Follow(ReachTracker& follower, const SessionJournal& journal) const {
    Follower reader = {follower, model};
    SessionJournal::Read(journal.words().data(), journal.words().size(), reader);
  }
  // Whether reach and subjects are so many, within 2 %: the estimates of other values would not be, fewer than one in a
  // million times. The columns of a subject are one.
  static ::testing::AssertionResult AreNear(const Is& figures, std::uint64_t count) {
    for (const std::int64_t figure : {figures[0], figures[1]})
      if (std::abs(static_cast<double>(figure) / static_cast<double>(count) - 1) > 0.02)
        return ::testing::AssertionFailure() << figure << " of " << count;
    if (figures[2] != 1) return ::testing::AssertionFailure() << figures[2] << " columns";
    return ::testing::AssertionSuccess();
  }

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

// Connections of one person take in, each in its own order, statements about more subjects than there is room for.
TEST_F(ReachTest, TheOrderDoesNotMatterBeyondWhatIsExact) {
  constexpr std::uint64_t kSubjects = kMostSubjects + 5000;
  std::vector<std::pair<AbstractionId, std::uint64_t>> asked;
  for (std::uint64_t subject = 1; subject <= kSubjects; ++subject)
    for (const AbstractionId id : {1, 2}) asked.emplace_back(id, subject * 0x9E3779B97F4A7C15ULL);
  Is first;
  for (unsigned seed = 0; seed < 1 + testing_support::Instances(3u); ++seed) {
    std::shuffle(asked.begin(), asked.end(), std::mt19937(seed));
    ReachTracker own(model, true);
    for (const auto& [id, subject] : asked) Observe(own, model, id, Column(id), Asking("patients.id", {subject}));
    if (first.empty()) first = FiguresOf(own);
    EXPECT_EQ(FiguresOf(own), first) << seed;
  }
  EXPECT_EQ(first[2], 2);
  for (const std::size_t figure : {0, 1}) EXPECT_NEAR(first[figure], kSubjects, kSubjects * 0.02);
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

// Up to kMostExact things each is counted; with one more it begins to be estimated.
TEST_F(ReachTest, IsExactUpToThousands) {
  const ConstantWords alone = OneParameter();
  const std::uint32_t form = tracker.FormOf(model, 1, Column(1));
  std::int64_t before = 0;
  for (std::uint64_t value = 1; value <= 3 * kMostExact; ++value) {
    Execute(tracker, form, alone, value);
    Execute(tracker, form, alone, (value + 1) / 2);
    if (value <= kMostExact) {
      ASSERT_EQ(Figures(), (Is{static_cast<std::int64_t>(value), static_cast<std::int64_t>(value), 1}));
    }
    ASSERT_TRUE(AreNear(Figures(), value));
    ASSERT_GE(Figures()[0], before);
    before = Figures()[0];
  }
}

// Whatever the order, and by whatever path constants come, figures are those of the set, to the last one: also when
// they are had again, and when another tracker takes in what one has written.
TEST_F(ReachTest, EstimatesAreOfTheSet) {
  std::mt19937_64 random(7);
  for (const std::uint64_t count : {kMostExact + 3, 3 * kMostExact, 2 * kMostVectorsOfForm}) {
    std::vector<std::uint64_t> values;
    for (std::uint64_t value = 1; value <= count; ++value) values.push_back(value);
    const ConstantWords alone = OneParameter();
    Is first = {};
    for (int round = 0; round < testing_support::Instances(3); ++round) {
      std::shuffle(values.begin(), values.end(), random);
      ReachTracker live(model, true);
      ReachTracker other(model, true);
      SessionJournal journal;
      live.WriteTo(&journal);
      const std::uint32_t form = live.FormOf(model, 1, Column(1));
      for (const std::uint64_t value : values) {
        if (random() % 2 == 0)
          Execute(live, form, alone, value);
        else
          Observe(live, model, 1, Column(1), Asking("patients.id", {value}));
      }
      if (round == 0) first = FiguresOf(live);
      EXPECT_TRUE(AreNear(first, count));
      EXPECT_EQ(FiguresOf(live), first);
      Follow(other, journal);
      EXPECT_EQ(FiguresOf(other), first);
      ReachTracker again(model, true);
      again.Replay(live, model, Column);
      EXPECT_EQ(FiguresOf(again), first);
      for (const bool in_short : {false, true}) {
        SessionJournal all;
        live.WriteAll(all, in_short);
        ReachTracker next(model, true);
        Follow(next, all);
        EXPECT_EQ(FiguresOf(next)[0], first[0]) << in_short;
        EXPECT_EQ(FiguresOf(next)[1], first[1]) << in_short;
        EXPECT_EQ(all.words().size() < 3 * DistinctSketch::kBytes / 8, in_short);
        // And it goes on from there.
        Execute(next, next.FormOf(model, 1, Column(1)), alone, 1);
        EXPECT_EQ(FiguresOf(next)[0], first[0]);
      }
    }
  }
}

// What nobody has room to remember is counted all the same, of a statement that comes last, too.
TEST_F(ReachTest, AStatementThatFindsNoRoomCounts) {
  for (AbstractionId id = 1; id <= 4; ++id)
    for (std::uint64_t value = 0; value < kMostVectorsOfForm; ++value)
      Ask(id, "patients.c9", {static_cast<std::uint64_t>(id) << 32U | value});
  EXPECT_TRUE(AreNear({Figures()[0], Figures()[0], 1}, kMostVectorsOfForm));
  for (std::uint64_t value = 0; value < 3 * kMostVectorsOfForm; ++value) Ask(5, "patients.id", {value});
  EXPECT_TRUE(AreNear(Figures(), 3 * kMostVectorsOfForm));
  ReachTracker again(model, true);
  again.Replay(tracker, model, Column);
  EXPECT_EQ(FiguresOf(again), Figures());
}

TEST_F(ReachTest, OneConstantIsBounded) {
  const ConstantWords alone = OneParameter();
  const std::uint32_t form = tracker.FormOf(model, 1, Column(1));
  for (std::uint64_t value = 1; value <= 3 * kMostVectorsOfForm; ++value) Execute(tracker, form, alone, value);
  const std::size_t size = tracker.size();
  EXPECT_TRUE(AreNear(Figures(), 3 * kMostVectorsOfForm));
  for (std::uint64_t value = 1; value <= 20 * kMostVectorsOfForm; ++value) Execute(tracker, form, alone, value);
  EXPECT_TRUE(AreNear(Figures(), 20 * kMostVectorsOfForm));
  EXPECT_EQ(tracker.size(), size);
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
  for (std::uint64_t value = 0; value < 3 * kMostVectorsOfForm; ++value) Ask(1, "patients.id", {value});
  const std::size_t size = tracker.size();
  EXPECT_TRUE(AreNear(Figures(), 3 * kMostVectorsOfForm));
  const Is before = Figures();
  for (std::uint64_t value = 0; value < 3 * kMostVectorsOfForm; ++value) Ask(1, "patients.id", {value});
  EXPECT_EQ(Figures(), before);
  EXPECT_EQ(tracker.size(), size);
  for (std::uint64_t value = 0; value < 40; ++value) Ask(2, "patients.id", {value});  // others are still told apart
  EXPECT_EQ(Figures()[2], 2);
  ReachTracker again(model, true);
  again.Replay(tracker, model, Column);
  EXPECT_EQ(FiguresOf(again)[0], before[0]);
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

}  // namespace
}  // namespace privacy_score
