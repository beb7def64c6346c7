/*
 * predicate_fuzz.cpp - the text of a predicate to its normal form and back.
 *
 * The normal form is written as SQL and read again. Both trees are evaluated on made-up rows, by a logic of three
 * values of its own; the patterns of LIKE are any function of value and pattern there.
 */
#include "core/statement/predicate.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "core/base/error.hpp"
#include "sqlparse/parser_island.hpp"
#include "sqlparse/predicate.hpp"
#include "targets.hpp"

namespace privacy_score::fuzz {

namespace {

constexpr char kColumnBegins = '\x01';
constexpr char kColumnEnds = '\x02';

// Does what the backend does: gives columns their text and constants their values.
void Bind(Predicate* predicate, bool arrays) {
  for (std::size_t i = 0; i < predicate->columns.size(); ++i) {
    PredicateColumn& column = predicate->columns[i];
    column.sql = kColumnBegins + std::to_string(i) + kColumnEnds;
    column.identity = column.name + " type";
    column.arrays = arrays;
  }
  for (PredicateConstant& constant : predicate->constants)
    constant.value = std::to_string(static_cast<int>(constant.kind)) + constant.type + ":" + constant.text;
}

// --- the tree --------------------------------------------------------------------------------------------------------

void CheckTree(const Predicate& predicate) {
  Require(!predicate.nodes.empty(), "a predicate that is read has a root");
  for (std::size_t i = 0; i < predicate.nodes.size(); ++i) {
    const PredicateNode& node = predicate.nodes[i];
    for (const std::size_t child : node.children) Require(child < i, "children come before their parents");
    if (node.kind == PredicateKind::kLeaf) Require(node.leaf < predicate.leaves.size(), "a leaf exists");
    if (node.kind == PredicateKind::kNot) Require(node.children.size() == 1, "NOT has one part");
  }
  for (const PredicateLeaf& leaf : predicate.leaves) {
    Require(leaf.column < predicate.columns.size() && leaf.other < predicate.columns.size(), "columns exist");
    for (const std::size_t constant : leaf.constants) Require(constant < predicate.constants.size(), "constants exist");
    if (leaf.kind == LeafKind::kCompare || leaf.kind == LeafKind::kLike)
      Require(leaf.constants.size() == 1, "a comparison has one constant");
  }
}

// --- rows ------------------------------------------------------------------------------------------------------------

enum class Truth { kFalse, kTrue, kNull };

Truth Not(Truth truth) {
  if (truth == Truth::kNull) return truth;
  return truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}
Truth Of(bool holds) { return holds ? Truth::kTrue : Truth::kFalse; }

// A row gives each column NULL (-1) or a place in the order of the values: odd ones are constants, even ones between.
class Row {
 public:
  Row(const std::vector<std::string>& values, std::size_t seed) : values_(values), seed_(seed) {}

  int Value(const PredicateColumn& column) const {
    const std::size_t mixed = std::hash<std::string>()(column.name + "#" + std::to_string(seed_));
    return static_cast<int>((mixed >> 7U) % (2 * values_.size() + 2)) - 1;
  }
  int Value(const PredicateConstant& constant) const {
    if (constant.kind == ConstantKind::kNull) return -1;
    const auto at = std::lower_bound(values_.begin(), values_.end(), constant.value);
    Require(at != values_.end() && *at == constant.value, "no constant is made up");
    return 2 * static_cast<int>(at - values_.begin()) + 1;
  }
  bool Matches(int value, const PredicateConstant& pattern) const {
    return (std::hash<std::string>()(std::to_string(value) + pattern.value) >> 9U) % 2 == 0;
  }

