/*
 * predicate.cpp - the normal form of predicates (see predicate.hpp).
 *
 * NOT is carried out first, down to the comparisons, which the server's operators let turn around: a B-tree order is
 * total, and NULL stays NULL either way. What is left has no NOT above AND and OR; there a NULL and a false condition
 * choose the same rows.
 */
#include "core/statement/predicate.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace privacy_score {

namespace {

enum class Form : std::uint8_t { kAlways, kNever, kAnd, kOr, kSet, kCompare, kColumns, kLike, kIsNull };

// A part of the normal form.
struct Part {
  Form form = Form::kNever;
  std::vector<Part> parts;
  Comparison comparison = Comparison::kEqual;
  bool negated = false;  // NOT LIKE, IS NOT NULL
  std::size_t column = 0;
  std::size_t other = 0;
  std::map<std::string, std::size_t> values;  // by value, one of the constants that have it
  std::string outline;                        // what people see of it
  std::string key;                            // all of it
};

// A length before the bytes keeps any two lists of texts apart.
void AppendCounted(std::string* text, const std::string& bytes) {
  *text += std::to_string(bytes.size());
  *text += ':';
  *text += bytes;
}

bool ComesBefore(const Part& a, const Part& b) {
  return a.outline != b.outline ? a.outline < b.outline : a.key < b.key;
}

class Normaliser {
 public:
  Normaliser(const Predicate& predicate, int first_parameter, bool steady)
      : source_(predicate), next_(first_parameter), steady_(steady) {}

  NormalPredicate Run() {
    const Part root = source_.nodes.empty() ? Constant(true) : Build(source_.nodes.size() - 1, false);
    result_.canonical = root.key;
    Write(root, false);
    return std::move(result_);
  }

 private:
  static Part Constant(bool always) {
    Part part;
    part.form = always ? Form::kAlways : Form::kNever;
    part.key = part.outline = always ? "true" : "false";
    return part;
  }

  Part Build(std::size_t index, bool negate) const {
    const PredicateNode& node = source_.nodes[index];
    switch (node.kind) {
      case PredicateKind::kNot:
        return Build(node.children[0], !negate);
      case PredicateKind::kLeaf:
        return Leaf(source_.leaves[node.leaf], negate);
      case PredicateKind::kTrue:
        return Constant(!negate);
      case PredicateKind::kNull:
        return Constant(false);
      default:
        return Junction(node, negate);
    }
  }

  // AND or OR.
  Part Junction(const PredicateNode& node, bool negate) const {
    Part part;
    part.form = (node.kind == PredicateKind::kAnd) != negate ? Form::kAnd : Form::kOr;
    const Form neutral = part.form == Form::kAnd ? Form::kAlways : Form::kNever;
    const Form decisive = part.form == Form::kAnd ? Form::kNever : Form::kAlways;
    for (const std::size_t child : node.children) {
      Part built = Build(child, negate);
      if (built.form == decisive) return built;
      if (built.form == neutral) continue;
      if (built.form != part.form) {
        part.parts.push_back(std::move(built));
        continue;
      }
      for (Part& inner : built.parts) part.parts.push_back(std::move(inner));
    }
    GatherSets(&part);
    std::sort(part.parts.begin(), part.parts.end(), ComesBefore);
    const auto same = [](const Part& a, const Part& b) { return a.key == b.key; };
    part.parts.erase(std::unique(part.parts.begin(), part.parts.end(), same), part.parts.end());
    if (part.parts.empty()) return Constant(part.form == Form::kAnd);
    if (part.parts.size() == 1) {
      Part only = std::move(part.parts[0]);
      return only;
    }
    // What is two levels down is part of no list any more. Texts of all levels would add up to the predicate times its
    // depth.
    for (Part& inner : part.parts)
      for (Part& deeper : inner.parts) {
        std::string().swap(deeper.key);  // an assignment would keep the memory
        std::string().swap(deeper.outline);
      }
    part.key = part.form == Form::kAnd ? "and(" : "or(";
    part.outline = part.key;
    for (const Part& inner : part.parts) {
      AppendCounted(&part.key, inner.key);
      AppendCounted(&part.outline, inner.outline);
    }
    return part;
  }

