/*
 * score_fixture.hpp - tables, models and histories for the tests of the score.
 *
 * A TestTable holds rows of small integers; its rates are computed exactly from the class sizes of each attribute set.
 */
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"
#include "core/entropy/entropy.hpp"
#include "core/scoring/history.hpp"
#include "core/scoring/live_scorer.hpp"
#include "core/scoring/model.hpp"
#include "core/scoring/revealing_sessions.hpp"

namespace privacy_score::testing_support {

using TextRow = std::vector<std::optional<std::string>>;
using TextRows = std::vector<TextRow>;

// DR against the row, of which `sizes` is the partition: 1 - (sum of c/N lg c)/lg N.
inline double RowRate(const ClassSizes& sizes) {
  std::int64_t rows = 0;
  for (const auto& [size, count] : sizes) rows += size * count;
  const double entropy = Entropy({{1, rows}});
  return DiscriminationRate(entropy, entropy, Entropy(sizes));
}

struct TestTable {
  std::string relation = "public.t";
  std::vector<std::string> columns;
  std::vector<std::vector<int>> rows;

  ClassSizes SizesBy(const std::vector<std::size_t>& by) const {
    std::map<std::vector<int>, std::int64_t> classes;
    for (const auto& row : rows) {
      std::vector<int> key;
      for (const std::size_t column : by) key.push_back(row[column]);
      ++classes[key];
    }
    std::map<std::int64_t, std::int64_t> histogram;
    for (const auto& [key, size] : classes) ++histogram[size];
    ClassSizes sizes;
    for (const auto& [size, count] : histogram) sizes.push_back({size, count});
    return sizes;
  }
  double Rate(const std::vector<std::size_t>& by) const { return RowRate(SizesBy(by)); }
  std::string Qualified(std::size_t column) const { return relation + "." + columns[column]; }

  // A row of the section of rates for every set of columns given by the bits of a mask.
  TextRows RatesOfMasks(const std::vector<unsigned>& masks) const {
    TextRows result;
    for (const unsigned mask : masks) {
      std::vector<std::size_t> by;
      std::vector<std::string> names;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if ((mask >> c & 1U) == 0) continue;
        by.push_back(c);
        names.push_back(Qualified(c));
      }
      std::sort(names.begin(), names.end());
      std::string joined;
      for (const auto& name : names) joined += (joined.empty() ? "" : std::string(1, kAttributeSeparator)) + name;
      result.push_back({relation, joined, TextOf(Rate(by))});
    }
    return result;
  }
  TextRows AllRates() const {
    std::vector<unsigned> masks;
    for (unsigned mask = 1; mask < 1U << columns.size(); ++mask) masks.push_back(mask);
    return RatesOfMasks(masks);
  }
};

// The example of docs/scoring.md, section 2.
inline TestTable ExampleTable() {
  return {"public.hospital",
          {"first_name", "last_name", "gender", "department", "city", "department_head"},
          {{0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0}, {2, 2, 1, 0, 0, 0}, {1, 0, 0, 1, 0, 1}, {0, 3, 0, 1, 0, 1}}};
}

// The sections of a model, filled by the test.
struct ModelRows {
  TextRows relations;
  TextRows attributes;
  TextRows dependencies;
  TextRows abstractions;
  TextRows baselines;
  TextRows ngrams;
  TextRows session_sets;
  TextRows limits;
  TextRows accepted;
  TextRows rates;

  void AddAbstraction(AbstractionId id, const std::vector<std::string>& tokens) {
    for (const auto& token : tokens) abstractions.push_back({TextOf(id), token});
  }
  void AddBaseline(std::int64_t id, const std::string& role, const std::vector<Sequence>& sessions,
                   const std::optional<std::string>& end_user = std::nullopt) {
    const BaselineRows rows = BaselineOf(sessions);
    baselines.push_back({TextOf(id), role, TextOf(rows.sessions)});
    baselines.back().resize(11);
    baselines.back().back() = end_user;
    for (const auto& row : rows.ngrams.rows) ngrams.push_back({TextOf(id), row[0], row[1]});
    for (const auto& row : rows.session_sets.rows) session_sets.push_back({TextOf(id), row[0], row[1]});
  }
  // Columns that most tests leave out are NULL.
  static TextRows Padded(TextRows rows, std::size_t columns) {
    for (TextRow& row : rows) row.resize(std::max(row.size(), columns));
    return rows;
  }
  void Write(WireWriter& writer, bool with_rates = true) const {
    writer.Section(4, Padded(relations, 4));
    writer.Section(5, Padded(attributes, 5));
    writer.Section(2, dependencies);
    writer.Section(2, abstractions);
    writer.Section(11, Padded(baselines, 11));
    WireWriter counted;
    counted.Section(3, ngrams);
    writer.Append(PackNGrams(counted.bytes()));
    writer.Section(3, session_sets);
    writer.Section(4, limits);
    writer.Section(5, accepted);
    if (with_rates) writer.Section(6, Padded(rates, 6));
  }
  std::string Wire(bool with_rates = true) const {
    WireWriter writer;
    Write(writer, with_rates);
    return writer.bytes();
  }
};

