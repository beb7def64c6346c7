/*
 * query_marks.cpp - what the abstraction of a Query wants to know of operators and functions besides their arguments.
 *
 * The text front end sees names only, so names decide here, too (abstraction.hpp: PacksValues). What a constant is
 * decides two marks: the unit of date_trunc(), and whether a range leaves one value. A query whose ranges may do that
 * gets no key (query_key.cpp), so that no other constants are taken for these.
 */
#include "backend/query/constants.hpp"
#include "backend/query/query_build.hpp"
#include "backend/server/one_of.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
}

#include "core/statement/abstraction.hpp"

namespace privacy_score {

namespace ps = privacy_score;

namespace {

bool IsTimeCall(Oid function) {
  switch (function) {
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
    case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
    case F_DATE_TRUNC_TEXT_TIMESTAMP:
    case F_DATE_TRUNC_TEXT_INTERVAL:
    case F_DATE_PART_TEXT_TIMESTAMPTZ:
    case F_DATE_PART_TEXT_TIMESTAMP:
    case F_DATE_PART_TEXT_DATE:
    case F_DATE_PART_TEXT_INTERVAL:
    case F_EXTRACT_TEXT_TIMESTAMPTZ:
    case F_EXTRACT_TEXT_TIMESTAMP:
    case F_EXTRACT_TEXT_DATE:
    case F_EXTRACT_TEXT_INTERVAL:
      return true;
    default:
      return false;
  }
}

// Below any casts.
Oid InnerTypeOf(Node* node) { return exprType(WithoutCasts(node)); }

// Whether an operand reads a row of its own query level, be it in a subquery.
bool ReadsRow(Node* node) { return contain_vars_of_level(node, 0); }

// Of a time, in days if it is compared with a date, else in microseconds.
bool NumberOfConstant(const Const* constant, Oid row_type, double* number) {
  const double day = row_type == DATEOID ? 1 : static_cast<double>(USECS_PER_DAY);
  switch (constant->consttype) {
    case DATEOID:
      *number = day * DatumGetDateADT(constant->constvalue);
      return true;
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
      *number =
          day * (static_cast<double>(DatumGetTimestamp(constant->constvalue)) / static_cast<double>(USECS_PER_DAY));
      return true;
    case INT2OID:
      *number = DatumGetInt16(constant->constvalue);
      return true;
    case INT4OID:
      *number = DatumGetInt32(constant->constvalue);
      return true;
    case INT8OID:
      *number = static_cast<double>(DatumGetInt64(constant->constvalue));
      return true;
    case NUMERICOID:
      *number = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, constant->constvalue));
      return true;
    case FLOAT4OID:
      *number = DatumGetFloat4(constant->constvalue);
      return true;
    case FLOAT8OID:
      *number = DatumGetFloat8(constant->constvalue);
      return true;
    default:
      return false;
  }
}

// A comparison by order with something that no row of the level has a part in, turned so that the row is on its left.
struct Bounding {
  Node* row;
  Node* end;
  bool lower;
  bool strict;
};

bool ReadBounding(OpExpr* op, Bounding* bounding) {
  if (list_length(op->args) != 2) return false;
  const char* name = get_opname(op->opno);
  if (name == nullptr || !IsOneOf(name, {"<", "<=", ">", ">="})) return false;
  auto* left = static_cast<Node*>(linitial(op->args));
  auto* right = static_cast<Node*>(lsecond(op->args));
  const bool turned = !ReadsRow(left);
  *bounding = {turned ? right : left, turned ? left : right, (name[0] == '>') != turned, name[1] == '\0'};
  return true;
}

ps::Limit LimitOf(const Bounding& bounding) {
  ps::Limit limit;
  limit.lower = bounding.lower;
  limit.strict = bounding.strict;
  Node* end = WithoutCasts(bounding.end);
  if (IsA(end, Param) && reinterpret_cast<Param*>(end)->paramkind == PARAM_EXTERN) {
    limit.kind = ps::Limit::kParameter;
    limit.parameter = reinterpret_cast<Param*>(end)->paramid;
  } else if (IsA(end, Const) && !reinterpret_cast<Const*>(end)->constisnull) {
    const auto* constant = reinterpret_cast<Const*>(end);
    const bool is_number = NumberOfConstant(constant, InnerTypeOf(bounding.row), &limit.number);
    limit.kind = is_number ? ps::Limit::kNumber : ps::Limit::kText;
    if (!is_number) limit.hash = HashOfConstant(constant, 0);
  }
  return limit;
}

ps::Pins PinsOfOperator(const char* name) {
  return IsOneOf(name, {"<>", "<@", "@>", "&&"}) ? ps::Pins::kKey : ps::Pins::kNothing;
}

// Whether a pattern is a literal, and which.
ps::Pattern PatternOf(Node* node, const char** literal) {
  node = WithoutCasts(node);
  if (!IsA(node, Const) || reinterpret_cast<Const*>(node)->constisnull) return ps::Pattern::kUnknown;
  if (reinterpret_cast<Const*>(node)->consttype != TEXTOID) return ps::Pattern::kUnknown;
  *literal = text_to_cstring(DatumGetTextPP(reinterpret_cast<Const*>(node)->constvalue));
  return ps::Pattern::kLiteral;
}

ps::Pins PinsOfPatternOperator(const OpExpr* op, const char* name) {
  const char* literal = "";
  const ps::Pattern pattern = PatternOf(static_cast<Node*>(lsecond(op->args)), &literal);
  auto* operand = static_cast<Node*>(linitial(op->args));
  if (IsA(operand, RelabelType)) operand = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(operand)->arg);
  return ps::PinsOfPattern(name, IsA(operand, Var), pattern, literal);
}