 private:
  const std::vector<std::string>& values_;
  std::size_t seed_;
};

Truth Compared(int left, Comparison comparison, int right) {
  if (left < 0 || right < 0) return Truth::kNull;
  switch (comparison) {
    case Comparison::kEqual:
      return Of(left == right);
    case Comparison::kNotEqual:
      return Of(left != right);
    case Comparison::kLess:
      return Of(left < right);
    case Comparison::kLessEqual:
      return Of(left <= right);
    case Comparison::kGreater:
      return Of(left > right);
    default:
      return Of(left >= right);
  }
}

class Evaluation {
 public:
  Evaluation(const Predicate& predicate, const Row& row) : predicate_(predicate), row_(row) {}

  bool Chooses() const { return Node(predicate_.nodes.size() - 1) == Truth::kTrue; }

 private:
  Truth Node(std::size_t index) const {
    const PredicateNode& node = predicate_.nodes[index];
    switch (node.kind) {
      case PredicateKind::kTrue:
        return Truth::kTrue;
      case PredicateKind::kNull:
        return Truth::kNull;
      case PredicateKind::kNot:
        return Not(Node(node.children[0]));
      case PredicateKind::kLeaf:
        return Leaf(predicate_.leaves[node.leaf]);
      default:
        break;
    }
    const Truth decisive = Of(node.kind == PredicateKind::kOr);
    Truth truth = Not(decisive);
    for (const std::size_t child : node.children) {
      const Truth part = Node(child);
      if (part == decisive) return decisive;
      if (part == Truth::kNull) truth = part;
    }
    return truth;
  }

  Truth Leaf(const PredicateLeaf& leaf) const {
    const int value = row_.Value(predicate_.columns[leaf.column]);
    switch (leaf.kind) {
      case LeafKind::kIsNull:
        return Of(value < 0);
      case LeafKind::kColumns:
        return Compared(value, leaf.comparison, row_.Value(predicate_.columns[leaf.other]));
      case LeafKind::kCompare:
        return Compared(value, leaf.comparison, row_.Value(predicate_.constants[leaf.constants[0]]));
      case LeafKind::kLike:
        return value < 0 ? Truth::kNull : Of(row_.Matches(value, predicate_.constants[leaf.constants[0]]));
      case LeafKind::kAmong:
        break;
    }
    Truth among = Truth::kFalse;
    for (const std::size_t constant : leaf.constants) {
      const Truth equal = Compared(value, Comparison::kEqual, row_.Value(predicate_.constants[constant]));
      if (equal == Truth::kTrue) return equal;
      if (equal == Truth::kNull) among = equal;
    }
    return among;
  }