// The same model with the contents of its baselines beside it, where they are read.
class LentModel {
 public:
  // `whole`: with the n-grams of its baselines.
  explicit LentModel(const ModelRows& model, bool whole = true) {
    ModelRows rest = model;
    rest.abstractions.clear();
    rest.ngrams.clear();
    rest.session_sets.clear();
    wire_ = rest.Wire();
    definitions_ = rest.Wire(false);
    std::map<std::int64_t, std::string> contents;
    for (const TextRow& row : model.baselines) {
      const TextRows sets = OfBaseline(model.session_sets, *row[0]);
      std::set<AbstractionId> ids;
      for (const TextRow& set : sets)
        for (const AbstractionId id : ParseIntegers(*set[2])) ids.insert(id);
      TextRows tokens;
      for (const TextRow& token : model.abstractions)
        if (ids.count(ParseInteger(*token[0])) > 0) tokens.push_back(token);
      contents[ParseInteger(*row[0])] =
          PackedBaseline::Pack(Section(3, OfBaseline(model.ngrams, *row[0])), Section(3, sets), Section(2, tokens));
    }
    for (auto& [id, bytes] : contents)
      contents_.emplace_back(id, whole ? std::move(bytes) : PackedBaseline::WithoutNGrams(bytes));
  }
  // Makes of it a model that is published, with counts of what sessions of baselines reveal under these settings.
  // Returns the rates that this lacks.
  std::vector<MissingRate> Publish(const ScoreSettings& settings) {
    std::vector<MissingRate> missing;
    const Model model = Model::Parse(Source(), std::string_view());
    published_ = CountRevealing(model, settings, &missing) + PackedRates::Pack(model);
    return missing;
  }
  ModelSource Source() const {
    std::vector<LentBaseline> beside;
    for (const auto& [id, bytes] : contents_) beside.push_back({id, bytes});
    ModelSource source(published_.empty() ? wire_ : definitions_, beside, nullptr);
    source.published = published_;
    return source;
  }

 private:
  static std::string Section(std::uint32_t columns, const TextRows& rows) {
    WireWriter writer;
    writer.Section(columns, rows);
    return writer.bytes();
  }
  static TextRows OfBaseline(TextRows rows, const std::string& id) {
    rows.erase(std::remove_if(rows.begin(), rows.end(), [&](const TextRow& row) { return row[0] != id; }), rows.end());
    return rows;
  }

  std::string wire_;
  std::string definitions_;  // the same without rates
  std::string published_;
  std::vector<std::pair<std::int64_t, std::string>> contents_;
};

// A model of one table without labels, with all its rates.
inline ModelRows ModelOf(const TestTable& table) {
  ModelRows model;
  model.relations.push_back({table.relation, "1", "t"});
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    model.attributes.push_back({table.Qualified(c), table.relation, std::nullopt, "f"});
  }
  model.rates = table.AllRates();
  return model;
}

inline TextRow SettingsRow(const ScoreSettings& s) {
  return {std::to_string(s.ngram_length),
          s.counting == ScoreSettings::kSet ? "set" : "multiset",
          s.compare == ScoreSettings::kUnion ? "union" : "positionwise",
          TextOf(s.alpha),
          s.where_counts ? "t" : "f",
          s.pad ? "t" : "f",
          s.identifiers_count ? "t" : "f",
          std::to_string(s.aggregate_least)};
}

// [Khan] as published: alpha 1, identifiers count, no padding.
inline ScoreSettings Published() {
  ScoreSettings settings;
  settings.alpha = 1;
  settings.pad = false;
  settings.identifiers_count = true;
  return settings;
}

inline Sequence SequenceOf(const std::vector<AbstractionId>& ids) {
  Sequence sequence;
  for (const AbstractionId id : ids) AppendRun(sequence, id);
  return sequence;
}

// The worked case of docs/scoring.md, section 5: statements 1 to 5, the role analyst with baseline log g gd g gd.
enum Worked : AbstractionId { kG = 1, kGd, kGh, kLg, kLgd };
inline ModelRows WorkedModel() {
  ModelRows model = ModelOf(ExampleTable());
  const auto add = [&](AbstractionId id, const std::vector<std::string>& columns) {
    std::vector<std::string> tokens = {"cmd:select", "t:public.hospital"};
    for (const auto& column : columns) tokens.push_back("p:public.hospital." + column);
    model.AddAbstraction(id, tokens);
  };
  add(kG, {"gender"});
  add(kGd, {"gender", "department"});
  add(kGh, {"gender", "department_head"});
  add(kLg, {"last_name", "gender"});
  add(kLgd, {"last_name", "gender", "department"});
  model.AddBaseline(1, "analyst", {SequenceOf({kG, kGd, kG, kGd})});
  return model;
}

struct TestSession {
  std::string day;
  std::vector<AbstractionId> ids;
  std::string role = "analyst";
  std::optional<std::string> end_user = std::nullopt;
};

inline TextRows SessionRows(const std::vector<TestSession>& sessions) {
  TextRows rows;
  std::int64_t key = 0;
  for (const auto& session : sessions) {
    const Sequence sequence = SequenceOf(session.ids);
    ++key;
    rows.push_back({TextOf(key), session.role, session.day, "s" + TextOf(key), IdsText(sequence), RunsText(sequence),
                    std::nullopt, std::nullopt, std::nullopt, std::nullopt, session.end_user});
  }
  return rows;
}

inline std::string HistoryWire(const ModelRows& model, const ScoreSettings& settings,
                               const std::vector<TestSession>& sessions) {
  WireWriter writer;
  model.Write(writer);
  writer.Section(8, {SettingsRow(settings)});
  writer.Section(11, ModelRows::Padded(SessionRows(sessions), 11));
  return writer.bytes();
}

inline double Number(const std::optional<std::string>& field) { return ParseDouble(field.value()); }

// The rows of score() with nothing kept.
inline HistoryResult ScoreDays(std::string_view wire, GivesUp gives_up = nullptr) {
  const History history = ReadHistory(wire);
  EachDayResult each = ScoreEachDay(history, gives_up);
  return {WithCumulative(std::move(each.days), history.settings.counting), std::move(each.missing)};
}

}  // namespace privacy_score::testing_support
