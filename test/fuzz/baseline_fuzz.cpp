/*
 * baseline_fuzz.cpp - baselines, models and histories as they cross the wall, and what scores say of them.
 *
 * The first byte chooses: 'w' the bytes are sections as core reads them; 't' they are text, a section between lines
 * "=", a row a line, fields between tabs, "-" for NULL; anything else: they make a small model and history, whose
 * scores are compared.
 */
#include <algorithm>
#include <optional>
#include <string>

#include "../unit/score_fixture.hpp"
#include "core/base/error.hpp"
#include "core/scoring/baseline_check.hpp"
#include "core/scoring/memory_history.hpp"
#include "sqlparse/catalog.hpp"
#include "targets.hpp"

namespace privacy_score::fuzz {

namespace {

using namespace testing_support;

// --- bytes that may be anything --------------------------------------------------------------------------------------

// Runs what may refuse its input, in the way it is to.
template <typename Read>
bool Reads(Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    Require(error.sqlstate() == "XX001" || error.sqlstate() == "22023", "damaged bytes are refused as such");
    return false;
  }
}

void ReadAnything(std::string_view wire) {
  const bool is_model = Reads([&] { Model::Parse(wire); });
  LiveScorer scorer("analyst", ScoreSettings());
  Require(Reads([&] { scorer.Load(wire); }) == is_model, "a scorer loads what is a model");
  const bool days = Reads([&] { ScoreDays(wire); });
  Require(Reads([&] { ScoreSessions(wire); }) == days, "sessions and days read the same");
  Require(Reads([&] { ScoreNGrams(wire); }) == days, "so do n-grams");
  Reads([&] { CheckBaseline(wire, "analyst", "2026-01-01", "2026-12-31", [] { return false; }); });
  Reads([&] { BaselineOfHistory(wire); });
  Reads([&] { ChooseNGramLength(wire, 6); });
  Reads([&] {
    Catalog catalog;
    WireReader reader(wire);
    catalog.Feed(reader);
  });
}

// Sections of text. Rows are cut or filled to the columns that the section is read with.
std::string WireOfText(std::string_view text) {
  static const std::uint32_t kColumns[] = {4, 5, 2, 2, 10, 3, 3, 4, 6, 8, 11};
  WireWriter writer;
  std::size_t section = 0;
  TextRows rows;
  const auto finish = [&] {
    if (section < std::size(kColumns)) {
      for (TextRow& row : rows) row.resize(kColumns[section]);
      writer.Section(kColumns[section], rows);
    }
    ++section;
    rows.clear();
  };
  for (const std::string_view line : Split(text, '\n')) {
    if (line == "=") {
      finish();
      continue;
    }
    TextRow row;
    for (const std::string_view field : Split(line, '\t'))
      row.push_back(field == "-" ? std::nullopt : std::optional<std::string>(field));
    rows.push_back(std::move(row));
  }
  finish();
  return writer.bytes();
}

// --- a history of our own --------------------------------------------------------------------------------------------

struct Story {
  ModelRows model;
  ScoreSettings settings;
  std::vector<Tokens> abstractions;
  std::vector<TestSession> sessions;
  std::vector<TestSession> normal;  // those that the baseline is made of
};

ScoreSettings ReadSettings(Numbers* numbers) {
  ScoreSettings settings;
  settings.ngram_length = 1 + numbers->Below(kRecordedLength);
  settings.counting = numbers->Flag() ? ScoreSettings::kMultiset : ScoreSettings::kSet;
  settings.compare = numbers->Flag() ? ScoreSettings::kUnion : ScoreSettings::kPositionwise;
  settings.alpha = numbers->Byte() / 255.0;
  settings.where_counts = numbers->Flag();
  settings.pad = numbers->Flag();
  settings.identifiers_count = numbers->Flag();
  return settings;
}

Tokens ReadTokens(Numbers* numbers, const TestTable& table) {
  static const char* const kKinds[] = {"p:", "w:", "g:", "l:"};
  const std::string kind = kKinds[numbers->Below(4)];
  const int mask = numbers->Byte();
  Tokens tokens = {"cmd:select", "t:" + table.relation};
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    if ((mask >> c & 1) != 0) tokens.push_back(kind + table.Qualified(c));
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

Story ReadStory(Numbers* numbers) {
  static const TestTable kTable = ExampleTable();
  static const TextRows kRates = kTable.AllRates();
  static const char* const kLabels[] = {"identifier", "quasi-identifier", "sensitive", "public"};
  Story story;
  story.settings = ReadSettings(numbers);
  story.model.relations.push_back({kTable.relation, "1", "t"});
  for (std::size_t c = 0; c < kTable.columns.size(); ++c) {
    const int label = numbers->Below(8);
    story.model.attributes.push_back({kTable.Qualified(c), kTable.relation,
                                      label < 4 ? std::optional<std::string>(kLabels[label]) : std::nullopt,
                                      label == 0 ? "t" : "f"});
  }
  for (int left = numbers->Below(4); left > 0; --left)
    story.model.dependencies.push_back({kTable.Qualified(static_cast<std::size_t>(numbers->Below(6))),
                                        kTable.Qualified(static_cast<std::size_t>(numbers->Below(6)))});
  // Some rates are not known.
  const int known = numbers->Byte();
  for (std::size_t i = 0; i < kRates.size(); ++i)
    if ((known >> (i % 8) & 1) == 0) story.model.rates.push_back(kRates[i]);
  for (int left = 1 + numbers->Below(8); left > 0; --left) {
    const Tokens tokens = ReadTokens(numbers, kTable);
    if (std::find(story.abstractions.begin(), story.abstractions.end(), tokens) == story.abstractions.end())
      story.abstractions.push_back(tokens);
  }
  for (const Tokens& tokens : story.abstractions) story.model.AddAbstraction(Fingerprint(tokens), tokens);
  for (int left = 1 + numbers->Below(6); left > 0; --left) {
    TestSession session;
    session.day = "2026-01-0" + std::to_string(1 + numbers->Below(5));
    const bool is_normal = numbers->Flag();
    for (int length = numbers->Below(24); length > 0; --length) {
      const std::size_t which = numbers->Byte() % story.abstractions.size();
      session.ids.push_back(Fingerprint(story.abstractions[which]));
    }
    if (is_normal) story.normal.push_back(session);
    story.sessions.push_back(std::move(session));
  }
  std::vector<Sequence> sequences;
  for (const TestSession& session : story.normal) sequences.push_back(SequenceOf(session.ids));
  story.model.AddBaseline(1, "analyst", sequences);
  std::stable_sort(story.sessions.begin(), story.sessions.end(),
                   [](const TestSession& a, const TestSession& b) { return a.day < b.day; });
  return story;
}

// The figures of a row from `first` on.
void CheckFigures(const TextRow& row, std::size_t first) {
  const auto number = [&](std::size_t i) { return Number(row[first + i]); };
  const double score = number(3);
  const double most = number(4);
  Require(number(2) <= number(1), "no more n-grams are mismatched than there are");
  Require(score >= 0 && score <= most + 1e-9, "a score is between 0 and its maximum");
  Require(number(5) >= 0 && number(5) <= most + 1e-9, "so is the tight maximum");
  Require(number(6) >= 0 && number(6) <= 1 + 1e-9, "a normalised score is between 0 and 1");
}

// What was normal is: its sessions match the baseline that is made of them.
void CheckNormal(const Story& story) {
  for (const auto& row : ScoreSessions(HistoryWire(story.model, story.settings, story.normal)).table.rows)
    Require(row[5] == "0" && row[6] == "0", "sessions of a baseline match it");
}

// A baseline that is made of the stored sections is that of the sequences.
void CheckStored(const Story& story) {
  WireWriter writer;
  writer.Section(11, ModelRows::Padded(SessionRows(story.normal), 11));
  const BaselineRows stored = BaselineOfHistory(writer.bytes());
  Require(stored.ngrams.rows.size() == story.model.ngrams.size(), "a stored history makes the same baseline");
  for (std::size_t i = 0; i < stored.ngrams.rows.size(); ++i)
    Require(
        stored.ngrams.rows[i][0] == story.model.ngrams[i][1] && stored.ngrams.rows[i][1] == story.model.ngrams[i][2],
        "n-gram by n-gram");
}

// The live score is the stored one, and is foretold by Weigh.
void CheckLive(const Story& story) {
  const auto stored = ScoreSessions(HistoryWire(story.model, story.settings, story.sessions)).table.rows;
  Require(stored.size() == story.sessions.size(), "each session has its row");
  const std::string wire = story.model.Wire();
  for (std::size_t i = 0; i < stored.size(); ++i) {
    CheckFigures(stored[i], 3);
    LiveScorer scorer("analyst", story.settings);
    scorer.Load(wire);
    for (const AbstractionId id : story.sessions[i].ids) {
      const LiveScorer::Weighed expected = scorer.Weigh(id);
      scorer.Observe(id);
      Require(expected.sum == scorer.summary().statement_score, "a statement adds what was foretold");
    }
    const SessionSummary& live = scorer.summary();
    Require(TextOf(live.queries) == stored[i][3] && TextOf(live.ngrams) == stored[i][4] &&
                TextOf(live.mismatched) == stored[i][5] && TextOf(live.score) == stored[i][6] &&
                TextOf(live.max_score) == stored[i][7] && TextOf(live.tight_max) == stored[i][8] &&
                TextOf(live.statement_score) == stored[i][10],
            "the live score is the stored one");
    Require(scorer.LastScore() >= 0 && !scorer.LastExplanation().empty(), "the last statement has its score");
  }
}

void CheckStory(const Story& story) {
  CheckNormal(story);
  CheckStored(story);
  CheckLive(story);
  const std::string wire = HistoryWire(story.model, story.settings, story.sessions);
  for (const auto& row : ScoreDays(wire).table.rows) CheckFigures(row, 2);
  for (const auto& row : ScoreNGrams(wire).table.rows) Require(Number(row[4]) >= 0, "no n-gram scores below 0");
  CheckBaseline(wire, "analyst", "2026-01-01", "2026-01-05", [] { return false; });
}

void CheckCutting(Numbers* numbers) {
  std::vector<Event> events;
  const std::int64_t gap = numbers->Byte();
  for (int left = numbers->Below(32); left > 0; --left) {
    Event event;
    event.session_key = numbers->Below(3);
    event.role = numbers->Flag() ? "a" : "b";
    event.at = numbers->Byte() * std::int64_t{8};
    event.day = event.at / 1024;
    event.id = numbers->Below(4);
    events.push_back(event);
  }
  std::int64_t counted = 0;
  for (const Event& event : events) counted += event.id == 0 ? 0 : 1;
  for (const CutSession& session : CutSessions(events, gap)) {
    Require(session.started <= session.ended, "a session begins before it ends");
    Require(session.started / 1024 == session.day && session.ended / 1024 == session.day, "within its day");
    counted -= LengthOf(session.sequence);
  }
  Require(counted == 0, "no statement is lost and none is added by cutting");
}

}  // namespace

void FuzzBaseline(std::string_view input) {
  if (input.substr(0, 1) == "w") return ReadAnything(input.substr(1));
  if (input.substr(0, 1) == "t") return ReadAnything(WireOfText(input.substr(1)));
  Numbers numbers(input);
  CheckStory(ReadStory(&numbers));
  CheckCutting(&numbers);
}

}  // namespace privacy_score::fuzz
