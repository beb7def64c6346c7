/*
 * score.cpp - what scoring an n-gram costs that the baseline does not have.
 *
 * Baselines of 10,000 n-grams over so many distinct statements on four relations of 24 columns each. Three cases: known
 * statements in a new order; a statement that reveals a set of columns not met before, with exact rates for all that is
 * asked; the same with bounds, as before the worker has computed anything but what the baseline needed. Prints a table
 * in Markdown: microseconds an n-gram, median and 99th percentile, from LiveScorer as the backend uses it. Takes the
 * numbers of distinct statements as arguments.
 */
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/base/rows.hpp"
#include "core/scoring/live_scorer.hpp"
#include "core/scoring/model_sections.hpp"

namespace {

using namespace privacy_score;

constexpr std::size_t kRelations = 4;
constexpr std::size_t kColumns = 24;
constexpr std::size_t kNGrams = 10000;
constexpr std::size_t kNew = 400;  // n-grams that are measured

using Row = std::vector<std::optional<std::string>>;
using ColumnSet = std::set<std::size_t>;  // relation * kColumns + column

std::string RelationName(std::size_t relation) { return "public.r" + std::to_string(relation); }
std::string ColumnName(std::size_t column) {
  const std::string number = std::to_string(100 + column % kColumns);
  return RelationName(column / kColumns) + ".c" + number;
}

// The rate of a set of columns of one relation: grows with the set, as rates do.
double RateOf(const ColumnSet& set) {
  double rest = 1;
  for (const std::size_t column : set) rest *= 1 - .02 - .3 * static_cast<double>(column * 7919 % 97) / 97;
  return 1 - rest;
}

// What a statement reveals: one to six columns of one relation, sometimes with a few of another.
ColumnSet RandomSet(std::mt19937& random) {
  ColumnSet set;
  const std::size_t relation = random() % kRelations;
  for (std::size_t i = 1 + random() % 6; i > 0; --i) set.insert(relation * kColumns + random() % kColumns);
  if (random() % 4 == 0) {
    const std::size_t other = random() % kRelations;
    for (std::size_t i = 1 + random() % 3; i > 0; --i) set.insert(other * kColumns + random() % kColumns);
  }
  return set;
}

Tokens TokensOf(const ColumnSet& set) {
  Tokens tokens = {"cmd:select"};
  for (const std::size_t column : set) tokens.push_back("p:" + ColumnName(column));
  for (std::size_t relation = 0; relation < kRelations; ++relation)
    if (std::any_of(set.begin(), set.end(), [&](std::size_t column) { return column / kColumns == relation; }))
      tokens.push_back("t:" + RelationName(relation));
  return tokens;
}

class Rates {
 public:
  void Add(const ColumnSet& set) {
    for (std::size_t relation = 0; relation < kRelations; ++relation) {
      const ColumnSet part(set.lower_bound(relation * kColumns), set.lower_bound((relation + 1) * kColumns));
      if (!part.empty()) sets_.insert(part);
    }
  }
  void AddUnion(const ColumnSet& a, const ColumnSet& b) {
    ColumnSet both = a;
    both.insert(b.begin(), b.end());
    Add(both);
  }
  std::vector<Row> Rows() const {
    std::vector<Row> rows;
    for (const ColumnSet& set : sets_) {
      std::string names;
      for (const std::size_t column : set) names += (names.empty() ? "" : std::string(1, kAttributeSeparator)) + ColumnName(column);
      rows.push_back({RelationName(*set.begin() / kColumns), names, TextOf(RateOf(set)), std::nullopt, std::nullopt, std::nullopt});
    }
    return rows;
  }

