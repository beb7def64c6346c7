/*
 * logged_executions_test.cpp - sessions from a log reach as far as a tracker says that sees the same constants.
 */
#include "core/scoring/logged_executions.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/base/constant_hash.hpp"
#include "core/scoring/reach.hpp"
#include "score_fixture.hpp"

namespace privacy_score {
namespace {

using namespace testing_support;

constexpr HashKey kKey = {7, 9};

ModelRows PatientsModel() {
  ModelRows model;
  model.relations = {{"patients", "1", "t"}};
  model.attributes = {{"patients.id", "patients", std::nullopt, "t", "0"},
                      {"patients.city", "patients", std::nullopt, "f"},
                      {"patients.hiv", "patients", std::nullopt, "f"}};
  return model;
}

const Tokens kCity = {"cmd:select", "p:patients.city", "t:patients", "w:patients.id"};
const Tokens kHiv = {"cmd:select", "p:patients.hiv", "t:patients", "w:patients.id"};
const Tokens& TokensOf(AbstractionId id) { return id == 1 ? kCity : kHiv; }

std::uint64_t Hash(const std::string& text) { return ConstantHash(kKey, std::string_view(text)); }

ComparedValue ValueOf(const std::string& text) { return {Hash(text), {}, false}; }

StatementConstants Comparing(const std::vector<ComparedValue>& values) {
  StatementConstants constants;
  for (const ComparedValue& value : values) {
    if (value.parameters.empty()) constants.vector = FoldHash(constants.vector, value.hash);
    constants.parameters.insert(constants.parameters.end(), value.parameters.begin(), value.parameters.end());
  }
  constants.groups = {{{{0, NameHash("patients.id")}}, {values}}};
  return constants;
}

std::string Shown(const std::optional<ReachFigures>& figures) {
  if (!figures) return "unknown";
  std::string shown;
  for (const std::int64_t value : figures->values) shown += std::to_string(value) + ' ';
  return shown + std::to_string(figures->addressed) + ' ' + std::to_string(figures->person);
}

class LoggedExecutionsTest : public ::testing::Test {
 protected:
  std::string FiguresOf(const std::vector<LoggedStep>& steps) const {
    return Shown(log.FiguresOf(steps, model, true, TokensOf));
  }
  const Model model = Model::Parse(PatientsModel().Wire());
  LoggedExecutions log{kKey};
};

TEST_F(LoggedExecutionsTest, OfTextsAndParameters) {
  const std::int64_t seven = log.AddText(Comparing({ValueOf("7")}));
  const std::int64_t eight = log.AddText(Comparing({ValueOf("8")}));
  const std::int64_t given = log.AddText(Comparing({{0, {1}, false}}));
  const std::int64_t list = log.AddText(Comparing({{0, {1}, true}}));
  EXPECT_EQ(FiguresOf({}), "0 0 0 0 0");
  const std::int64_t a = log.Add(seven, {}), b = log.Add(eight, {});
  EXPECT_EQ(FiguresOf({{1, a}, {1, b}, {1, a}}), "2 2 1 2 1");
  // The same subject by a parameter, another column.
  const std::int64_t c = log.Add(given, {"7"});
  EXPECT_EQ(FiguresOf({{1, a}, {2, c}}), "1 1 2 1 2");
  const std::int64_t d = log.Add(list, {"{7,8,NULL,9}"});
  EXPECT_EQ(FiguresOf({{1, d}}), "1 3 1 3 1");
  EXPECT_EQ(FiguresOf({{1, log.Add(given, {std::nullopt})}}), "1 0 0 0 0");
}

TEST_F(LoggedExecutionsTest, NothingIsKnownWithoutParameters) {
  const std::int64_t given = log.AddText(Comparing({{0, {2}, false}}));
  EXPECT_EQ(log.Add(given, {"7"}), 0);
  EXPECT_EQ(log.Add(0, {"7"}), 0);
  const std::int64_t known = log.Add(given, {"7", "8"});
  EXPECT_NE(known, 0);
  EXPECT_EQ(FiguresOf({{1, known}}), "1 1 1 1 1");
  EXPECT_EQ(FiguresOf({{1, known}, {1, 0}}), "unknown");
}

TEST_F(LoggedExecutionsTest, WhatIsKeptSaysTheSameUnderItsNewNumber) {
  const std::int64_t seven = log.AddText(Comparing({ValueOf("7")}));
  const std::int64_t eight = log.AddText(Comparing({ValueOf("8")}));
  const std::int64_t given = log.AddText(Comparing({{0, {1}, true}}));
  (void)log.Add(given, {"{1,2}"});
  const std::int64_t list = log.Add(given, {"{7,8,9}"});
  const auto numbers = log.KeepOnly({0, list, eight, list});
  EXPECT_EQ(numbers.count(seven), 0U);
  EXPECT_EQ(FiguresOf({{1, numbers.at(list)}, {1, numbers.at(eight)}}), "2 3 1 3 1");
  EXPECT_EQ(FiguresOf({{2, log.Add(numbers.at(given), {"{7}"})}}), "1 1 1 1 1");
  EXPECT_TRUE(log.KeepOnly({}).empty());
  EXPECT_EQ(log.AddText(Comparing({ValueOf("7")})), 1);
}

// Random sessions against a tracker that is fed by hand.
TEST_F(LoggedExecutionsTest, AsATrackerSays) {
  std::mt19937 random(1);
  std::vector<std::int64_t> texts;
  const std::int64_t given = log.AddText(Comparing({{0, {1}, false}}));
  for (int i = 0; i < 20; ++i) texts.push_back(log.AddText(Comparing({ValueOf(std::to_string(i))})));
  for (int round = 0; round < 300; ++round) {
    ReachTracker tracker(model, true);
    std::vector<LoggedStep> steps;
    for (int k = static_cast<int>(random() % 30); k > 0; --k) {
      const AbstractionId id = 1 + static_cast<AbstractionId>(random() % 2);
      const auto value = static_cast<std::size_t>(random() % texts.size());
      const std::string text = std::to_string(value);
      const bool by_parameter = random() % 2 == 0;
      steps.push_back({id, by_parameter ? log.Add(given, {text}) : log.Add(texts[value], {})});
      ExecutionConstants constants;
      constants.vector = FoldHash(0, Hash(text));
      constants.groups = {1, 1, 0, NameHash("patients.id"), 1, 1, Hash(text)};
      tracker.Observe(tracker.FormOf(model, id, TokensOf(id)), constants);
    }
    ASSERT_EQ(FiguresOf(steps), Shown(tracker.figures())) << round;
  }
}

}  // namespace
}  // namespace privacy_score
