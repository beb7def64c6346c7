/*
 * predicate.cpp - from a parse tree to a Predicate (see predicate.hpp).
 *
 * A whitelist: every node that is not known is refused. Recursion is as deep as the parse tree, which the island
 * bounds.
 */
#include "sqlparse/predicate.hpp"

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.hpp"
#include "sqlparse/own_stack.hpp"
#include "sqlparse/parse.hpp"
#include "sqlparse/tree.hpp"

namespace privacy_score {

namespace {

constexpr std::string_view kSelect = "SELECT 1 WHERE ";

[[noreturn]] void Refuse(const std::string& part) {
  throw Error("PS003", "predicate must not contain " + part,
              "Allowed are columns, constants, comparisons, IN, BETWEEN, LIKE, IS NULL, AND, OR and NOT.");
}

std::string Dotted(NodeList names) {
  std::string text;
  for (const Node* name : names) {
    if (name != names[0]) text += '.';
    text += TextOf(name);
  }
  return text;
}

// What people call an operator or test that is refused.
std::string ExpressionName(const PgQuery__AExpr& expression) {
  switch (expression.kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL:
      return "ANY or ALL";
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
      return "NULLIF";
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
      return "ILIKE";
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
      return "SIMILAR TO";
    default:
      return "an operator that is not allowed: " + Dotted({expression.name, expression.n_name});
  }
}

// What people call a node that is refused.
std::string PartName(const Node* node) {
  if (node == nullptr) return "an empty part";
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return "a function call: " + Dotted({node->func_call->funcname, node->func_call->n_funcname}) + "()";
    case PG_QUERY__NODE__NODE_SUB_LINK:
      return "a subquery";
    case PG_QUERY__NODE__NODE_TYPE_CAST:
      return "a cast of anything but a constant";
    case PG_QUERY__NODE__NODE_PARAM_REF:
      return "a parameter: $" + std::to_string(node->param_ref->number);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
      return "a function such as CURRENT_DATE or CURRENT_USER";
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      return "CASE";
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return "COALESCE";
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return "GREATEST or LEAST";
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return "COLLATE";
    case PG_QUERY__NODE__NODE_ROW_EXPR:
      return "a row";
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return "an array constructor";
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return "a subscript or a field";
    case PG_QUERY__NODE__NODE_A_CONST:
      return "a constant where a condition is expected";
    case PG_QUERY__NODE__NODE_A_EXPR:
      return ExpressionName(*node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
    case PG_QUERY__NODE__NODE_NULL_TEST:
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
      return "a condition where a column or constant is expected";
    default:
      return "such an expression";
  }
}

// A column or a constant.
struct Operand {
  bool is_column;
  std::size_t index;
};

class Reader {
 public:
  explicit Reader(std::string_view relation) : relation_(relation) {}

  Predicate Read(const Node* condition) {
    Condition(condition);
    return std::move(predicate_);
  }

 private:
  std::size_t Add(PredicateKind kind, std::vector<std::size_t> children) {
    predicate_.nodes.push_back({kind, std::move(children), 0});
    return predicate_.nodes.size() - 1;
  }

  std::size_t AddLeaf(PredicateLeaf leaf) {
    if (predicate_.leaves.size() == kMostComparisons)
      throw Error("PS003", "predicate has more than " + std::to_string(kMostComparisons) + " comparisons",
                  "Constants in one IN list count as one.");
    predicate_.leaves.push_back(std::move(leaf));
    predicate_.nodes.push_back({PredicateKind::kLeaf, {}, predicate_.leaves.size() - 1});
    return predicate_.nodes.size() - 1;
  }

  std::size_t AddConstant(PredicateConstant constant) {
    predicate_.constants.push_back(std::move(constant));
    return predicate_.constants.size() - 1;
  }

  std::size_t Boolean(std::size_t column, bool value) {
    const std::size_t constant = AddConstant({ConstantKind::kBoolean, value ? "true" : "false", {}, {}});
    return AddLeaf({LeafKind::kCompare, Comparison::kEqual, column, 0, {constant}});
  }

  std::size_t IsNull(std::size_t column) { return AddLeaf({LeafKind::kIsNull, Comparison::kEqual, column, 0, {}}); }

