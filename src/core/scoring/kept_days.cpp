/*
 * kept_days.cpp - the score of days that are over, as it is kept, and what days add up to.
 */
#include "core/scoring/kept_days.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/array_text.hpp"
#include "core/base/error.hpp"
#include "core/scoring/model_sections.hpp"
#include "core/scoring/score_sum.hpp"

namespace privacy_score {

namespace {

constexpr std::size_t kFigures = static_cast<std::size_t>(KeptFigure::kCount);
static_assert(KeptDaySection::kPeerScore - KeptDaySection::kQueries + 1 == kFigures);

std::optional<std::string> Owned(const Field& field) {
  return field ? std::optional<std::string>(std::string(*field)) : std::nullopt;
}

std::vector<double> ParseScores(std::string_view array) {
  const auto elements = ReadArrayText(array);
  if (!elements) throw DamagedData("scores of a day");
  std::vector<double> scores;
  scores.reserve(elements->values.size());
  for (const auto& element : elements->values) {
    if (!element) throw DamagedData("a score of a day that is NULL");
    scores.push_back(ParseDouble(*element));
  }
  return scores;
}

// What a principal's days add up to.
class Cumulative {
 public:
  explicit Cumulative(ScoreSettings::Counting counting) : counting_(counting) {}

  void Add(const ScoredDay& day) {
    if (day.counts.empty()) return;
    const std::size_t length = day.ids.size() / day.counts.size();
    for (std::size_t i = 0; i < day.counts.size(); ++i) {
      if (counting_ == ScoreSettings::kMultiset) {
        sum_.Add(day.scores[i], day.counts[i]);
        continue;
      }
      const auto first = day.ids.begin() + static_cast<std::ptrdiff_t>(i * length);
      if (met_.emplace(first, first + static_cast<std::ptrdiff_t>(length)).second) sum_.Add(day.scores[i], 1);
    }
  }
  double value() const { return sum_.value(); }

 private:
  ScoreSettings::Counting counting_;
  std::set<std::vector<std::int64_t>> met_;
  ScoreSum sum_;
};

}  // namespace

void NoteAdding(ScoredDay& day, const Profile& profile, int ngram_length) {
  std::vector<std::pair<NGram, const Profile::Entry*>> adding;
  for (const auto& [ngram, entry] : profile.ngrams())
    if (entry.score.score > 0) adding.emplace_back(ngram, &entry);
  std::sort(adding.begin(), adding.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [ngram, entry] : adding) {
    day.ids.insert(day.ids.end(), ngram.end() - ngram_length, ngram.end());
    day.counts.push_back(entry->count);
    day.scores.push_back(entry->score.score);
  }
}

std::vector<ScoredDay> ReadKeptDays(WireReader& reader) {
  std::vector<ScoredDay> days;
  using Column = KeptDaySection;
  reader.EachRow(Column::kColumns, [&](const Row& row) {
    ScoredDay day;
    day.role = Required(row[Column::kRole]);
    day.end_user = Owned(row[Column::kEndUser]);
    day.day = Required(row[Column::kDay]);
    for (std::size_t figure = 0; figure < kFigures; ++figure)
      day.figures.push_back(Owned(row[Column::kQueries + figure]));
    day.ids = ParseIntegers(Required(row[Column::kIds]));
    day.counts = ParseIntegers(Required(row[Column::kCounts]));
    day.scores = ParseScores(Required(row[Column::kScores]));
    const bool whole = day.counts.empty() ? day.ids.empty() : day.ids.size() % day.counts.size() == 0;
    if (!whole || day.scores.size() != day.counts.size()) throw DamagedData("n-grams of a day that do not match");
    days.push_back(std::move(day));
  });
  return days;
}

ResultTable KeptRows(const std::vector<ScoredDay>& days) {
  ResultTable table;
  for (const ScoredDay& day : days) {
    std::vector<std::optional<std::string>> row{day.role, day.end_user, day.day};
    row.insert(row.end(), day.figures.begin(), day.figures.end());
    row.emplace_back(ArrayText(day.ids));
    row.emplace_back(ArrayText(day.counts));
    row.emplace_back(ArrayText(day.scores));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ResultTable WithCumulative(std::vector<ScoredDay> days, ScoreSettings::Counting counting) {
  std::sort(days.begin(), days.end(), [](const ScoredDay& a, const ScoredDay& b) {
    return std::tie(a.role, a.end_user, a.day) < std::tie(b.role, b.end_user, b.day);
  });
  ResultTable table;
  Cumulative cumulative(counting);
  const ScoredDay* last = nullptr;
  for (const ScoredDay& day : days) {
    if (last == nullptr || std::tie(last->role, last->end_user) != std::tie(day.role, day.end_user))
      cumulative = Cumulative(counting);
    last = &day;
    cumulative.Add(day);
    const auto of = [&](KeptFigure figure) { return day.figures[static_cast<std::size_t>(figure)]; };
    table.rows.push_back({day.role, day.day, of(KeptFigure::kQueries), of(KeptFigure::kNgrams),
                          of(KeptFigure::kMismatched), of(KeptFigure::kScore), of(KeptFigure::kMaxScore),
                          of(KeptFigure::kTightMax), of(KeptFigure::kNormalised), TextOf(cumulative.value()),
                          of(KeptFigure::kStatementScore), of(KeptFigure::kRows), of(KeptFigure::kEnforced),
                          day.end_user, of(KeptFigure::kPeerScore)});
  }
  return table;
}

}  // namespace privacy_score
