/*
 * recorded_figures.cpp - see recorded_figures.hpp.
 */
#include "core/detection/recorded_figures.hpp"

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/base/error.hpp"
#include "core/detection/alarm_reason.hpp"
#include "core/detection/calibration_bytes.hpp"
#include "core/detection/detection_sections.hpp"
#include "core/detection/role_alarm.hpp"

namespace privacy_score {

namespace {

using ResultRow = std::vector<std::optional<std::string>>;

std::optional<std::int64_t> NumberIn(const Field& field) {
  if (!field) return std::nullopt;
  return ParseInteger(*field);
}

std::optional<std::string> TextIn(const Field& field) {
  if (!field) return std::nullopt;
  return std::string(*field);
}

std::unordered_set<AbstractionId> ReadIds(WireReader& reader) {
  std::unordered_set<AbstractionId> ids;
  reader.EachRow(IdSection::kColumns, [&](const Row& row) { ids.insert(ParseInteger(Required(row[IdSection::kId]))); });
  return ids;
}

// A session as it is read, part by part.
struct Recorded {
  std::int64_t key = 0;
  ResultRow row;  // day, session, end_user
  JudgedSession judged;
};

class Answer {
 public:
  Answer(const RoleAlarm& alarm, double alarm_rate)
      : calibration_(alarm.calibration()), threshold_(calibration_.alarm.Threshold(alarm_rate)) {}

  void Put(Recorded& recorded) {
    const SessionFigures figures = recorded.judged.Figures();
    const Judgement judgement = recorded.judged.Judge();
    ResultRow row = std::move(recorded.row);
    for (const Figure figure : kFigures)
      row.push_back(figures[figure] ? std::optional<std::string>(TextOf(*figures[figure])) : std::nullopt);
    row.push_back(TextOf(judgement.combined));
    if (judgement.reason) {
      row.emplace_back(NameOf(*judgement.reason));
      row.push_back(ReasonInWords(judgement, figures, calibration_));
    } else {
      row.insert(row.end(), 2, std::nullopt);
    }
    row.push_back(TextOf(threshold_.value));
    row.push_back(TextOf(threshold_.calibrated_on));
    row.emplace_back(threshold_.extrapolated ? "t" : "f");
    result.rows.push_back(std::move(row));
  }

  ResultTable result;

 private:
  const RoleCalibration& calibration_;
  AlarmThreshold threshold_;
};

}  // namespace

ResultTable RecordedFigures(std::string_view wire, std::string_view calibration, std::string_view role,
                            double alarm_rate, GivesUp gives_up) {
  if (!(alarm_rate > 0 && alarm_rate < 1)) throw InvalidValue("alarm_rate must be between 0 and 1");
  if (calibration.empty()) return {};
  std::optional<RoleCalibration> of_role = ReadRoleCalibration(calibration, role);
  if (!of_role) return {};
  WireReader reader(wire);
  RoleAlarm alarm(std::move(*of_role), reader);
  const TokenMap tokens = ReadTokens(reader);
  const std::unordered_set<AbstractionId> of_roles = ReadIds(reader);
  const AcceptedOfRole accepted(reader);
  Answer answer(alarm, alarm_rate);
  std::optional<Recorded> recorded;
  using Column = RecordedSection;
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    GiveUpIfAsked(gives_up);
    const std::int64_t key = ParseInteger(Required(row[Column::kId]));
    if (!recorded || recorded->key != key) {
      if (recorded) answer.Put(*recorded);
      recorded.emplace(
          Recorded{key,
                   {TextIn(row[Column::kDay]), TextIn(row[Column::kSession]), TextIn(row[Column::kEndUser])},
                   JudgedSession(alarm, accepted.Of(row[Column::kEndUser].value_or(std::string_view())))});
      recorded->judged.Take(StoredFigures{NumberIn(row[Column::kAddressed]), NumberIn(row[Column::kPerson]),
                                          NumberIn(row[Column::kMostRows]), NumberIn(row[Column::kKnown]),
                                          NumberIn(row[Column::kDiffer])});
    }
    const std::vector<std::int64_t> ids = ParseIntegers(Required(row[Column::kIds]));
    const std::vector<std::int64_t> runs = ParseIntegers(Required(row[Column::kRuns]));
    if (ids.size() != runs.size()) throw DamagedData("a session has abstractions without runs");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (runs[i] <= 0) continue;
      const auto found = tokens.find(ids[i]);
      recorded->judged.Take(ids[i], runs[i], found == tokens.end() ? nullptr : &found->second,
                            of_roles.count(ids[i]) > 0);
    }
  });
  if (recorded) answer.Put(*recorded);
  return std::move(answer.result);
}

}  // namespace privacy_score
