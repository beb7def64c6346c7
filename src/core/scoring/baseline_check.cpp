/*
 * baseline_check.cpp - see baseline_check.hpp.
 *
 * Leaving a day out: what each day has is counted once and subtracted from the sum of all days, so the cost a day is
 * that of the distinct n-grams, not of the executions.
 */
#include "core/scoring/baseline_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/sort_unique.hpp"
#include "core/scoring/baseline_contents.hpp"
#include "core/scoring/explain.hpp"
#include "core/scoring/missing_rates.hpp"
#include "core/scoring/profile.hpp"

namespace privacy_score {

namespace {

constexpr double kMostDeviations = 3.5;
constexpr double kMadToDeviation = 1.4826;  // of a normal law

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The baseline of all sessions but those of one day.
Baseline Without(const Baseline& whole, const BaselineContents& all, const BaselineContents& day) {
  Baseline baseline;
  baseline.role = whole.role;
  baseline.end_user = whole.end_user;
  baseline.sessions = all.sessions - day.sessions;
  std::vector<NGramTable::Counted> ngrams;
  for (const auto& [ngram, count] : all.ngrams) {
    const auto own = day.ngrams.find(ngram);
    const std::int64_t rest = own == day.ngrams.end() ? count : count - own->second;
    if (rest > 0) ngrams.push_back({ngram, rest});
  }
  baseline.ngrams = NGramTable(ngrams);
  for (const auto& [ids, count] : all.session_sets) {
    const auto own = day.session_sets.find(ids);
    const std::int64_t rest = own == day.session_sets.end() ? count : count - own->second;
    if (rest > 0) baseline.statements.sets.Add(rest, ids);
  }
  return baseline;
}

void BeginDetail(JsonWriter& json, const std::string& from_day, const std::string& to_day) {
  json.BeginObject().Key("version").Value(std::int64_t{1});
  json.Key("cause").Value(from_day + " to " + to_day);
  json.Key("from_day").Value(from_day);
  json.Key("to_day").Value(to_day);
}

// Marks the days that stand out.
void FindOutliers(BaselineCheck& check) {
  std::vector<double> scores;
  for (const BaselineDay& day : check.days) scores.push_back(day.score);
  check.fence = OutlierFence(std::move(scores));
  for (BaselineDay& day : check.days) {
    day.outlier = day.score > check.fence;
    if (day.outlier) check.worst = std::max(check.worst, day.score);
  }
}

std::string OutlierDetail(const BaselineCheck& check, const std::string& from_day, const std::string& to_day) {
  JsonWriter json;
  BeginDetail(json, from_day, to_day);
  json.Key("days").BeginArray();
  for (const BaselineDay& day : check.days) {
    if (!day.outlier) continue;
    json.BeginObject().Key("day").Value(day.day).Key("score").Value(day.score);
    json.Key("estimated").Value(day.estimated).EndObject();
  }
  json.EndArray().Key("fence").Value(check.fence);
  json.Key("days_compared").Value(static_cast<std::int64_t>(check.days.size()));
  return json.EndObject().text();
}

// The rate of the columns of each relation: delta counts by relation.
void WriteRatesByRelation(JsonWriter& json, RateBook& rates, const Model& model,
                          const std::vector<std::string>& columns) {
  AttributeSet set;
  for (const std::string& column : columns)
    if (const auto attribute = model.FindAttribute(column)) set.push_back(*attribute);
  SortUnique(set);
  std::map<std::string, double> by_relation;
  for (const AttributeSet& part : rates.ByRelation(set))
    by_relation[model.relations()[model.attributes()[part.front()].relation].name] = rates.OfRelation(part).upper;
  json.Key("relation_rates").BeginObject();
  for (const auto& [relation, rate] : by_relation) json.Key(relation).Value(rate);
  json.EndObject();
}

}  // namespace

double OutlierFence(std::vector<double> scores) {
  if (scores.size() < kLeastDays) return std::numeric_limits<double>::infinity();
  const double median = Median(scores);
  for (double& score : scores) score = std::abs(score - median);
  return std::max(kFenceFloor, median + kMostDeviations * kMadToDeviation * Median(std::move(scores)));
}

BaselineCheck CheckBaseline(std::string_view wire, const std::string& role, const std::string& from_day,
                            const std::string& to_day, GivesUp gives_up, const std::string& end_user) {
  WireReader reader(wire);
  const auto model = std::make_shared<Model>(Model::Read(reader));
  const ScoreSettings settings = ReadSettings(reader);
  const std::vector<HistorySession> sessions = ReadSessions(reader);

  BaselineContents all;
  std::map<std::string, std::pair<BaselineContents, std::vector<const Sequence*>>> days;
  for (const HistorySession& session : sessions) {
    if (session.role != role || session.sequence.empty()) continue;
    GiveUpIfAsked(gives_up);
    all.Add(session.sequence);
    auto& [contents, sequences] = days[session.day];
    contents.Add(session.sequence);
    sequences.push_back(&session.sequence);
  }

  BaselineCheck check;
  MissingRates missing;
  const Baseline* found = model->BaselineFor(role, end_user);
  if (found == nullptr || found->end_user != end_user)
    throw Error("XX001", "role " + role + " has no baseline in the model");
  const Baseline whole = *found;
  if (days.size() >= kLeastDays) {
    for (const auto& [day, part] : days) {
      model->SetBaseline(Without(whole, all, part.first));
      RoleScorer scorer(model, role, settings, nullptr, {}, end_user);
      Profile profile;
      for (const Sequence* sequence : part.second) profile.AddSequence(*sequence, scorer, gives_up);
      const SessionSummary summary = profile.Summary();
      check.days.push_back({day, summary.score, summary.estimated, false});
      missing.Add(scorer.TakeMissing());
    }
    model->SetBaseline(whole);
  }
  FindOutliers(check);
  check.outlier_detail = OutlierDetail(check, from_day, to_day);

  RoleScorer scorer(model, role, settings, nullptr, {}, end_user);
  check.rate = scorer.BaselineRate();
  check.columns = scorer.BaselineColumns();
  JsonWriter json;
  BeginDetail(json, from_day, to_day);
  json.Key("columns").Value(check.columns);
  // Of a high rate the rate of each column is kept, too.
  if (check.rate.upper > kHighRate) WantEach(scorer.pairs().rates(), *model, check.columns);
  WriteRates(json, scorer.pairs().rates(), *model, check.columns);
  WriteRatesByRelation(json, scorer.pairs().rates(), *model, check.columns);
  check.rate_detail = json.EndObject().text();
  missing.Add(scorer.TakeMissing());
  check.missing = missing.List();
  return check;
}

}  // namespace privacy_score