 private:
  std::set<ColumnSet> sets_;
};

std::string Wire(const std::vector<ColumnSet>& known, const std::vector<AbstractionId>& history, const Rates& rates) {
  std::vector<Row> relations, attributes, abstractions;
  for (std::size_t relation = 0; relation < kRelations; ++relation) {
    relations.push_back({RelationName(relation), "1", "t", std::nullopt});
    for (std::size_t column = 0; column < kColumns; ++column)
      attributes.push_back({ColumnName(relation * kColumns + column), RelationName(relation), std::nullopt, "f", std::nullopt});
  }
  for (std::size_t i = 0; i < known.size(); ++i)
    for (const std::string& token : TokensOf(known[i])) abstractions.push_back({TextOf(static_cast<std::int64_t>(i + 1)), token});
  Sequence sequence;
  for (const AbstractionId id : history) AppendRun(sequence, id);
  const BaselineRows baseline = BaselineOf({sequence});
  std::vector<Row> ngrams, session_sets;
  for (const auto& row : baseline.ngrams.rows) ngrams.push_back({"1", row[0], row[1]});
  for (const auto& row : baseline.session_sets.rows) session_sets.push_back({"1", row[0], row[1]});
  WireWriter writer;
  writer.Section(RelationSection::kColumns, relations);
  writer.Section(AttributeSection::kColumns, attributes);
  writer.Section(DependencySection::kColumns, std::vector<Row>());
  writer.Section(TokenSection::kColumns, abstractions);
  writer.Section(BaselineSection::kColumns,
                 std::vector<Row>{{"1", "analyst", "30", "1", "1", "1", "t", "1", "1", "1", std::nullopt}});
  WireWriter counted;
  counted.Section(BaselineNGramSection::kColumns, ngrams);
  writer.Append(PackNGrams(counted.bytes()));
  writer.Section(BaselineSessionSection::kColumns, session_sets);
  writer.Section(LimitSection::kColumns, std::vector<Row>());
  writer.Section(AcceptedSection::kColumns, std::vector<Row>());
  writer.Section(RateSection::kColumns, rates.Rows());
  return writer.bytes();
}

// CPU time of this process: a busy machine does not count.
double CpuMicroseconds() {
  timespec at{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return static_cast<double>(at.tv_sec) * 1e6 + static_cast<double>(at.tv_nsec) / 1e3;
}

struct Measured {
  double median;
  double high;  // 99th percentile
};

// Observes statements in pairs, of which only the second makes an n-gram that counts.
Measured Measure(const std::string& wire, const std::vector<ColumnSet>& fresh, const std::vector<AbstractionId>& ids) {
  LiveScorer scorer("analyst", ScoreSettings());
  scorer.Load(wire);
  for (std::size_t i = 0; i < fresh.size(); ++i) scorer.Define(static_cast<AbstractionId>(1000000 + i), TokensOf(fresh[i]));
  scorer.Observe(1);  // what is made with the first score is not the n-gram's
  scorer.Observe(2);
  scorer.TakeMissing();
  std::vector<double> times;
  for (const AbstractionId id : ids) {
    const double before = CpuMicroseconds();
    scorer.Observe(id);
    times.push_back(CpuMicroseconds() - before);
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

void Print(std::size_t statements, const char* what, const Measured& measured) {
  std::printf("| %zu | %s | %.1f | %.1f |\n", statements, what, measured.median, measured.high);
}

void RunCase(std::size_t statements) {
  std::mt19937 random(5);
  std::vector<ColumnSet> known, fresh;
  std::set<ColumnSet> distinct;
  while (known.size() < statements) {
    const ColumnSet set = RandomSet(random);
    if (distinct.insert(set).second) known.push_back(set);
  }
  while (fresh.size() < kNew) {
    const ColumnSet set = RandomSet(random);
    if (distinct.insert(set).second) fresh.push_back(set);
  }
  // A long session in which each pair of neighbours is new until there are enough.
  std::set<std::pair<AbstractionId, AbstractionId>> pairs;
  std::vector<AbstractionId> history = {1, 2};
  const auto any = [&] { return static_cast<AbstractionId>(random() % statements + 1); };
  while (pairs.size() < kNGrams && history.size() < 50 * kNGrams) {
    const AbstractionId id = any();
    if (pairs.emplace(history.back(), id).second) history.push_back(id);
    if (pairs.size() >= statements * statements * 9 / 10) break;
  }
  Rates bounded;
  for (const ColumnSet& set : known) bounded.Add(set);
  for (std::size_t column = 0; column < kRelations * kColumns; ++column) bounded.Add({column});
  Rates exact = bounded;
  for (const ColumnSet& set : fresh) {
    exact.Add(set);
    for (const ColumnSet& other : known) exact.AddUnion(set, other);
  }
  std::vector<AbstractionId> reordered;
  while (reordered.size() < kNew) {
    const AbstractionId last = reordered.empty() ? 2 : reordered.back();
    const AbstractionId id = any();
    if (pairs.emplace(last, id).second) reordered.push_back(id);
  }
  std::vector<AbstractionId> unmet;
  for (std::size_t i = 0; i < fresh.size(); ++i) unmet.push_back(static_cast<AbstractionId>(1000000 + i));
  Print(statements, "known statements, new order", Measure(Wire(known, history, bounded), fresh, reordered));
  Print(statements, "a new statement, exact rates", Measure(Wire(known, history, exact), fresh, unmet));
  Print(statements, "a new statement, bounds", Measure(Wire(known, history, bounded), fresh, unmet));
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("| distinct statements of the baseline | n-gram | median | 99 %% |\n|---|---|---|---|\n");
  for (int i = 1; i < argc; ++i) RunCase(std::strtoul(argv[i], nullptr, 10));
}