  std::size_t Condition(const Node* node) {
    RequireStack();
    if (node == nullptr) Refuse(PartName(node));
    switch (node->node_case) {
      case PG_QUERY__NODE__NODE_BOOL_EXPR:
        return Junction(*node->bool_expr);
      case PG_QUERY__NODE__NODE_A_EXPR:
        return Expression(node);
      case PG_QUERY__NODE__NODE_NULL_TEST: {
        const std::size_t test = IsNull(ColumnUnder(node->null_test->arg, "IS NULL of anything but a column"));
        return node->null_test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL ? test
                                                                                  : Add(PredicateKind::kNot, {test});
      }
      case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
        return BooleanTest(*node->boolean_test);
      case PG_QUERY__NODE__NODE_COLUMN_REF:
        return Boolean(Column(*node->column_ref), true);
      case PG_QUERY__NODE__NODE_A_CONST:
        return Truth(node);
      default:
        Refuse(PartName(node));
    }
  }

  std::size_t Junction(const PgQuery__BoolExpr& expression) {
    std::vector<std::size_t> children;
    for (std::size_t i = 0; i < expression.n_args; ++i) children.push_back(Condition(expression.args[i]));
    switch (expression.boolop) {
      case PG_QUERY__BOOL_EXPR_TYPE__AND_EXPR:
        return Add(PredicateKind::kAnd, std::move(children));
      case PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR:
        return Add(PredicateKind::kOr, std::move(children));
      default:
        return Add(PredicateKind::kNot, std::move(children));
    }
  }

  // TRUE, FALSE or NULL as a condition.
  std::size_t Truth(const Node* node) {
    const PgQuery__AConst& constant = *node->a_const;
    if (constant.isnull) return Add(PredicateKind::kNull, {});
    if (constant.val_case != PG_QUERY__A__CONST__VAL_BOOLVAL) Refuse(PartName(node));
    const std::size_t always = Add(PredicateKind::kTrue, {});
    return constant.boolval->boolval ? always : Add(PredicateKind::kNot, {always});
  }

  // x IS TRUE is never NULL: it must not become so by NOT.
  std::size_t BooleanTest(const PgQuery__BooleanTest& test) {
    const std::size_t column = ColumnUnder(test.arg, "IS TRUE or FALSE of anything but a column");
    const auto known = [&](bool value) {
      return Add(PredicateKind::kAnd, {Add(PredicateKind::kNot, {IsNull(column)}), Boolean(column, value)});
    };
    switch (test.booltesttype) {
      case PG_QUERY__BOOL_TEST_TYPE__IS_TRUE:
        return known(true);
      case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_TRUE:
        return Add(PredicateKind::kNot, {known(true)});
      case PG_QUERY__BOOL_TEST_TYPE__IS_FALSE:
        return known(false);
      case PG_QUERY__BOOL_TEST_TYPE__IS_NOT_FALSE:
        return Add(PredicateKind::kNot, {known(false)});
      default:
        Refuse("IS UNKNOWN, which is IS NULL");
    }
  }

  std::size_t Expression(const Node* node) {
    const PgQuery__AExpr& expression = *node->a_expr;
    switch (expression.kind) {
      case PG_QUERY__A__EXPR__KIND__AEXPR_OP: {
        const std::optional<Comparison> comparison = ComparisonOf(expression);
        if (!comparison || expression.lexpr == nullptr) Refuse(PartName(node));
        return Compare(ReadOperand(expression.lexpr), *comparison, ReadOperand(expression.rexpr));
      }
      case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
      case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT: {
        if (!ComparisonOf(expression)) Refuse(PartName(node));
        const std::size_t same = Same(ReadOperand(expression.lexpr), ReadOperand(expression.rexpr));
        return expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT ? same : Add(PredicateKind::kNot, {same});
      }
      case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
        return Among(node);
      case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
        return Like(node);
      case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN:
      case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN:
      case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM:
      case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM:
        return Between(expression);
      default:
        Refuse(PartName(node));
    }
  }

  // The comparison that the expression's operator is, if it has an unqualified name of one.
  static std::optional<Comparison> ComparisonOf(const PgQuery__AExpr& expression) {
    static const std::map<std::string_view, Comparison> kNames = {
        {"=", Comparison::kEqual},      {"<>", Comparison::kNotEqual}, {"<", Comparison::kLess},
        {"<=", Comparison::kLessEqual}, {">", Comparison::kGreater},   {">=", Comparison::kGreaterEqual}};
    if (expression.n_name != 1) return std::nullopt;
    const auto found = kNames.find(TextOf(expression.name[0]));
    if (found == kNames.end()) return std::nullopt;
    return found->second;
  }

