/*
 * record_sets_fuzz.cpp - sets of records as the jsonb arguments of query_bounds() and further_queries() hold them.
 *
 * Values that nobody tells give the answers, so that what is said of the records can be compared with the truth.
 */
#include "../unit/solver_fixture.hpp"
#include "core/base/error.hpp"
#include "core/inference/further_queries.hpp"
#include "core/inference/record_bounds.hpp"
#include "targets.hpp"

namespace privacy_score::fuzz {

namespace {

constexpr int kMostRecords = 7;
constexpr int kMostQueries = 7;

// Sets that need not be good ones.
RecordSets ReadSets(Numbers* numbers, int records) {
  RecordSets sets;
  for (int left = numbers->Below(kMostQueries + 1); left > 0; --left) {
    const int mask = numbers->Byte();
    for (int record = 1; record <= records; ++record)
      if ((mask >> (record - 1) & 1) != 0) sets.records.push_back(record);
    // Now and then one that is not there, or stands twice.
    if (mask == 255) sets.records.push_back(static_cast<std::int8_t>(numbers->Byte()));
    sets.starts.push_back(static_cast<std::int64_t>(sets.records.size()));
  }
  return sets;
}

bool IsGood(const RecordSets& sets, int records) {
  bool good = true;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    std::vector<bool> seen(static_cast<std::size_t>(records) + 1);
    good = good && sets.starts[set] < sets.starts[set + 1];
    for (auto at = sets.starts[set]; good && at < sets.starts[set + 1]; ++at) {
      const int record = sets.records[static_cast<std::size_t>(at)];
      good = record >= 1 && record <= records && !seen[static_cast<std::size_t>(record)];
      if (good) seen[static_cast<std::size_t>(record)] = true;
    }
  }
  try {
    CheckRecordSets("sets", sets, records);
    Require(good, "bad sets are refused");
  } catch (const Error& error) {
    Require(error.sqlstate() == "22023" && !good, "only bad sets are refused");
  }
  return good;
}

void CheckBounds(const RecordSets& queries, const std::vector<int>& values, bool has_low, bool has_high) {
  std::vector<Decimal> answers;
  for (std::size_t query = 0; query < queries.size(); ++query) {
    Int128 sum = 0;
    for (auto at = queries.starts[query]; at < queries.starts[query + 1]; ++at)
      sum += values[static_cast<std::size_t>(queries.records[static_cast<std::size_t>(at)]) - 1];
    answers.push_back({sum, 1});
  }
  const std::optional<Decimal> low = has_low ? std::optional(Decimal{0, 0}) : std::nullopt;
  const std::optional<Decimal> high = has_high ? std::optional(Decimal{255, 1}) : std::nullopt;
  const auto records = static_cast<int>(values.size());
  RecordBounds bounds(*ps_linear_solver(), SumsOf(queries, answers, low, high, records));
  Require(bounds.Run({}), "nobody interrupts");
  const Rational unit(1, PowerOfTen(1 - bounds.sums().decimals));  // of the values, in steps
  for (int record = 1; record <= records; ++record) {
    const Rational value = Rational(values[static_cast<std::size_t>(record) - 1]) * unit;
    const RecordBound bound = bounds.Of(record);
    Require(!bound.lower || *bound.lower <= value, "a record is not below its bound");
    Require(!bound.upper || *bound.upper >= value, "nor above");
    Require(bound.lower.has_value() || !has_low, "a limit is a bound");
    Require(bound.upper.has_value() || !has_high, "on both sides");
    if (bounds.Determined(record))
      Require(bound.lower == bound.upper && bound.lower == value, "what is determined is the truth");
  }
}

// Whether the answers alone determine some record.
bool GivesAway(const RecordSets& queries, int records) {
  RecordBounds bounds(*ps_linear_solver(),
                      SumsOf(queries, std::vector<Decimal>(queries.size()), std::nullopt, std::nullopt, records));
  bounds.Run({});
  for (int record = 1; record <= records; ++record)
    if (bounds.Determined(record)) return true;
  return false;
}

RecordSets Together(const RecordSets& answered, const RecordSets& allowed, const std::vector<std::size_t>& chosen) {
  RecordSets sets = answered;
  for (const std::size_t query : chosen) {
    const auto begin = allowed.records.begin();
    sets.records.insert(sets.records.end(), begin + allowed.starts[query], begin + allowed.starts[query + 1]);
    sets.starts.push_back(static_cast<std::int64_t>(sets.records.size()));
  }
  return sets;
}

void CheckFurther(const RecordSets& answered, const RecordSets& allowed, int records) {
  FurtherQueries search(answered, allowed, records);
  Require(search.Run({}), "nobody interrupts");
  const std::vector<std::size_t>& found = search.queries();
  // Every choice, by its bits.
  std::optional<std::size_t> fewest;
  for (unsigned bits = 0; bits < 1U << allowed.size(); ++bits) {
    std::vector<std::size_t> chosen;
    for (std::size_t query = 0; query < allowed.size(); ++query)
      if ((bits >> query & 1U) != 0) chosen.push_back(query);
    if (fewest && chosen.size() >= *fewest) continue;
    if (GivesAway(Together(answered, allowed, chosen), records)) fewest = chosen.size();
  }
  Require((search.record() > 0) == fewest.has_value(), "a record is given away when some choice does it");
  if (!fewest) return;
  Require(found.size() == *fewest, "by the fewest queries");
  Require(GivesAway(Together(answered, allowed, found), records), "by those that are named");
}

}  // namespace

void FuzzRecordSets(std::string_view input) {
  Numbers numbers(input);
  const int records = numbers.Below(kMostRecords + 1);
  const bool has_low = numbers.Flag();
  const bool has_high = numbers.Flag();
  std::vector<int> values;
  for (int i = 0; i < records; ++i) values.push_back(numbers.Byte());
  const RecordSets queries = ReadSets(&numbers, records);
  if (!IsGood(queries, records)) return;
  CheckBounds(queries, values, has_low, has_high);
  const RecordSets allowed = ReadSets(&numbers, records);
  if (!IsGood(allowed, records)) return;
  if (allowed.size() <= 5) CheckFurther(queries, allowed, records);
}

}  // namespace privacy_score::fuzz