void MarkOperator(QueryScope* scope, ps::Expr* expr, OpExpr* op) {
  const char* name = get_opname(op->opno);
  if (name == nullptr) return;
  expr->packs = ps::PacksValues(name);
  Bounding bounding;
  if (ReadBounding(op, &bounding)) {
    auto* limit = static_cast<ps::Limit*>(scope->arena->Allocate(sizeof(ps::Limit)));
    *limit = LimitOf(bounding);
    expr->limit = limit;
  } else if (list_length(op->args) == 2 &&
             ReadsRow(static_cast<Node*>(linitial(op->args))) != ReadsRow(static_cast<Node*>(lsecond(op->args)))) {
    expr->pins = PinsOfOperator(name);
    if (expr->pins == ps::Pins::kNothing) expr->pins = PinsOfPatternOperator(op, name);
  }
}

// IN, NOT IN, = ANY (array) and the like.
void MarkArrayComparison(ps::Expr* expr, ScalarArrayOpExpr* comparison) {
  const char* name = get_opname(comparison->opno);
  if (name == nullptr || ReadsRow(static_cast<Node*>(linitial(comparison->args))) ==
                             ReadsRow(static_cast<Node*>(lsecond(comparison->args))))
    return;
  // x < ALL (array) bounds it by one of many.
  const bool pins = IsEqualityOperator(comparison->opno) || IsOneOf(name, {"<", "<=", ">", ">="});
  expr->pins = pins ? ps::Pins::kColumn : PinsOfOperator(name);
}

}  // namespace

ps::TimePart TimePartOf(const FuncExpr* call) {
  if (!IsTimeCall(call->funcid)) {
    const bool is_date = call->funcformat == COERCE_EXPLICIT_CAST && call->funcresulttype == DATEOID;
    return is_date ? ps::TimePart::kAny : ps::TimePart::kNone;
  }
  const auto* unit = static_cast<const Const*>(linitial(call->args));
  if (!IsA(unit, Const) || unit->constisnull || unit->consttype != TEXTOID) return ps::TimePart::kNone;
  const char* name = text_to_cstring(DatumGetTextPP(unit->constvalue));
  if (ps::IsMonthsOrLonger(name)) return ps::TimePart::kMonths;
  const bool cuts = call->funcresulttype == TIMESTAMPTZOID || call->funcresulttype == TIMESTAMPOID;
  // A date has no hours.
  if (cuts && InnerTypeOf(static_cast<Node*>(lsecond(call->args))) == DATEOID && pg_strncasecmp(name, "week", 4) != 0)
    return ps::TimePart::kNone;
  return ps::IsWholeTime(name) ? ps::TimePart::kNone : ps::TimePart::kAny;
}

bool DependOnConstants(OpExpr* const* comparisons, int count) {
  constexpr int kMost = 32;
  ps::Limit lower[kMost];
  ps::Limit upper[kMost];
  int lowers = 0;
  int uppers = 0;
  for (int i = 0; i < count; ++i) {
    Bounding bounding;
    if (!ReadBounding(comparisons[i], &bounding)) {
      const char* name = list_length(comparisons[i]->args) == 2 ? get_opname(comparisons[i]->opno) : nullptr;
      if (name != nullptr && PinsOfPatternOperator(comparisons[i], name) == ps::Pins::kColumn) return true;
      continue;
    }
    if (lowers == kMost || uppers == kMost) return true;
    const ps::Limit limit = LimitOf(bounding);
    if (limit.kind != ps::Limit::kNumber && limit.kind != ps::Limit::kText) continue;
    if (limit.lower)
      lower[lowers++] = limit;
    else
      upper[uppers++] = limit;
  }
  for (int i = 0; i < lowers; ++i)
    for (int k = 0; k < uppers; ++k)
      if (ps::LeavesOne(lower[i], upper[k])) return true;
  return false;
}

void MarkOther(QueryScope* scope, ps::Expr* expr, Node* node) {
  switch (nodeTag(node)) {
    case T_FuncExpr: {
      const auto* call = reinterpret_cast<FuncExpr*>(node);
      expr->time_part = TimePartOf(call);
      const char* name = get_func_name(call->funcid);
      expr->packs = name != nullptr && ps::PacksValues(name);
      break;
    }
    case T_OpExpr:
      MarkOperator(scope, expr, reinterpret_cast<OpExpr*>(node));
      break;
    case T_NullTest:
      expr->null_test = true;
      break;
    case T_NullIfExpr:
    case T_DistinctExpr: {
      const List* args = reinterpret_cast<OpExpr*>(node)->args;
      if (ReadsRow(static_cast<Node*>(linitial(args))) != ReadsRow(static_cast<Node*>(lsecond(args))))
        expr->pins = ps::Pins::kKey;
      break;
    }
    case T_ScalarArrayOpExpr:
      MarkArrayComparison(expr, reinterpret_cast<ScalarArrayOpExpr*>(node));
      break;
    case T_BoolExpr:
      // What is not unlike it is it.
      if (reinterpret_cast<BoolExpr*>(node)->boolop == NOT_EXPR && expr->args.first->pins == ps::Pins::kKey)
        expr->args.first->pins = ps::Pins::kColumn;
      break;
    default:
      break;
  }
}

}  // namespace privacy_score