  std::size_t Compare(Operand left, Comparison comparison, Operand right) {
    if (!left.is_column && !right.is_column) Refuse("a comparison without a column");
    if (!left.is_column) return Compare(right, Commuted(comparison), left);
    if (right.is_column) return AddLeaf({LeafKind::kColumns, comparison, left.index, right.index, {}});
    return AddLeaf({LeafKind::kCompare, comparison, left.index, 0, {right.index}});
  }

  // IS NOT DISTINCT FROM, which is never NULL.
  std::size_t Same(Operand left, Operand right) {
    if (!left.is_column) std::swap(left, right);
    if (!left.is_column) Refuse("a comparison without a column");
    const bool null = !right.is_column && predicate_.constants[right.index].kind == ConstantKind::kNull;
    if (null) return IsNull(left.index);
    const std::size_t equal = Compare(left, Comparison::kEqual, right);
    const std::size_t known = Add(PredicateKind::kNot, {IsNull(left.index)});
    if (!right.is_column) return Add(PredicateKind::kAnd, {known, equal});
    const std::size_t both_known =
        Add(PredicateKind::kAnd, {known, Add(PredicateKind::kNot, {IsNull(right.index)}), equal});
    const std::size_t both_null = Add(PredicateKind::kAnd, {IsNull(left.index), IsNull(right.index)});
    return Add(PredicateKind::kOr, {both_known, both_null});
  }

  std::size_t Between(const PgQuery__AExpr& expression) {
    const Operand middle = ReadOperand(expression.lexpr);
    const PgQuery__List& bounds = *expression.rexpr->list;
    const Operand low = ReadOperand(bounds.items[0]);
    const Operand high = ReadOperand(bounds.items[1]);
    const auto within = [&](Operand from, Operand to) {
      return Add(PredicateKind::kAnd,
                 {Compare(middle, Comparison::kGreaterEqual, from), Compare(middle, Comparison::kLessEqual, to)});
    };
    const bool symmetric = expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM ||
                           expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
    const bool negated = expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN ||
                         expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN_SYM;
    std::size_t between = within(low, high);
    if (symmetric) between = Add(PredicateKind::kOr, {between, within(high, low)});
    return negated ? Add(PredicateKind::kNot, {between}) : between;
  }

  std::size_t Among(const Node* node) {
    const PgQuery__AExpr& expression = *node->a_expr;
    const std::optional<Comparison> comparison = ComparisonOf(expression);
    if (!comparison || expression.rexpr == nullptr || expression.rexpr->node_case != PG_QUERY__NODE__NODE_LIST)
      Refuse(PartName(node));
    const Operand left = ReadOperand(expression.lexpr);
    PredicateLeaf list = {LeafKind::kAmong, Comparison::kEqual, left.index, 0, {}};
    std::vector<std::size_t> any;
    for (std::size_t i = 0; i < expression.rexpr->list->n_items; ++i) {
      const Operand item = ReadOperand(expression.rexpr->list->items[i]);
      if (left.is_column && !item.is_column)
        list.constants.push_back(item.index);
      else
        any.push_back(Compare(left, Comparison::kEqual, item));
    }
    if (!list.constants.empty()) any.push_back(AddLeaf(std::move(list)));
    const std::size_t among = Add(PredicateKind::kOr, std::move(any));
    return *comparison == Comparison::kEqual ? among : Add(PredicateKind::kNot, {among});
  }

  std::size_t Like(const Node* node) {
    const PgQuery__AExpr& expression = *node->a_expr;
    const std::string_view name = expression.n_name == 1 ? TextOf(expression.name[0]) : std::string_view();
    if (name != "~~" && name != "!~~") Refuse(PartName(node));
    const std::size_t column = ColumnUnder(expression.lexpr, "LIKE of anything but a column");
    PredicateConstant pattern = Pattern(expression.rexpr);
    if (pattern.kind == ConstantKind::kNull) return Add(PredicateKind::kNull, {});
    const std::size_t like =
        AddLeaf({LeafKind::kLike, Comparison::kEqual, column, 0, {AddConstant(std::move(pattern))}});
    return name == "~~" ? like : Add(PredicateKind::kNot, {like});
  }