  const Predicate& predicate_;
  const Row& row_;
};

void CheckRows(const Predicate& before, const Predicate& after) {
  std::set<std::string> values;
  for (const PredicateConstant& constant : before.constants)
    if (constant.kind != ConstantKind::kNull) values.insert(constant.value);
  const std::vector<std::string> sorted(values.begin(), values.end());
  for (std::size_t seed = 0; seed < 8; ++seed) {
    const Row row(sorted, seed);
    Require(Evaluation(before, row).Chooses() == Evaluation(after, row).Chooses(),
            "the normal form chooses the rows of the predicate");
  }
}

// --- the normal form as SQL ------------------------------------------------------------------------------------------

// As SQL takes it, keyword or not.
std::string InQuotes(const std::string& name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string Literal(const PredicateConstant& constant) {
  std::string text = constant.text;
  if (constant.kind == ConstantKind::kString) {
    text = "'";
    for (const char c : constant.text) text += c == '\'' ? "''" : std::string(1, c);
    text += '\'';
  }
  if (constant.type.empty()) return text;
  std::string type = constant.type;
  const bool is_array = type.size() > 2 && type.compare(type.size() - 2, 2, "[]") == 0;
  if (is_array) type.resize(type.size() - 2);
  return "CAST(" + text + " AS " + InQuotes(type) + (is_array ? "[]" : "") + ")";
}

class Printer {
 public:
  Printer(const Predicate& predicate, const NormalPredicate& normal)
      : predicate_(predicate), normal_(normal), rest_(normal.sql) {}

  std::string Run() {
    while (!rest_.empty()) {
      if (Takes(" OPERATOR(pg_catalog.")) {
        Operator(std::string(Until(')')));
      } else if (rest_.front() == kColumnBegins) {
        rest_.remove_prefix(1);
        out_ += InQuotes(predicate_.columns[std::stoul(std::string(Until(kColumnEnds)))].name);
      } else {
        out_ += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    Require(parameters_ == normal_.parameters.size(), "each parameter stands in the SQL");
    return std::move(out_);
  }

 private:
  bool Takes(std::string_view what) {
    if (rest_.substr(0, what.size()) != what) return false;
    rest_.remove_prefix(what.size());
    return true;
  }
  std::string_view Until(char end) {
    const std::size_t at = rest_.find(end);
    Require(at != std::string_view::npos, "what opens is closed");
    const std::string_view part = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return part;
  }

  void Operator(const std::string& name) {
    if (Takes(" ANY ($") || Takes(" ALL ($")) {
      Require(name == "=" || name == "<>", "a list is for equality");
      out_ += name == "=" ? " IN (" : " NOT IN (";
      const PredicateParameter& list = Parameter(Until(')'), true);
      for (std::size_t i = 0; i < list.constants.size(); ++i)
        out_ += (i > 0 ? ", " : "") + Literal(predicate_.constants[list.constants[i]]);
      out_ += ')';
      return;
    }
    out_ += name == "~~" ? " LIKE " : name == "!~~" ? " NOT LIKE " : " " + name + " ";
    Require(Takes(" "), "an operator has a right side");
    if (!Takes("$")) return;  // a column
    std::size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') ++digits;
    const PredicateParameter& parameter = Parameter(rest_.substr(0, digits), false);
    rest_.remove_prefix(digits);
    Require(parameter.is_pattern == (name == "~~" || name == "!~~"), "patterns are told from values");
    out_ += Literal(predicate_.constants[parameter.constants.at(0)]);
  }

  const PredicateParameter& Parameter(std::string_view number, bool is_array) {
    Require(number == std::to_string(parameters_ + 1), "parameters are numbered as they come");
    const PredicateParameter& parameter = normal_.parameters.at(parameters_++);
    Require(parameter.is_array == is_array, "only lists are arrays");
    return parameter;
  }

  const Predicate& predicate_;
  const NormalPredicate& normal_;
  std::string_view rest_;
  std::size_t parameters_ = 0;
  std::string out_;
};

}  // namespace

void FuzzPredicate(std::string_view input) {
  Predicate predicate;
  try {
    predicate = ParsePredicate(input, "r");
  } catch (const Error& error) {
    Require(error.sqlstate() == "PS003", "a predicate is refused with PS003");
    return;
  }
  CheckTree(predicate);
  Bind(&predicate, false);
  const NormalPredicate plain = Normalise(predicate, 1);
  Bind(&predicate, true);
  const NormalPredicate normal = Normalise(predicate, 1);
  Require(normal.canonical == plain.canonical, "the canonical text does not depend on how lists are passed");
  Require(plain.sql.find("ANY (") == std::string::npos || plain.sql.find("$") != std::string::npos, "no lists");

  const std::string printed = Printer(predicate, normal).Run();
  const std::string statement = "SELECT 1 WHERE " + printed;
  // Parentheses that the input did without may be too many.
  if (privacy_score_nesting_bound(statement.data(), statement.size()) > kMaxNesting) return;
  Predicate again;
  try {
    again = ParsePredicate(printed, "r");
  } catch (const Error& error) {
    Require(false, "the normal form is read again: " + printed + ": " + error.what());
  }
  CheckTree(again);
  Bind(&again, true);
  const NormalPredicate same = Normalise(again, 1);
  Require(same.canonical == normal.canonical, "the normal form is its own normal form: " + printed);
  Require(same.shape == normal.shape, "so is its shape");
  Require(same.parameters.size() == normal.parameters.size(), "with as many parameters");
  CheckRows(predicate, again);
}

}  // namespace privacy_score::fuzz
