/*
 * day_fixture.hpp - the recorded sessions of a day as DayScorer reads them.
 */
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/scoring/day_scorer.hpp"
#include "core/scoring/model_sections.hpp"
#include "score_fixture.hpp"

namespace privacy_score::testing_support {

// Sessions by number, each with its parts.
using RecordedDay = std::map<std::int64_t, std::vector<Sequence>>;

inline std::string SessionsWire(const RecordedDay& day) {
  TextRows rows;
  for (const auto& [id, parts] : day) {
    std::int64_t queries = 0;
    for (const Sequence& part : parts) queries += LengthOf(part);
    rows.push_back({TextOf(id), TextOf(queries)});
  }
  WireWriter writer;
  writer.Section(DaySessionSection::kColumns, rows);
  return writer.bytes();
}

inline std::string PartsWire(const RecordedDay& day, const std::vector<DayScorer::Wanted>& wanted) {
  TextRows rows;
  for (const auto& [id, from] : wanted)
    for (auto part = static_cast<std::size_t>(from); part < day.at(id).size(); ++part)
      rows.push_back(
          {TextOf(id), TextOf(static_cast<std::int64_t>(part)), IdsText(day.at(id)[part]), RunsText(day.at(id)[part])});
  WireWriter writer;
  writer.Section(SessionPartSection::kColumns, rows);
  return writer.bytes();
}

inline std::string TokensWire(const TextRows& rows) {
  WireWriter writer;
  writer.Section(TokenSection::kColumns, rows);
  return writer.bytes();
}

// Those of `all` that are of these abstractions.
inline TextRows TokensOfIds(const TextRows& all, const std::vector<AbstractionId>& ids) {
  TextRows rows;
  for (const TextRow& row : all)
    for (const AbstractionId id : ids)
      if (ParseInteger(*row[0]) == id) rows.push_back(row);
  return rows;
}

// Takes in all that is new, and scores it.
inline DayScore ScoreNow(DayScorer& scorer, const RecordedDay& day, const TextRows& tokens) {
  scorer.TakeParts(PartsWire(day, scorer.Follow(SessionsWire(day)).value()));
  scorer.Define(TokensWire(TokensOfIds(tokens, scorer.Unknown())));
  return scorer.Score();
}

// The same day as a section of history.
inline std::string HistoryWireOf(const ModelRows& model, const ScoreSettings& settings, const RecordedDay& day) {
  TextRows rows;
  for (const auto& [id, parts] : day)
    for (const Sequence& part : parts)
      rows.push_back({TextOf(id), "analyst", "2024-01-03", "s" + TextOf(id), IdsText(part), RunsText(part)});
  WireWriter writer;
  model.Write(writer);
  writer.Section(SettingsSection::kColumns, {SettingsRow(settings)});
  writer.Section(SessionSection::kColumns, ModelRows::Padded(rows, SessionSection::kColumns));
  return writer.bytes();
}

}  // namespace privacy_score::testing_support
