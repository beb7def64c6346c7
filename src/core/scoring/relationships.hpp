/*
 * relationships.hpp - the attribute relationship diagram of a relation [Khan].
 *
 * A determines B when H(B|A) = H(A,B) - H(A) is 0 (or at most a tolerance). In the diagram mutually determining
 * attributes are one node and transitive edges are left out; constants, which everything determines, stand apart.
 * Dependencies of small tables may be accidents: they are suggestions until the owner confirms them.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"

namespace privacy_score {

// Entropies in bits over the rows of one relation.
struct AttributeEntropies {
  std::vector<std::string> names;
  std::vector<double> single;             // H(A), one an attribute
  std::vector<std::vector<double>> pair;  // H(A,B); the diagonal is not read, both halves are
  std::int64_t rows = 0;                  // N
};

// Every ordered pair of attributes with H(dependent|determinant) <= tolerance bits: determinant, dependent,
// conditional_entropy, combined_rate (CDR of both against the row). Sorted by the two names. Throws Error 22023 on a
// negative tolerance or on entropies that do not fit the names.
ResultTable AttributeRelationships(const AttributeEntropies& entropies, double tolerance);

// The diagram in the language of Graphviz. Deterministic: nodes and edges by name. Throws as AttributeRelationships.
std::string RelationshipsDot(const AttributeEntropies& entropies, const std::string& title, double tolerance = 0);

// The diagram as data, for other drawings.
struct RelationshipDiagram {
  std::vector<std::vector<std::string>> nodes;             // mutually determining attributes; sorted
  std::vector<std::pair<std::size_t, std::size_t>> edges;  // places in `nodes`; sorted
  std::vector<std::string> constants;                      // sorted
};
RelationshipDiagram DiagramOf(const AttributeEntropies& entropies, double tolerance = 0);

}  // namespace privacy_score
