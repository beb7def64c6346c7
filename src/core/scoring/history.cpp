/*
 * history.cpp - scores computed from the stored history.
 */
#include "core/scoring/history.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"
#include "core/scoring/enforced_sum.hpp"
#include "core/scoring/missing_rates.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/profile.hpp"

namespace privacy_score {

namespace {

constexpr double kChosenFactor = 1.5;
constexpr double kChosenSlack = .05;

using ResultRow = std::vector<std::optional<std::string>>;

// The scorers of the roles, and of the end users who have baselines of their own, made when first asked for.
class Scorers {
 public:
  explicit Scorers(const History& history) : history_(history) {}

  RoleScorer& For(const std::string& role, const std::optional<std::string>& end_user) {
    const Baseline* baseline = history_.model->BaselineFor(role, end_user.value_or(""));
    if (history_.model->AcceptedOf(role, end_user.value_or("")) != nullptr) return Of(role, end_user.value_or(""));
    return Of(role, baseline == nullptr ? std::string() : baseline->end_user);
  }

  // That of the peers of an end user who has a baseline of her own; null where nothing is compared.
  RoleScorer* Peers(const std::string& role, const std::optional<std::string>& end_user) {
    return history_.model->PeersOf(role, end_user.value_or("")) == nullptr ? nullptr : &Of(role, {});
  }

  std::vector<MissingRate> TakeMissing() {
    MissingRates all;
    for (auto& [principal, scorer] : scorers_) all.Add(scorer->TakeMissing());
    return all.List();
  }

 private:
  RoleScorer& Of(const std::string& role, const std::string& end_user) {
    auto& scorer = scorers_[{role, end_user}];
    if (!scorer) {
      scorer = std::make_unique<RoleScorer>(history_.model, role, history_.settings, nullptr, ScoreMemory(), end_user);
    }
    return *scorer;
  }

  const History& history_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<RoleScorer>> scorers_;
};

// The score of sessions against the baseline of the peers; none where there is nothing to compare with.
std::optional<std::string> PeerScore(const std::vector<const Sequence*>& sequences, RoleScorer* peers,
                                     GivesUp gives_up) {
  if (peers == nullptr) return std::nullopt;
  Profile profile;
  for (const Sequence* sequence : sequences) profile.AddSequence(*sequence, *peers, gives_up);
  return TextOf(profile.Summary().score);
}

std::int64_t RowsOf(const Sequence& sequence) {
  std::int64_t rows = 0;
  for (const Run& run : sequence) rows += run.rows;
  return rows;
}

// Role, end user and day.
using PrincipalDay = std::tuple<std::string, std::optional<std::string>, std::string>;

// The sessions of each principal and day.
std::map<PrincipalDay, std::vector<const Sequence*>> ByDay(const History& history) {
  std::map<PrincipalDay, std::vector<const Sequence*>> days;
  for (const HistorySession& session : history.sessions)
    days[{session.role, session.end_user, session.day}].push_back(&session.sequence);
  return days;
}

void AppendFigures(ResultRow& row, const SessionSummary& summary) {
  for (const std::int64_t number : {summary.queries, summary.ngrams, summary.mismatched}) row.push_back(TextOf(number));
  for (const double number : {summary.score, summary.max_score, summary.tight_max, summary.normalised}) {
    row.push_back(TextOf(number));
  }
}

}  // namespace

ScoreSettings ReadSettings(WireReader& reader) {
  const auto rows = reader.Section(SettingsSection::kColumns);
  if (rows.size() != 1) throw DamagedData("not one row of settings");
  const Row& row = rows.front();
  const auto one_of = [](const Field& field, const char* name, const char* first, const char* second) {
    const std::string text = RequiredText(field);
    if (text != first && text != second) {
      throw InvalidValue(std::string(name) + " must be " + first + " or " + second + ", not \"" + text + "\"");
    }
    return text == second;
  };
  using Column = SettingsSection;
  ScoreSettings settings;
  settings.ngram_length = static_cast<int>(
      std::clamp<std::int64_t>(ParseInteger(RequiredText(row[Column::kNgramLength])), 0, kRecordedLength + 1));
  settings.counting =
      one_of(row[Column::kCounting], "counting", "set", "multiset") ? ScoreSettings::kMultiset : ScoreSettings::kSet;
  settings.compare = one_of(row[Column::kCompare], "compare", "positionwise", "union") ? ScoreSettings::kUnion
                                                                                       : ScoreSettings::kPositionwise;
  settings.alpha = ParseDouble(RequiredText(row[Column::kAlpha]));
  settings.where_counts = ParseBool(RequiredText(row[Column::kWhereCounts]));
  settings.pad = ParseBool(RequiredText(row[Column::kPad]));
  settings.identifiers_count = ParseBool(RequiredText(row[Column::kIdentifiersCount]));
  if (const Field& least = row[Column::kAggregateLeast])
    settings.aggregate_least =
        static_cast<int>(std::clamp<std::int64_t>(ParseInteger(*least), -1, std::numeric_limits<int>::max()));
  CheckSettings(settings);
  return settings;
}

std::vector<HistorySession> ReadSessions(WireReader& reader) {
  std::vector<HistorySession> sessions;
  using Column = SessionSection;
  static_assert(Column::kSubjectColumns - Column::kReach + 1 == kReachFigureCount);
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    HistorySession part;
    part.session_key = ParseInteger(RequiredText(row[Column::kId]));
    part.role = RequiredText(row[Column::kRole]);
    part.day = RequiredText(row[Column::kDay]);
    if (row[Column::kSession]) part.session = RequiredText(row[Column::kSession]);
    if (row[Column::kEndUser]) part.end_user = RequiredText(row[Column::kEndUser]);
    for (std::size_t figure = 0; figure < part.reach.size(); ++figure)
      if (row[Column::kReach + figure]) part.reach[figure] = RequiredText(row[Column::kReach + figure]);
    const bool continued =
        !sessions.empty() && std::tie(sessions.back().session_key, sessions.back().role, sessions.back().day) ==
                                 std::tie(part.session_key, part.role, part.day);
    if (!continued) sessions.push_back(std::move(part));
    AppendStored(sessions.back().sequence, RequiredText(row[Column::kIds]), RequiredText(row[Column::kRuns]),
                 row[Column::kRows].value_or(std::string_view()));
  });
  return sessions;
}