  // The pattern of LIKE with a backslash for its escape character. On a row the server would find a last one to escape
  // nothing only when the rest matches.
  static PredicateConstant Pattern(const Node* node) {
    std::string escape = "\\";
    if (node != nullptr && node->node_case == PG_QUERY__NODE__NODE_FUNC_CALL &&
        Dotted({node->func_call->funcname, node->func_call->n_funcname}) == "pg_catalog.like_escape" &&
        node->func_call->n_args == 2) {
      const PredicateConstant given = StringConstant(node->func_call->args[1]);
      if (given.kind == ConstantKind::kNull) return given;
      escape = given.text;
      node = node->func_call->args[0];
      if (Characters(escape) > 1)
        throw Error("PS003", "the escape of LIKE must be one character, or none",
                    "Write one character after ESCAPE, or leave it out.");
    }
    PredicateConstant pattern = StringConstant(node);
    std::string text;
    bool escaped = false;
    for (std::size_t i = 0; i < pattern.text.size();) {
      if (!escaped && !escape.empty() && pattern.text.compare(i, escape.size(), escape) == 0) {
        escaped = true;
        i += escape.size();
        continue;
      }
      if (escaped || pattern.text[i] == '\\') text += '\\';
      escaped = false;
      text += pattern.text[i++];
    }
    if (escaped)
      throw Error("PS003", "a LIKE pattern must not end with its escape character",
                  "Write the escape character twice for one that is meant.");
    pattern.text = std::move(text);
    return pattern;
  }

  static std::size_t Characters(const std::string& text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
    return count;
  }

  static PredicateConstant StringConstant(const Node* node) {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_A_CONST) Refuse("LIKE without a constant pattern");
    PredicateConstant constant = ConstantOf(*node->a_const);
    if (constant.kind != ConstantKind::kString && constant.kind != ConstantKind::kNull)
      Refuse("LIKE with a pattern that is not a string");
    return constant;
  }

  std::size_t ColumnUnder(const Node* node, const char* otherwise) {
    if (node == nullptr || node->node_case != PG_QUERY__NODE__NODE_COLUMN_REF) Refuse(otherwise);
    return Column(*node->column_ref);
  }

  std::size_t Column(const PgQuery__ColumnRef& reference) {
    const std::size_t count = reference.n_fields;
    const std::string written = Dotted({reference.fields, count});
    const std::string name(TextOf(reference.fields[count - 1]));
    if (name.empty()) Refuse("a star");
    if (count == 2 && TextOf(reference.fields[0]) != relation_) Refuse("a column of something else: " + written);
    if (count > 2) Refuse("a column that is qualified with a schema, or a field: " + written);
    const auto [at, is_new] = numbers_.emplace(name, predicate_.columns.size());
    if (is_new) predicate_.columns.push_back({name, {}, {}, false});
    return at->second;
  }

  Operand ReadOperand(const Node* node) {
    if (node == nullptr) Refuse(PartName(node));
    switch (node->node_case) {
      case PG_QUERY__NODE__NODE_COLUMN_REF:
        return {true, Column(*node->column_ref)};
      case PG_QUERY__NODE__NODE_A_CONST:
        return {false, AddConstant(ConstantOf(*node->a_const))};
      case PG_QUERY__NODE__NODE_TYPE_CAST:
        return {false, AddConstant(CastConstant(node))};
      case PG_QUERY__NODE__NODE_A_EXPR:
        if (IsPlus(*node->a_expr)) return ReadOperand(node->a_expr->rexpr);
        if (ComparisonOf(*node->a_expr) && node->a_expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP)
          Refuse("a condition where a column or constant is expected");
        break;
      default:
        break;
    }
    Refuse(PartName(node));
  }

  // +5; the parser makes -5 a constant.
  static bool IsPlus(const PgQuery__AExpr& expression) {
    return expression.kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP && expression.lexpr == nullptr &&
           expression.n_name == 1 && TextOf(expression.name[0]) == "+" && expression.rexpr != nullptr &&
           expression.rexpr->node_case == PG_QUERY__NODE__NODE_A_CONST &&
           ConstantOf(*expression.rexpr->a_const).kind == ConstantKind::kNumber;
  }

