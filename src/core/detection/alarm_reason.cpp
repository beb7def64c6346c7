/*
 * alarm_reason.cpp - see alarm_reason.hpp.
 */
#include "core/detection/alarm_reason.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/rows.hpp"

namespace privacy_score {

namespace {

// 1234.5 as "1,234.5"; at most one digit behind the point.
std::string Readable(double value) {
  const auto tenths = static_cast<std::int64_t>(std::llround(std::min(value, 9e16) * 10));
  std::string text = TextOf(tenths / 10);
  for (std::size_t place = text.size(); place > 3;) {
    place -= 3;
    text.insert(place, ",");
  }
  if (tenths % 10 != 0) text += '.' + TextOf(tenths % 10);
  return text;
}

// Percent, rounded, of a share.
std::string Percent(double share) { return Readable(std::round(share * 100)) + " %"; }

// The rows that a volume was made of.
std::string Rows(double volume) { return Readable(std::round(100 * std::exp2(std::min(volume, 60.0)))); }

// What most sessions do not exceed: rounded up, so that it is true.
std::string AtMost(Figure figure, double value) {
  const auto up = [&](double parts) { return std::ceil(value * parts - 1e-9) / parts; };
  switch (figure) {
    case Figure::kUnknown:
      return Percent(up(100));
    case Figure::kVolume:
      return Rows(value);
    default:
      return Readable(up(10));
  }
}

std::string Counted(double value, std::string_view one, std::string_view many) {
  return Readable(value) + ' ' + std::string(value == 1 ? one : many);
}

std::string WhatWasDone(Figure figure, double value) {
  switch (figure) {
    case Figure::kTokens:
      return "ran statements that hold " + Readable(value) + " bits unknown to the role's baseline";
    case Figure::kTokensMax:
      return "ran one statement that holds " + Readable(value) + " bits unknown to the role's baseline";
    case Figure::kUnknown:
      return "ran as many new statements as are " + Percent(value) + " of a usual session";
    case Figure::kFilters:
      return "searched by conditions that hold " + Readable(value) +
             " bits unknown to the role's baseline, added up over executions";
    case Figure::kOtherRoles:
      return "ran " + Counted(value, "statement", "statements") + " of other roles' baselines, unknown to its own";
    case Figure::kNewColumns:
      return "showed " + Counted(value, "column that no session", "columns that no session") +
             " of the role's baseline shows";
    case Figure::kNewRuns:
      return "ran statements that name what the role's baseline never does " + Counted(value, "time", "times");
    case Figure::kNewRepeats:
      return "ran one statement unknown to the role's baseline " + Counted(value, "time", "times");
    case Figure::kAddressed:
      return "addressed " + Counted(value, "subject", "subjects") + " by one statement";
    case Figure::kPerson:
      return "asked for " + Counted(value, "column", "columns") + " of one subject, added up over statements";
    case Figure::kKnown:
      return "came to know " + Counted(value, "column", "columns") + " of one subject within five days";
    case Figure::kDiffer:
      return "asked " + Counted(value, "aggregate that differs", "aggregates that differ") +
             " from another by one record";
    case Figure::kRepeats:
      return "ran one statement " + Counted(value, "time", "times");
    case Figure::kVolume:
      return "read " + Rows(value) + " rows by one statement";
  }
  return {};
}

}  // namespace

std::string ReasonInWords(const Judgement& judgement, const SessionFigures& figures, const RoleCalibration& role) {
  if (!judgement.reason) return {};
  const Figure figure = *judgement.reason;
  const auto place = static_cast<std::size_t>(figure);
  return WhatWasDone(figure, figures[figure].value_or(0)) + "; 99 % of " +
         (role.is_of_all[place] ? "all roles'" : "this role's") + " sessions at most " +
         AtMost(figure, role.tails[place].seen().Exceeded(.01));
}

}  // namespace privacy_score
