/*
 * detection_record.hpp - what is stored of a session of detection_people.hpp, by the definitions of docs/alarms.md.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/detection/role_alarm.hpp"
#include "detection_bank.hpp"

namespace bank {

struct Recorded {
  std::map<privacy_score::AbstractionId, std::int64_t> runs;
  privacy_score::StoredFigures figures;
  std::int64_t repeats = 0;
};

inline Recorded Record(const std::vector<Execution>& executions) {
  Recorded recorded;
  std::map<privacy_score::AbstractionId, std::set<int>> addressed;
  std::int64_t person = 0, most_addressed = 0, most_rows = 0;
  std::map<int, std::int64_t> columns;
  for (const Execution& execution : executions) {
    const Statement& statement = *execution.statement;
    recorded.repeats = std::max(recorded.repeats, ++recorded.runs[statement.id]);
    most_rows = std::max(most_rows, execution.rows);
    for (const int subject : execution.subjects)
      if (addressed[statement.id].insert(subject).second)
        person = std::max(person, columns[subject] += statement.columns);
    most_addressed = std::max(most_addressed, static_cast<std::int64_t>(addressed[statement.id].size()));
  }
  recorded.figures = {most_addressed, person, most_rows};
  return recorded;
}

}  // namespace bank
