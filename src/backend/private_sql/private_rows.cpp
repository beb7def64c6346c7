/*
 * private_rows.cpp - see private_rows.hpp.
 */
#include "backend/private_sql/private_rows.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
}

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>

#include "backend/catalog/function_arguments.hpp"
#include "backend/private_sql/private_norms.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/strong_random.hpp"
#include "core/noise/discrete_laplace.hpp"
#include "core/private_sql/answer_intervals.hpp"
#include "core/private_sql/level_answer.hpp"

namespace privacy_score {

namespace {

PlannedAggregate PlannedOf(const PrivateMeasure* measure) {
  PlannedAggregate planned;
  planned.column = measure->value == 0 ? 0 : static_cast<std::size_t>(measure->value - 1);
  const bool has_value = measure->value != 0;
  switch (measure->aggregate) {
    case PrivateAggregate::kCountRows:
      planned.kind = has_value ? AggregateKind::kCountValues : AggregateKind::kCountRows;
      break;
    case PrivateAggregate::kCountPersons:
      planned.kind = has_value ? AggregateKind::kCountHolders : AggregateKind::kCountPersons;
      break;
    case PrivateAggregate::kSum:
      planned.kind = AggregateKind::kSum;
      break;
    case PrivateAggregate::kAverage:
      planned.kind = AggregateKind::kAverage;
      break;
  }
  return planned;
}

// For core: throws.
LevelQuestion QuestionOf(const PrivateLevel* level, const Question* question, const PersonRows* rows,
                         const char* references, const std::uint64_t* seeds) {
  LevelQuestion asked = PlannedQuestion(level, question->epsilon, question->delta != nullptr);
  if (question->delta != nullptr) asked.delta = ParseRational("delta", question->delta);
  if (references != nullptr) asked.references = ReferencesOfText(references);
  for (const std::string& image : rows->images)
    asked.group_hashes.push_back(hash_bytes_extended(reinterpret_cast<const unsigned char*>(image.data()),
                                                     static_cast<int>(image.size()), seeds[0]));
  asked.hash_key = {seeds[1], seeds[2]};
  return asked;
}

Int128 UnitsOf(const MeasuredTotals& measured, std::size_t group) {
  return WholeUnits(measured.totals[group], measured.grid.exponent);
}

std::int64_t HeldIn64(Int128 units) {
  return static_cast<std::int64_t>(std::max<Int128>(std::min<Int128>(units, INT64_MAX), INT64_MIN));
}

// A whole number of steps as the type writes it.
std::string TextOfSum(Oid type, Int128 units, int decimals) {
  switch (type) {
    case INT8OID:
      return std::to_string(HeldIn64(units));
    case FLOAT4OID:
    case FLOAT8OID: {
      char text[64];
      (void)pg_snprintf(text, sizeof text, "%.17g", DecimalValue(units, decimals));
      return text;
    }
    default:
      return DecimalText(units, decimals);
  }
}

// The numbers of a row: of an average its sum and count, for the server to divide.
struct RowNumbers {
  std::string first, second;
};

RowNumbers RowNumbersOf(const PrivateLevel* level, const LevelAnswer& answer, int measure, std::size_t group) {
  const PrivateMeasure& asked = level->measures[measure];
  const std::vector<std::size_t>& uses = answer.plan.used_by[static_cast<std::size_t>(measure)];
  const Int128 units = UnitsOf(answer.measured[uses[0]], group);
  switch (asked.aggregate) {
    case PrivateAggregate::kCountRows:
    case PrivateAggregate::kCountPersons:
      return {std::to_string(HeldIn64(units)), ""};
    case PrivateAggregate::kSum:
      return {TextOfSum(asked.type, units, GridOfValue(level, asked.value - 1).decimals), ""};
    case PrivateAggregate::kAverage:
      return {TextOfSum(NUMERICOID, units, GridOfValue(level, asked.value - 1).decimals),
              std::to_string(HeldIn64(UnitsOf(answer.measured[uses[1]], group)))};
  }
  return {};
}

// sum / count as the type writes it; null when the noisy count is below 1.
const char* TextOfAverage(Oid type, const char* sum, const char* count) {
  if (pg_strtoint64(count) < 1) return nullptr;
  Datum quotient = DirectFunctionCall2(numeric_div, NumericOf(sum), NumericOf(count));
  char* text = DatumGetCString(DirectFunctionCall1(numeric_out, quotient));
  return type == FLOAT8OID ? psprintf("%.17g", strtod(text, nullptr)) : text;
}

// What a unit of the noisy totals is worth: of sums a step of the column's grid.
double UnitOf(const PrivateLevel* level, const PrivateMeasure& measure) {
  const bool sums = measure.aggregate == PrivateAggregate::kSum || measure.aggregate == PrivateAggregate::kAverage;
  return sums ? DecimalValue(1, GridOfValue(level, measure.value - 1).decimals) : 1;
}

// For core: throws.
std::string LineOfLaw(const PrivateLevel* level, const LevelAnswer& answer, int measure) {
  const PrivateMeasure& asked = level->measures[measure];
  const MeasuredTotals& measured = answer.measured[answer.plan.used_by[static_cast<std::size_t>(measure)][0]];
  const double unit = UnitOf(level, asked);
  char text[100];
  (void)pg_snprintf(text, sizeof text, "#%.17g %.4g %.17g\n",
                    std::ldexp(static_cast<double>(measured.grid.bound), measured.grid.exponent) * unit,
                    measured.left_out,
                    asked.aggregate == PrivateAggregate::kAverage ? 0 : HalfWidthOf(measured.grid) * unit);
  return text;
}

// Answers in core, which are needed after it.
struct Measured {
  LevelAnswer answer;
  std::vector<std::size_t> order;  // of the groups that are shown
  std::string text;
  RowNumbers numbers;
  std::vector<std::optional<RatioIntervals>> intervals;  // by measure; of averages only
  std::string half_width;
};

// For core: throws.
void PrepareIntervals(const PrivateLevel* level, Measured* measured) {
  for (int m = 0; m < level->measure_count; ++m) {
    measured->text += LineOfLaw(level, measured->answer, m);
    measured->intervals.emplace_back();
    if (level->measures[m].aggregate != PrivateAggregate::kAverage) continue;
    const std::vector<std::size_t>& uses = measured->answer.plan.used_by[static_cast<std::size_t>(m)];
    measured->intervals.back().emplace(measured->answer.measured[uses[0]].grid,
                                       measured->answer.measured[uses[1]].grid);
  }
}

// How far an average may be off; empty where it is NULL. For core: throws.
std::string HalfWidthOfAverage(const PrivateLevel* level, const Measured& measured, int measure, std::size_t group) {
  const std::vector<std::size_t>& uses = measured.answer.plan.used_by[static_cast<std::size_t>(measure)];
  const std::optional<NoisyRatio> ratio = measured.intervals[static_cast<std::size_t>(measure)]->Of(
      measured.answer.measured[uses[0]].totals[group], measured.answer.measured[uses[1]].totals[group]);
  if (!ratio) return "";
  char text[40];
  (void)pg_snprintf(text, sizeof text, "%.17g", ratio->half_width * UnitOf(level, level->measures[measure]));
  return text;
}

double NumberAt(const char** text) {
  char* end;
  const double number = strtod(*text, &end);
  *text = end;
  return number;
}

[[noreturn]] void RaiseUnreadable() { elog(ERROR, "an answer of the ledger cannot be read"); }

// Reads the lines before the rows.
const char* ReadLaws(const PrivateLevel* level, const char* text, NoisyRows* rows) {
  rows->laws = static_cast<ColumnLaw*>(palloc0(sizeof(ColumnLaw) * static_cast<Size>(level->measure_count + 1)));
  for (int m = 0; m < level->measure_count; ++m) {
    if (*text++ != '#') RaiseUnreadable();
    rows->laws[m].bound = NumberAt(&text);
    rows->laws[m].left_out = NumberAt(&text);
    rows->laws[m].half_width = NumberAt(&text);
    if (*text++ != '\n') RaiseUnreadable();
  }
  return text;
}

// Reads a field into *value, palloc'd, which is null for NULL.
const char* ReadField(const char* text, const char** value) {
  *value = nullptr;
  if (*text == '-') return text + 1;
  char* end;
  const auto length = static_cast<Size>(strtoul(text, &end, 10));
  if (*end != ':' || strnlen(end + 1, length) < length) RaiseUnreadable();
  *value = pnstrdup(end + 1, length);
  return end + 1 + length;
}

// The next row.
const char* ReadRow(const PrivateLevel* level, const char* text, const NoisyRows* rows, Datum* values, bool* nulls) {
  for (int i = 0; i < rows->columns; ++i) {
    const int measure = (i - level->key_count) / 2;
    const char* field = nullptr;
    const bool is_error = i >= level->key_count && i == ColumnOfError(level, measure);
    if (is_error && level->measures[measure].aggregate != PrivateAggregate::kAverage) {
      nulls[i] = false;
      values[i] = Float8GetDatum(rows->laws[measure].half_width);
      continue;
    }
    text = ReadField(text, &field);
    nulls[i] = field == nullptr;
    values[i] = 0;
    if (field == nullptr) continue;
    if (!is_error) {
      values[i] = KeyOfText(getBaseType(TypeOfColumn(level, i)), field);
      continue;
    }
    const double half_width = strtod(field, nullptr);
    values[i] = Float8GetDatum(half_width);
    rows->laws[measure].half_width = Max(rows->laws[measure].half_width, half_width);
  }
  return text;
}

}  // namespace

void AppendRowField(std::string* row, const char* value) {
  if (value == nullptr) {
    row->push_back('-');
    return;
  }
  *row += std::to_string(std::strlen(value));
  row->push_back(':');
  *row += value;
}

LevelQuestion PlannedQuestion(const PrivateLevel* level, const char* epsilon, bool unknown_keys) {
  LevelQuestion planned;
  for (int i = 0; i < level->measure_count; ++i) planned.aggregates.push_back(PlannedOf(&level->measures[i]));
  planned.shape.unknown_keys = unknown_keys;
  planned.shape.shows_present_groups = level->key_count > 0 && !unknown_keys && level->null_side == NIL;
  planned.shape.keys_follow_person = level->key_count == 0 || level->one_row_a_person;
  planned.shape.most_rows = level->one_row_a_person ? 1 : level->most_rows;
  planned.shape.rows_are_proven = level->one_row_a_person;
  planned.epsilon = ParseEpsilon(epsilon);
  return planned;
}

const char* MeasuredText(const PrivateLevel* level, const Question* question, PersonRows* rows,
                         const char* references) {
  auto* measured = NewCoreObject<Measured>();
  std::uint64_t seeds[3];
  if (!pg_strong_random(seeds, sizeof seeds)) elog(ERROR, "could not generate random values");
  CallCoreOrRaise([&] {
    const LevelQuestion asked = QuestionOf(level, question, rows, references, seeds);
    measured->answer = AnswerLevel(rows->records, asked, StrongRandom());
    for (std::size_t group = 0; group < rows->keys.size(); ++group)
      if (measured->answer.shown[group]) measured->order.push_back(group);
    // In an order that tells nothing of when rows came.
    std::sort(measured->order.begin(), measured->order.end(),
              [&](std::size_t a, std::size_t b) { return rows->keys[a] < rows->keys[b]; });
  });
  CHECK_FOR_INTERRUPTS();
  CallCoreOrRaise([&] { PrepareIntervals(level, measured); });
  for (std::size_t i = 0; i < measured->order.size(); ++i) {
    const std::size_t group = measured->order[i];
    CallCoreOrRaise([&] { measured->text += rows->keys[group]; });
    for (int m = 0; m < level->measure_count; ++m) {
      const PrivateMeasure* measure = &level->measures[m];
      CallCoreOrRaise([&] { measured->numbers = RowNumbersOf(level, measured->answer, m, group); });
      const char* value = measured->numbers.first.c_str();
      if (measure->aggregate == PrivateAggregate::kAverage)
        value = TextOfAverage(measure->type, value, measured->numbers.second.c_str());
      CallCoreOrRaise([&] {
        AppendRowField(&measured->text, value);
        if (measure->aggregate != PrivateAggregate::kAverage) return;
        measured->half_width = HalfWidthOfAverage(level, *measured, m, group);
        AppendRowField(&measured->text, value == nullptr ? nullptr : measured->half_width.c_str());
      });
    }
    CallCoreOrRaise([&] { measured->text.push_back('\n'); });
  }
  return pstrdup(measured->text.c_str());
}

NoisyRows* RowsOfText(const PrivateLevel* level, const char* text) {
  auto* rows = static_cast<NoisyRows*>(palloc0(sizeof(NoisyRows)));
  rows->columns = CountColumns(level);
  int room = 16;
  const auto columns = static_cast<Size>(rows->columns);
  rows->values = static_cast<Datum*>(palloc(sizeof(Datum) * columns * static_cast<Size>(room)));
  rows->nulls = static_cast<bool*>(palloc(sizeof(bool) * columns * static_cast<Size>(room)));
  text = ReadLaws(level, text, rows);
  // Blanks follow the last row. A row without columns is a line without fields.
  while (*text == '-' || (*text >= '0' && *text <= '9') || *text == '\n') {
    if (rows->count == room) {
      room *= 2;
      rows->values =
          static_cast<Datum*>(repalloc_huge(rows->values, sizeof(Datum) * columns * static_cast<Size>(room)));
      rows->nulls = static_cast<bool*>(repalloc_huge(rows->nulls, sizeof(bool) * columns * static_cast<Size>(room)));
    }
    const Size first = columns * static_cast<Size>(rows->count);
    text = ReadRow(level, text, rows, rows->values + first, rows->nulls + first);
    if (*text != '\n') RaiseUnreadable();
    ++text;
    ++rows->count;
  }
  return rows;
}

}  // namespace privacy_score
