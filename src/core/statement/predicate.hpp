/*
 * predicate.hpp - the condition of a noisy question: its tree, its normal form, and the SQL that is made from it.
 *
 * A predicate is never spliced as text: it is parsed into this tree (sqlparse/predicate.hpp), the backend finds its
 * columns and gives each constant its value in the type of the column, and Normalise() writes the condition anew. Two
 * predicates with one canonical text have the same rows on any data; the reverse need not hold, and then asking again
 * costs. Texts are bytes in whatever encoding the caller uses.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace privacy_score {

enum class Comparison : std::uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

// The comparison with its sides exchanged, and the one that holds when it does not (of values that are not NULL).
Comparison Commuted(Comparison comparison);
Comparison Negated(Comparison comparison);
const char* SignOf(Comparison comparison);

enum class ConstantKind : std::uint8_t { kNull, kNumber, kString, kBoolean };

struct PredicateConstant {
  ConstantKind kind = ConstantKind::kNull;
  std::string text;   // as written
  std::string type;   // a cast to that type of the server's; empty: none
  std::string value;  // set by the backend: the same for equal values of the column's type, and for no others
};

// A column as it was named; the backend sets the rest.
struct PredicateColumn {
  std::string name;
  std::string sql;       // in the query
  std::string identity;  // in the canonical text: name and type
  bool arrays = false;   // its type has an array type: lists of constants become one parameter
};

enum class LeafKind : std::uint8_t {
  kCompare,  // column, constants[0]
  kAmong,    // column equal to one of constants
  kColumns,  // column, other
  kLike,     // column, constants[0]
  kIsNull    // column
};

struct PredicateLeaf {
  LeafKind kind = LeafKind::kIsNull;
  Comparison comparison = Comparison::kEqual;
  std::size_t column = 0;  // into Predicate::columns
  std::size_t other = 0;
  std::vector<std::size_t> constants;  // into Predicate::constants
};

enum class PredicateKind : std::uint8_t { kAnd, kOr, kNot, kLeaf, kTrue, kNull };

struct PredicateNode {
  PredicateKind kind = PredicateKind::kTrue;
  std::vector<std::size_t> children;  // into Predicate::nodes
  std::size_t leaf = 0;               // into Predicate::leaves
};

// Nodes refer to one another by index; the root is the last one.
struct Predicate {
  std::vector<PredicateNode> nodes;
  std::vector<PredicateLeaf> leaves;
  std::vector<PredicateColumn> columns;
  std::vector<PredicateConstant> constants;
};

// A parameter of the query: one constant, or an array of them.
struct PredicateParameter {
  std::size_t column = 0;
  bool is_array = false;
  bool is_pattern = false;  // of LIKE
  std::vector<std::size_t> constants;
};

struct NormalPredicate {
  std::string canonical;  // holds the values of constants
  std::string shape;      // for people: $n for constants
  std::string sql;        // a boolean expression over PredicateColumn::sql, with $n for parameters
  std::vector<PredicateParameter> parameters;
};

// The normal form: NOT carried out, nested and repeated parts taken out, parts in a fixed order, equal comparisons with
// one column gathered into lists. Parameters are numbered from `first_parameter`. Every constant has its value.
// `steady`: the SQL evaluates every comparison for every row, so that its time does not tell whether an earlier one
// held; it is then no predicate that could be parsed again.
NormalPredicate Normalise(const Predicate& predicate, int first_parameter, bool steady = false);

}  // namespace privacy_score
