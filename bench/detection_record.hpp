/*
 * detection_record.hpp - what is stored of a session of detection_people.hpp, by the definitions of docs/alarms.md.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/detection/role_alarm.hpp"
#include "core/scoring/day_reach.hpp"
#include "detection_bank.hpp"

namespace bank {

struct Recorded {
  std::map<privacy_score::AbstractionId, std::int64_t> runs;
  privacy_score::StoredFigures figures;
  std::int64_t repeats = 0;
};

// What a person has come to know of customers: the columns that statements about them reveal, day by day. It is added
// up over privacy_score::kDaysOfKnowledge days.
class Knowledge {
 public:
  // Takes in what is asked on a day, which none comes before. Returns the most columns known of a customer of whom that
  // tells more than was known on the day; 0 when of none.
  std::int64_t Take(int day, const std::vector<Execution>& executions) {
    days_.erase(days_.begin(), days_.upper_bound(day - privacy_score::kDaysOfKnowledge));
    std::set<int> changed;
    for (const Execution& execution : executions) {
      for (const int subject : execution.subjects) {
        const auto [known, is_new] = days_[day].try_emplace(subject);
        const std::size_t before = known->second.size();
        const Question& question = execution.statement->question;
        for (const std::set<ColumnRef>* columns : {&question.shown, &question.filtered, &question.grouped})
          known->second.insert(columns->begin(), columns->end());
        if (is_new || known->second.size() > before) changed.insert(subject);
      }
    }
    std::size_t most = 0;
    for (const int subject : changed) {
      std::set<ColumnRef> all;
      for (const auto& [of, subjects] : days_) {
        const auto known = subjects.find(subject);
        if (known != subjects.end()) all.insert(known->second.begin(), known->second.end());
      }
      most = std::max(most, all.size());
    }
    return static_cast<std::int64_t>(most);
  }

 private:
  std::map<int, std::map<int, std::set<ColumnRef>>> days_;
};

// Answers of a session that the server remembers.
constexpr std::size_t kRemembered = 54;

inline Recorded Record(const std::vector<Execution>& executions) {
  Recorded recorded;
  std::map<privacy_score::AbstractionId, std::set<int>> addressed;
  std::int64_t person = 0, most_addressed = 0, most_rows = 0, differ = 0;
  std::vector<privacy_score::AskedAggregate> answers;
  std::map<int, std::int64_t> columns;
  for (const Execution& execution : executions) {
    const Statement& statement = *execution.statement;
    recorded.repeats = std::max(recorded.repeats, ++recorded.runs[statement.id]);
    most_rows = std::max(most_rows, execution.rows);
    for (const int subject : execution.subjects)
      if (addressed[statement.id].insert(subject).second)
        person = std::max(person, columns[subject] += statement.columns);
    if (const auto asked = AskedOf(execution)) {
      const std::size_t first = answers.size() > kRemembered ? answers.size() - kRemembered : 0;
      const auto verdict = privacy_score::CompareWithAsked(*asked, answers.data() + first, answers.size() - first);
      if (verdict != privacy_score::AskedBefore::kSame) answers.push_back(*asked);
      if (verdict == privacy_score::AskedBefore::kDiffers) ++differ;
    }
    most_addressed = std::max(most_addressed, static_cast<std::int64_t>(addressed[statement.id].size()));
  }
  recorded.figures = {most_addressed, person, most_rows, std::nullopt, differ};
  return recorded;
}

}  // namespace bank
