/*
 * role_alarm.cpp - see role_alarm.hpp.
 */
#include "core/detection/role_alarm.hpp"

#include <algorithm>
#include <utility>

#include "core/base/json.hpp"
#include "core/detection/alarm_reason.hpp"

namespace privacy_score {

namespace {

void WriteFigures(JsonWriter& json, const SessionFigures& figures) {
  json.Key("figures").BeginObject();
  for (const Figure figure : kFigures) {
    json.Key(NameOf(figure));
    if (figures[figure])
      json.Value(*figures[figure]);
    else
      json.Null();
  }
  json.EndObject();
}

}  // namespace

RoleAlarm::RoleAlarm(RoleCalibration calibration, WireReader& baseline) : calibration_(std::move(calibration)) {
  const TokenMap tokens = ReadTokens(baseline);
  NoveltyProfile::Abstractions abstractions;
  abstractions.reserve(tokens.size());
  size_ = tokens.size();
  for (const auto& [id, of] : tokens) abstractions.emplace_back(id, &of);
  profile_ = std::make_unique<NoveltyProfile>(calibration_.tokens, abstractions);
}

bool JudgedSession::Wants(AbstractionId id) {
  return id != 0 && executions_.find(id) == executions_.end() && !novelty_.IsKnown(id);
}

void JudgedSession::Take(AbstractionId id, std::int64_t executions, const Tokens* tokens, bool is_of_others) {
  if (id == 0) return;
  static const Tokens none;
  novelty_.Add(id, tokens == nullptr ? none : *tokens, executions, is_of_others);
  repeats_ = std::max(repeats_, executions_[id] += executions);
}

Judgement JudgedSession::Judge() const {
  const SessionFigures figures = Figures();
  return alarm_.calibration().Judge(accepted_ == nullptr ? figures : accepted_->Beyond(figures));
}

SessionFigures JudgedSession::Figures() const {
  SessionFigures figures;
  novelty_.Show(&figures);
  if (stored_.addressed) figures[Figure::kAddressed] = static_cast<double>(*stored_.addressed);
  if (stored_.person) figures[Figure::kPerson] = static_cast<double>(*stored_.person);
  if (stored_.known) figures[Figure::kKnown] = static_cast<double>(*stored_.known);
  if (stored_.differ) figures[Figure::kDiffer] = static_cast<double>(*stored_.differ);
  if (stored_.most_rows) figures[Figure::kVolume] = VolumeOf(*stored_.most_rows);
  figures[Figure::kRepeats] = static_cast<double>(repeats_);
  return figures;
}

std::string UnusualJson(const JudgedSession& session, const RoleCalibration& calibration,
                        const AlarmThreshold& threshold) {
  const SessionFigures figures = session.Figures();
  const Judgement judgement = session.Judge();
  JsonWriter json;
  json.BeginObject();
  json.Key("version").Value(std::int64_t{1});
  if (judgement.reason) {
    json.Key("cause").Value(NameOf(*judgement.reason));
    json.Key("figure").Value(NameOf(*judgement.reason));
  }
  json.Key("reason").Value(ReasonInWords(judgement, figures, calibration));
  WriteFigures(json, figures);
  json.Key("combined").Value(judgement.combined);
  json.Key("threshold").Value(threshold.value);
  json.Key("calibrated_on").Value(threshold.calibrated_on);
  json.Key("extrapolated").Value(threshold.extrapolated);
  return json.EndObject().text();
}

std::string DripJson(const JudgedSession& session, DripKind kind, double drip, double limit) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").Value(std::int64_t{1});
  const bool is_new = kind == DripKind::kNew;
  json.Key("cause").Value(is_new ? "new_drip" : "drip");
  json.Key("reason").Value(
      is_new ? "session after session runs what is new to the role more often than most do; added up, nobody of the "
               "baseline comes so far"
             : "each session is a little more unusual than most; added up, none of the baseline came so far");
  WriteFigures(json, session.Figures());
  json.Key("drip").Value(drip);
  json.Key("limit").Value(limit);
  return json.EndObject().text();
}

}  // namespace privacy_score
