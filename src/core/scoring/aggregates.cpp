/*
 * aggregates.cpp - see aggregates.hpp.
 */
#include "core/scoring/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/sort_unique.hpp"
#include "core/scoring/equivalence.hpp"

namespace privacy_score {

namespace {

constexpr double kMonths = 60;

bool IsMarked(const std::string& token, char mark) { return token.size() > 2 && token[0] == mark && token[1] == ':'; }

// Parts at commas outside of double quotes.
std::vector<std::string> SplitColumns(std::string_view list) {
  std::vector<std::string> columns;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '"') quoted = !quoted;
    if (i < list.size() && (quoted || list[i] != ',')) continue;
    if (i > begin) columns.emplace_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return columns;
}

AttributeSet AttributesOf(const Model& model, const std::vector<std::string>& names) {
  AttributeSet set;
  for (const std::string& name : names)
    if (const auto id = model.FindAttribute(name)) set.push_back(*id);
  SortUnique(set);
  return set;
}

// Whether something holds, as far as is known.
struct Verdict {
  bool certain = false;
  bool possible = false;
};

class Judge {
 public:
  Judge(const Model& model, RateBook& rates, int aggregate_least)
      : model_(model), rates_(rates), least_(std::log2(std::max(aggregate_least, 1)) - kRateTolerance) {}

  // Whether cells that these columns name have few subjects of a group.
  Verdict HasFew(const AttributeSet& cells, const AttributeSet& months, std::int64_t group) {
    const AttributeSet named = InGroup(cells, group);
    const AttributeSet cut = InGroup(months, group);
    if (named.empty() && cut.empty()) return {};
    if (NamesSubject(model_, named, group)) return {true, true};
    RateBounds subjects = SubjectsLog(UnionOf(named, cut));
    if (!cut.empty()) {
      const RateBounds rest = named.empty() ? WithoutRate(cut) : SubjectsLog(named);
      const double share = MonthsLog() * static_cast<double>(cut.size());
      subjects = {std::max(subjects.lower, rest.lower - share), std::max(subjects.upper, rest.upper - share)};
    }
    return {subjects.upper < least_ || subjects.upper <= kRateTolerance,
            subjects.lower < least_ || subjects.lower <= 0};
  }

  // Whether one relation of the group has all columns of its subject among these.
  static bool NamesSubject(const Model& model, const AttributeSet& named, std::int64_t group) {
    const std::vector<Attribute>& all = model.attributes();
    for (std::size_t i = 0; i < named.size();) {
      // The attributes of a relation stand side by side.
      const std::uint32_t relation = all[named[i]].relation;
      AttributeId first = named[i];
      while (first > 0 && all[first - 1].relation == relation) --first;
      bool is_declared = false;
      bool is_named = model.relations()[relation].subject_group == group;
      for (AttributeId id = first; id < all.size() && all[id].relation == relation; ++id) {
        if (all[id].subject_position < 0) continue;
        is_declared = true;
        is_named = is_named && std::binary_search(named.begin(), named.end(), id);
      }
      if (is_declared && is_named) return true;
      while (i < named.size() && all[named[i]].relation == relation) ++i;
    }
    return false;
  }

 private:
  AttributeSet InGroup(const AttributeSet& set, std::int64_t group) const {
    AttributeSet of_group;
    for (const AttributeId id : set)
      if (model_.relations()[model_.attributes()[id].relation].subject_group == group) of_group.push_back(id);
    return of_group;
  }

  // H(X) of the relations of a set, the least; none when it is not known.
  std::optional<double> EntropyOf(const AttributeSet& set) const {
    std::optional<double> least;
    for (const AttributeId id : set) {
      const auto entropy = model_.SubjectEntropyOf(model_.attributes()[id].relation);
      if (entropy && (!least || *entropy < *least)) least = entropy;
    }
    return least;
  }

  // lg of the subjects of a cell. What columns of several relations tell of the subject adds up at most: a row of one
  // knows no more of the other's rows than whose they are.
  RateBounds SubjectsLog(const AttributeSet& set) {
    RateBounds told;
    for (const AttributeSet& part : rates_.ByRelation(set)) {
      const RatedSet rated = rates_.Rate(part);
      rates_.Want(rated);
      told = {std::min(1.0, told.lower + rated.combined.lower), std::min(1.0, told.upper + rated.combined.upper)};
    }
    const std::optional<double> entropy = EntropyOf(set);
    if (!entropy) return {0, std::numeric_limits<double>::infinity()};
    return {*entropy * (1 - told.upper), *entropy * (1 - told.lower)};
  }

  // The same of a single cell, of all rows.
  RateBounds WithoutRate(const AttributeSet& set) const {
    const std::optional<double> entropy = EntropyOf(set);
    if (!entropy) return {0, std::numeric_limits<double>::infinity()};
    return {*entropy, *entropy};
  }

  const Model& model_;
  RateBook& rates_;
  double least_;  // lg of the fewest subjects that hide
};

}  // namespace

double MonthsLog() {
  static const double log = std::log2(kMonths);
  return log;
}