History ReadHistory(std::string_view wire) {
  WireReader reader(wire);
  History history;
  history.model = std::make_shared<const Model>(Model::Read(reader));
  history.settings = ReadSettings(reader);
  history.sessions = ReadSessions(reader);
  return history;
}

EachDayResult ScoreEachDay(const History& history, GivesUp gives_up) {
  Scorers scorers(history);
  EachDayResult result;
  for (const auto& [principal_day, sequences] : ByDay(history)) {
    const auto& [role, end_user, day] = principal_day;
    RoleScorer& scorer = scorers.For(role, end_user);
    Profile profile;
    EnforcedSum enforced;
    std::int64_t rows = 0;
    for (const Sequence* sequence : sequences) {
      profile.AddSequence(*sequence, scorer, gives_up);
      enforced.AddSession(*sequence, scorer);
      rows += RowsOf(*sequence);
    }
    const SessionSummary summary = profile.Summary();
    ScoredDay scored;
    scored.role = role;
    scored.end_user = end_user;
    scored.day = day;
    AppendFigures(scored.figures, summary);
    scored.figures.push_back(TextOf(summary.statement_score));
    scored.figures.push_back(TextOf(rows));
    scored.figures.push_back(TextOf(enforced.value()));
    scored.figures.push_back(PeerScore(sequences, scorers.Peers(role, end_user), gives_up));
    NoteAdding(scored, profile, history.settings.ngram_length);
    result.days.push_back(std::move(scored));
  }
  result.missing = scorers.TakeMissing();
  return result;
}

EachDayResult ScoreEachDay(std::string_view wire, GivesUp gives_up) {
  return ScoreEachDay(ReadHistory(wire), gives_up);
}

HistoryResult ScoreSessions(std::string_view wire, GivesUp gives_up) {
  const History history = ReadHistory(wire);
  Scorers scorers(history);
  HistoryResult result;
  for (const HistorySession& session : history.sessions) {
    Profile profile;
    profile.AddSequence(session.sequence, scorers.For(session.role, session.end_user), gives_up);
    const SessionSummary summary = profile.Summary();
    ResultRow row{session.role, session.day, session.session};
    AppendFigures(row, summary);
    row.push_back(TextOf(summary.statement_score));
    row.push_back(TextOf(RowsOf(session.sequence)));
    row.insert(row.end(), session.reach.begin(), session.reach.end());
    row.push_back(TextOf(summary.statement_score));  // of a session enforced is that
    row.push_back(session.end_user);
    row.push_back(PeerScore({&session.sequence}, scorers.Peers(session.role, session.end_user), gives_up));
    result.table.rows.push_back(std::move(row));
  }
  result.missing = scorers.TakeMissing();
  return result;
}