  // x = 1 OR x IN (2, 3) is x IN (1, 2, 3); x <> 1 AND x NOT IN (2, 3) likewise.
  void GatherSets(Part* junction) const {
    const Comparison wanted = junction->form == Form::kOr ? Comparison::kEqual : Comparison::kNotEqual;
    std::map<std::size_t, std::size_t> first;  // by column
    std::vector<Part> kept;
    for (Part& part : junction->parts) {
      if (part.form != Form::kSet || part.comparison != wanted) {
        kept.push_back(std::move(part));
        continue;
      }
      const auto [at, is_new] = first.emplace(part.column, kept.size());
      if (is_new)
        kept.push_back(std::move(part));
      else
        kept[at->second].values.merge(part.values);
    }
    for (const auto& [column, at] : first) Name(&kept[at]);
    junction->parts = std::move(kept);
  }

  Part Leaf(const PredicateLeaf& leaf, bool negate) const {
    Part part;
    part.column = leaf.column;
    part.other = leaf.other;
    part.negated = negate;
    part.comparison = negate ? Negated(leaf.comparison) : leaf.comparison;
    switch (leaf.kind) {
      case LeafKind::kIsNull:
        part.form = Form::kIsNull;
        break;
      case LeafKind::kColumns:
        part.form = Form::kColumns;
        if (source_.columns[part.other].identity < source_.columns[part.column].identity) {
          std::swap(part.column, part.other);
          part.comparison = Commuted(part.comparison);
        }
        break;
      case LeafKind::kLike:
        part.form = Form::kLike;
        break;
      default: {
        const bool is_set = leaf.kind == LeafKind::kAmong || leaf.comparison == Comparison::kEqual ||
                            leaf.comparison == Comparison::kNotEqual;
        part.form = is_set ? Form::kSet : Form::kCompare;
      }
    }
    for (const std::size_t constant : leaf.constants) {
      // x <> NULL, and x NOT IN a list with a NULL, is never true; in a list for IN it changes nothing.
      const bool is_null = source_.constants[constant].kind == ConstantKind::kNull;
      if (is_null && (part.form != Form::kSet || part.comparison == Comparison::kNotEqual)) return Constant(false);
      if (!is_null) part.values.emplace(source_.constants[constant].value, constant);
    }
    if (part.form == Form::kSet && part.values.empty()) return Constant(false);
    Name(&part);
    return part;
  }

  // Gives a leaf its outline and key.
  void Name(Part* part) const {
    std::string text = "leaf(";
    AppendCounted(&text, std::to_string(static_cast<int>(part->form)));
    AppendCounted(&text, SignOf(part->comparison));
    AppendCounted(&text, part->negated && (part->form == Form::kLike || part->form == Form::kIsNull) ? "not" : "");
    AppendCounted(&text, source_.columns[part->column].identity);
    AppendCounted(&text, part->form == Form::kColumns ? source_.columns[part->other].identity : "");
    part->outline = text;
    for (const auto& [value, constant] : part->values) AppendCounted(&text, value);
    part->key = text;
  }

  void Both(const std::string& text) {
    result_.sql += text;
    result_.shape += text;
  }

  void WriteOperator(const Part& part, const std::string& name) {
    result_.sql += source_.columns[part.column].sql + " OPERATOR(pg_catalog." + name + ") ";
  }

  std::string Parameter(const Part& part, bool is_array, std::size_t constant) {
    if (!is_array) result_.parameters.push_back({part.column, false, part.form == Form::kLike, {constant}});
    return "$" + std::to_string(next_++);
  }

  void Write(const Part& part, bool inner) {
    switch (part.form) {
      case Form::kAlways:
      case Form::kNever:
        return Both(part.key);
      case Form::kAnd:
      case Form::kOr:
        return WriteJunction(part, inner);
      case Form::kSet:
        return WriteSet(part);
      case Form::kColumns:
        WriteOperator(part, SignOf(part.comparison));
        result_.sql += source_.columns[part.other].sql;
        result_.shape +=
            source_.columns[part.column].name + ' ' + SignOf(part.comparison) + ' ' + source_.columns[part.other].name;
        return;
      case Form::kIsNull: {
        const char* test = part.negated ? " IS NOT NULL" : " IS NULL";
        result_.sql += source_.columns[part.column].sql + test;
        result_.shape += source_.columns[part.column].name + test;
        return;
      }
      case Form::kLike:
        WriteOperator(part, part.negated ? "!~~" : "~~");
        result_.shape += source_.columns[part.column].name + (part.negated ? " NOT LIKE " : " LIKE ");
        return Both(Parameter(part, false, part.values.begin()->second));
      case Form::kCompare:
        WriteOperator(part, SignOf(part.comparison));
        result_.shape += source_.columns[part.column].name + ' ' + SignOf(part.comparison) + ' ';
        return Both(Parameter(part, false, part.values.begin()->second));
    }
  }