  static PredicateConstant ConstantOf(const PgQuery__AConst& constant) {
    if (constant.isnull) return {};
    switch (constant.val_case) {
      case PG_QUERY__A__CONST__VAL_IVAL:
        return {ConstantKind::kNumber, std::to_string(constant.ival->ival), {}, {}};
      case PG_QUERY__A__CONST__VAL_FVAL:
        return {ConstantKind::kNumber, constant.fval->fval, {}, {}};
      case PG_QUERY__A__CONST__VAL_BOOLVAL:
        return {ConstantKind::kBoolean, constant.boolval->boolval ? "true" : "false", {}, {}};
      case PG_QUERY__A__CONST__VAL_SVAL:
        return {ConstantKind::kString, constant.sval->sval, {}, {}};
      case PG_QUERY__A__CONST__VAL_BSVAL:
        return {ConstantKind::kString, constant.bsval->bsval, {}, {}};
      default:
        Refuse("such a constant");
    }
  }

  // DATE '2024-02-29', '5'::int8, CAST ('x' AS text).
  static PredicateConstant CastConstant(const Node* node) {
    const PgQuery__TypeCast& cast = *node->type_cast;
    if (cast.arg == nullptr || cast.arg->node_case != PG_QUERY__NODE__NODE_A_CONST) Refuse(PartName(node));
    const PgQuery__TypeName& type = *cast.type_name;
    PredicateConstant constant = ConstantOf(*cast.arg->a_const);
    const bool is_catalog = type.n_names == 2 && TextOf(type.names[0]) == "pg_catalog";
    if ((type.n_names != 1 && !is_catalog) || type.setof || type.pct_type || type.n_typmods > 0 ||
        type.n_array_bounds > 1)
      Refuse("a cast to a type that is not a plain one of the server's: " + Dotted({type.names, type.n_names}));
    constant.type = std::string(TextOf(type.names[type.n_names - 1])) + (type.n_array_bounds == 1 ? "[]" : "");
    return constant;
  }

  std::string_view relation_;
  Predicate predicate_;
  std::map<std::string, std::size_t> numbers_;
};

// The condition of the only statement, which has nothing else.
const Node* ConditionOf(const PgQuery__ParseResult& tree) {
  if (tree.n_stmts != 1) Refuse("a second statement");
  const Node* statement = tree.stmts[0]->stmt;
  if (statement == nullptr || statement->node_case != PG_QUERY__NODE__NODE_SELECT_STMT) Refuse("a statement");
  const PgQuery__SelectStmt& select = *statement->select_stmt;
  if (select.op > PG_QUERY__SET_OPERATION__SETOP_NONE) Refuse("a set operation");
  if (select.n_group_clause + select.n_window_clause + select.n_sort_clause + select.n_locking_clause > 0 ||
      select.having_clause != nullptr || select.limit_count != nullptr || select.limit_offset != nullptr ||
      select.into_clause != nullptr || select.n_from_clause > 0 || select.n_target_list != 1)
    Refuse("a clause after the condition");
  return select.where_clause;
}

Predicate Parsed(std::string_view text, std::string_view relation) {
  // A line break ends a comment that the text may leave open.
  const std::string sql = std::string(kSelect) + std::string(text) + "\n";
  const Parse parse(sql, {kMostPredicateMemory, nullptr, kMaxNesting});
  if (parse.tree() == nullptr)
    throw Error("PS003", std::string("predicate cannot be read: ") + parse.message(),
                std::strncmp(parse.message(), "syntax error", 12) == 0 ? "Write what would stand after WHERE."
                : std::strcmp(parse.message(), kTooLarge) == 0         ? "Ask for fewer conditions at a time."
                                                                       : "");
  return Reader(relation).Read(ConditionOf(*parse.tree()));
}

}  // namespace

Predicate ParsePredicate(std::string_view text, std::string_view relation) {
  if (text.size() > kMostPredicateBytes)
    throw Error("PS003", "predicate is longer than " + std::to_string(kMostPredicateBytes) + " bytes",
                "Ask for fewer conditions at a time.");
  Predicate predicate;
  try {
    OnOwnStack(StackSize::kOrdinary, [&] { predicate = Parsed(text, relation); });
  } catch (const TooDeep&) {
    throw Error("PS003", std::string("predicate cannot be read: ") + kTooDeep);
  }
  return predicate;
}

}  // namespace privacy_score