HistoryResult ScoreNGrams(std::string_view wire, GivesUp gives_up) {
  const History history = ReadHistory(wire);
  Scorers scorers(history);
  using SortKey = std::tuple<std::string, double, std::vector<std::string>, std::string, std::optional<std::string>>;
  std::vector<std::pair<SortKey, ResultRow>> rows;
  for (const auto& [principal_day, sequences] : ByDay(history)) {
    const auto& [role, end_user, day] = principal_day;
    RoleScorer& scorer = scorers.For(role, end_user);
    RoleScorer* peers = scorers.Peers(role, end_user);
    Profile profile;
    std::unordered_map<NGram, std::int64_t, NGramHash> rows_of;
    for (const Sequence* sequence : sequences) {
      profile.AddSequence(*sequence, scorer, gives_up);
      ForEachNGram(*sequence, [&](const NGram& ngram, std::int64_t, std::int64_t returned) {
        if (returned > 0) rows_of[Suffix(ngram, history.settings.ngram_length)] += returned;
      });
    }
    for (const auto& [ngram, entry] : profile.ngrams()) {
      if (entry.score.matched) continue;
      GiveUpIfAsked(gives_up);
      const NGramExplanation explained = scorer.Explain(ngram, ScoreLevel::kNGram);
      std::vector<std::string> lines = scorer.ReadableForm(ngram, ScoreLevel::kNGram);
      ResultRow row{day,
                    ArrayText(lines),
                    TextOf(entry.count),
                    ArrayText(scorer.ReadableForm(explained.nearest, ScoreLevel::kNGram)),
                    TextOf(entry.score.score),
                    ArrayText(explained.deltas),
                    ArrayText(explained.attributes),
                    TextOf(rows_of[ngram]),
                    role,
                    end_user,
                    std::nullopt};
      if (peers != nullptr) row.back() = TextOf(peers->Score(ngram, ScoreLevel::kNGram).score);
      rows.emplace_back(SortKey{day, -entry.score.score, std::move(lines), role, end_user}, std::move(row));
    }
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  HistoryResult result;
  for (auto& [key, row] : rows) result.table.rows.push_back(std::move(row));
  result.missing = scorers.TakeMissing();
  return result;
}

BaselineRows BaselineOfHistory(std::string_view sessions_wire) {
  WireReader reader(sessions_wire);
  std::vector<Sequence> sequences;
  for (HistorySession& session : ReadSessions(reader)) sequences.push_back(std::move(session.sequence));
  return BaselineOf(sequences);
}

ResultTable ChooseNGramLength(std::string_view sessions_wire, int longest, bool pad) {
  if (longest < 1 || longest > kRecordedLength) {
    throw InvalidValue("longest n-gram length must be between 1 and " + std::to_string(kRecordedLength) + ", not " +
                           std::to_string(longest),
                       "2 compares pairs of statements that follow each other, 1 single ones.");
  }
  WireReader reader(sessions_wire);
  const auto sessions = ReadSessions(reader);
  std::vector<std::optional<double>> rates;  // none where no session is as long
  std::size_t days_seen = 0;
  for (int length = 1; length <= longest; ++length) {
    std::map<std::string, std::unordered_map<NGram, std::int64_t, NGramHash>> days;
    std::unordered_map<NGram, int, NGramHash> days_with;
    for (const HistorySession& session : sessions) {
      auto& day = days[session.day];
      ForEachNGram(session.sequence, [&](const NGram& recorded, std::int64_t count, std::int64_t) {
        if (!pad && HasPadding(recorded, length)) return;
        auto& occurrences = day[Suffix(recorded, length)];
        if (occurrences == 0) ++days_with[Suffix(recorded, length)];
        occurrences += count;
      });
    }
    double sum = 0;
    std::size_t counted = 0;
    for (const auto& [day, ngrams] : days) {
      std::int64_t total = 0;
      std::int64_t alone = 0;
      for (const auto& [ngram, count] : ngrams) {
        total += count;
        if (days_with.at(ngram) == 1) alone += count;
      }
      if (total == 0) continue;
      ++counted;
      sum += static_cast<double>(alone) / static_cast<double>(total);
    }
    days_seen = std::max(days_seen, counted);
    rates.emplace_back();
    if (counted > 0) rates.back() = sum / static_cast<double>(counted);
  }
  int chosen = 1;
  for (int length = 1; length <= longest; ++length) {
    const auto& rate = rates[static_cast<std::size_t>(length - 1)];
    if (rate && *rate <= kChosenFactor * rates.front().value_or(0) + kChosenSlack) chosen = length;
  }
  // A single day tells nothing.
  if (days_seen < 2) chosen = longest >= 2 && rates[1] ? 2 : 1;
  ResultTable table;
  for (int length = 1; length <= longest; ++length) {
    const auto& rate = rates[static_cast<std::size_t>(length - 1)];
    table.rows.push_back({TextOf(std::int64_t{length}), rate ? std::optional(TextOf(*rate)) : std::nullopt,
                          std::string(length == chosen ? "t" : "f")});
  }
  return table;
}

}  // namespace privacy_score
