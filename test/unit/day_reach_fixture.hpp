/*
 * day_reach_fixture.hpp - sessions that ask about patients, and tell their day.
 */
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/base/keyed_hash.hpp"
#include "core/scoring/day_reach.hpp"
#include "score_fixture.hpp"

namespace privacy_score::testing_support {

inline constexpr std::size_t kPlenty = 1000000;
inline constexpr std::int32_t kToday = 9000;

// patients(id, c1..c9), whose subject is the id.
inline ModelRows Patients() {
  ModelRows model;
  model.relations = {{"patients", "1", "t"}};
  model.attributes = {{"patients.id", "patients", std::nullopt, "t", "0"}};
  for (char c = '1'; c <= '9'; ++c)
    model.attributes.push_back({std::string("patients.c") + c, "patients", std::nullopt, "f"});
  return model;
}

// SELECT c<id> FROM patients WHERE id = or IN.
inline Tokens Showing(AbstractionId id) {
  return {"cmd:select", "p:patients.c" + std::to_string(id), "t:patients", "w:patients.id"};
}

inline ExecutionConstants Asking(const std::vector<std::uint64_t>& patients) {
  ExecutionConstants constants;
  for (const std::uint64_t patient : patients) constants.vector = FoldHash(constants.vector, patient);
  constants.groups = {1, 1, 0, NameHash("patients.id"), 1, patients.size()};
  constants.groups.insert(constants.groups.end(), patients.begin(), patients.end());
  return constants;
}

using Figures = std::array<std::int64_t, kReachFigureCount>;
inline Figures Of(const ReachFigures& figures) { return {figures.values[0], figures.values[1], figures.values[2]}; }

// A session that tells its day.
class Session {
 public:
  explicit Session(const Model& model) : model_(model), tracker_(model, true) { tracker_.TellDay(&told_); }
  void Ask(AbstractionId id, const std::vector<std::uint64_t>& patients) {
    const Tokens tokens = Showing(id);
    tracker_.Observe(tracker_.FormOf(model_, id, tokens), Asking(patients));
  }
  // By the path that a statement with one comparison takes.
  void AskOne(AbstractionId id, std::uint64_t patient) {
    StatementConstants constants;
    constants.vector = FoldHash(0, patient);
    constants.groups.push_back({{{0, NameHash("patients.id")}}, {{{patient, {}, false}}}});
    const ConstantWords words = Encode(constants);
    tracker_.Observe(tracker_.FormOf(model_, id, Showing(id)), {words.data(), words.size(), nullptr, 0});
  }
  std::vector<std::uint64_t> Tell() {
    std::vector<std::uint64_t> words = told_.words();
    told_.Clear();
    return words;
  }
  Figures figures() const { return Of(tracker_.figures()); }

 private:
  const Model& model_;
  ReachTracker tracker_;
  SessionJournal told_;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

class DayReachTest : public ::testing::Test {
 protected:
  DayReachTest() { reach.Load(Patients().Wire()); }
  static void Take(DayReach& to, DayReach::Day* day, const std::vector<std::uint64_t>& words) {
    for (const AbstractionId id : to.Unknown(words)) to.Define(id, Showing(id));
    to.Take(day, words);
  }
  DayReach::Day* Begin(const std::string& principal = "app", const ReachFigures& stored = {}) {
    return reach.Begin(principal, kToday, true, stored);
  }

  Model model = Model::Parse(Patients().Wire());
  DayReach reach{kPlenty};
};

}  // namespace privacy_score::testing_support