  // Functions evaluate all their arguments; in pairs of pairs, so that no depth is reached. They are strict, so what is
  // NULL becomes false before.
  template <typename WriteOne>
  void WriteSteadily(bool all, std::size_t first, std::size_t last, const std::string& separator, WriteOne write_one) {
    if (last - first == 1) {
      result_.sql += '(';
      write_one(first);
      result_.sql += ") IS TRUE";
      return;
    }
    const std::size_t middle = first + (last - first) / 2;
    result_.sql += all ? "pg_catalog.booland_statefunc(" : "pg_catalog.boolor_statefunc(";
    WriteSteadily(all, first, middle, separator, write_one);
    result_.sql += ", ";
    result_.shape += separator;
    WriteSteadily(all, middle, last, separator, write_one);
    result_.sql += ')';
  }

  void WriteJunction(const Part& part, bool inner) {
    if (inner) Both("(");
    if (steady_) {
      const bool all = part.form == Form::kAnd;
      WriteSteadily(all, 0, part.parts.size(), all ? " AND " : " OR ",
                    [&](std::size_t i) { Write(part.parts[i], true); });
      if (inner) Both(")");
      return;
    }
    bool is_first = true;
    for (const Part& each : part.parts) {
      if (!is_first) Both(part.form == Form::kAnd ? " AND " : " OR ");
      is_first = false;
      Write(each, true);
    }
    if (inner) Both(")");
  }

  // x = $1, x IN ($1, ...): a list is one parameter, or one comparison each where its type has no arrays.
  void WriteSet(const Part& part) {
    const PredicateColumn& column = source_.columns[part.column];
    const bool equal = part.comparison == Comparison::kEqual;
    if (part.values.size() == 1) {
      WriteOperator(part, SignOf(part.comparison));
      result_.shape += column.name + ' ' + SignOf(part.comparison) + ' ';
      return Both(Parameter(part, false, part.values.begin()->second));
    }
    result_.shape += column.name + (equal ? " IN (" : " NOT IN (");
    if (column.arrays) {
      PredicateParameter list = {part.column, true, false, {}};
      for (const auto& [value, constant] : part.values) list.constants.push_back(constant);
      result_.parameters.push_back(std::move(list));
      WriteOperator(part, SignOf(part.comparison));
      const std::string name = Parameter(part, true, 0);
      result_.sql += (equal ? "ANY (" : "ALL (") + name + ')';
      result_.shape += name;
    } else if (steady_) {
      std::vector<std::size_t> constants;
      for (const auto& [value, constant] : part.values) constants.push_back(constant);
      WriteSteadily(!equal, 0, constants.size(), ", ", [&](std::size_t i) {
        WriteOperator(part, SignOf(part.comparison));
        Both(Parameter(part, false, constants[i]));
      });
    } else {
      result_.sql += '(';
      bool is_first = true;
      for (const auto& [value, constant] : part.values) {
        if (!is_first) {
          result_.sql += equal ? " OR " : " AND ";
          result_.shape += ", ";
        }
        is_first = false;
        WriteOperator(part, SignOf(part.comparison));
        Both(Parameter(part, false, constant));
      }
      result_.sql += ')';
    }
    result_.shape += ')';
  }

  const Predicate& source_;
  NormalPredicate result_;
  int next_;
  bool steady_;
};

}  // namespace

Comparison Commuted(Comparison comparison) {
  switch (comparison) {
    case Comparison::kLess:
      return Comparison::kGreater;
    case Comparison::kLessEqual:
      return Comparison::kGreaterEqual;
    case Comparison::kGreater:
      return Comparison::kLess;
    case Comparison::kGreaterEqual:
      return Comparison::kLessEqual;
    default:
      return comparison;
  }
}

Comparison Negated(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return Comparison::kNotEqual;
    case Comparison::kNotEqual:
      return Comparison::kEqual;
    case Comparison::kLess:
      return Comparison::kGreaterEqual;
    case Comparison::kLessEqual:
      return Comparison::kGreater;
    case Comparison::kGreater:
      return Comparison::kLessEqual;
    default:
      return Comparison::kLess;
  }
}

const char* SignOf(Comparison comparison) {
  constexpr const char* kSigns[] = {"=", "<>", "<", "<=", ">", ">="};
  return kSigns[static_cast<std::size_t>(comparison)];
}

NormalPredicate Normalise(const Predicate& predicate, int first_parameter, bool steady) {
  return Normaliser(predicate, first_parameter, steady).Run();
}

}  // namespace privacy_score