AggregateTokens ReadAggregates(const Tokens& tokens) {
  AggregateTokens read;
  const auto is_function = [](const std::string& token) { return IsMarked(token, 'f'); };
  if (std::none_of(tokens.begin(), tokens.end(), is_function)) return read;
  std::vector<std::string> nested;
  for (const std::string& token : tokens) {
    if (IsMarked(token, 'e') || IsMarked(token, 'g')) {
      read.cells.push_back(token.substr(2));
    } else if (IsMarked(token, 'm')) {
      read.months.push_back(token.substr(2));
    } else if (IsMarked(token, 'n')) {
      nested.push_back(token.substr(2));
    } else if (IsMarked(token, 'f')) {
      const std::size_t bracket = token.find('(');
      if (bracket == std::string::npos) continue;
      const std::string_view name = std::string_view(token).substr(2, bracket - 2);
      if (!HidesColumns(name)) continue;
      AggregateTokens::Aggregate aggregate;
      aggregate.columns = SplitColumns(std::string_view(token).substr(bracket + 1, token.size() - bracket - 2));
      if (aggregate.columns.empty() || aggregate.columns.front() == "*") continue;
      aggregate.packs = !OnlyCounts(name) && aggregate.columns.size() > 1;
      read.aggregates.push_back(std::move(aggregate));
    }
  }
  SortUnique(read.cells);
  SortUnique(read.months);
  SortUnique(nested);
  // What an e: names is a cell, whatever it is grouped by beside that.
  const auto is_named = [&](const std::string& name) {
    return std::binary_search(tokens.begin(), tokens.end(), "e:" + name);
  };
  const auto drop = [&](const std::vector<std::string>& names) {
    read.cells.erase(std::remove_if(read.cells.begin(), read.cells.end(),
                                    [&](const std::string& name) {
                                      return std::binary_search(names.begin(), names.end(), name) && !is_named(name);
                                    }),
                     read.cells.end());
  };
  read.months.erase(std::remove_if(read.months.begin(), read.months.end(), is_named), read.months.end());
  drop(read.months);
  drop(nested);
  return read;
}

Revelation Reveal(const Model& model, RateBook& rates, const Tokens& tokens, const ScoreSettings& settings) {
  Revelation revelation;
  revelation.least = model.Revealed(tokens, settings.where_counts);
  revelation.most = revelation.least;
  if (settings.aggregate_least <= 0) return revelation;
  const AggregateTokens read = ReadAggregates(tokens);
  if (read.aggregates.empty()) return revelation;
  Judge judge(model, rates, settings.aggregate_least);
  const AttributeSet cells = AttributesOf(model, read.cells);
  const AttributeSet months = AttributesOf(model, read.months);
  for (const AggregateTokens::Aggregate& aggregate : read.aggregates) {
    const AttributeSet columns = AttributesOf(model, aggregate.columns);
    for (const AttributeId column : columns) {
      const std::int64_t group = model.relations()[model.attributes()[column].relation].subject_group;
      Verdict verdict = judge.HasFew(cells, months, group);
      for (const AttributeId other : columns) {
        if (!aggregate.packs || !model.attributes()[other].identifier) continue;
        const Verdict packed = judge.HasFew({other}, {}, group);
        verdict = {verdict.certain || packed.certain, verdict.possible || packed.possible};
      }
      if (verdict.certain) revelation.least.push_back(column);
      if (verdict.certain || verdict.possible) revelation.most.push_back(column);
    }
  }
  SortUnique(revelation.least);
  SortUnique(revelation.most);
  return revelation;
}

AttributeSet OfOneSubject(const Model& model, const Tokens& tokens) {
  const AggregateTokens read = ReadAggregates(tokens);
  AttributeSet set;
  if (read.aggregates.empty() || read.cells.empty()) return set;
  const AttributeSet cells = AttributesOf(model, read.cells);
  for (const AggregateTokens::Aggregate& aggregate : read.aggregates)
    for (const AttributeId column : AttributesOf(model, aggregate.columns))
      if (Judge::NamesSubject(model, cells, model.relations()[model.attributes()[column].relation].subject_group))
        set.push_back(column);
  SortUnique(set);
  return set;
}

std::vector<MissingRate> MissingOfStatements(const Model& model, const ScoreSettings& settings) {
  RateBook book(model);
  model.ForEachTokens([&](AbstractionId, const Tokens& tokens) {
    const AttributeSet revealed = Reveal(model, book, tokens, settings).most;
    AttributeSet scored;
    for (const AttributeId attribute : revealed) {
      if (!model.attributes()[attribute].identifier) scored.push_back(attribute);
    }
    book.Want(revealed);
    book.Want(scored);
  });
  return book.TakeMissing();
}

Tokens WithoutCells(const Tokens& tokens) {
  Tokens rest;
  for (const std::string& token : tokens)
    if (!IsMarked(token, 'e') && !IsMarked(token, 'm') && !IsMarked(token, 'n')) rest.push_back(token);
  return rest;
}

}  // namespace privacy_score
