/*
 * relationships.cpp - the attribute relationship diagram of a relation.
 */
#include "core/scoring/relationships.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/joined.hpp"

namespace privacy_score {

namespace {

// A conditional entropy below this is the rounding of two sums over many classes.
constexpr double kNoise = 1e-9;

void Check(const AttributeEntropies& entropies, double tolerance) {
  if (!(tolerance >= 0))
    throw InvalidValue("tolerance must not be negative, not " + TextOf(tolerance), "Zero asks for equality.");
  const std::size_t count = entropies.names.size();
  bool fits = entropies.single.size() == count && entropies.pair.size() == count;
  for (const auto& row : entropies.pair) fits = fits && row.size() == count;
  if (!fits) throw InvalidValue("entropies must be given for each of the " + std::to_string(count) + " attributes");
}

// H(dependent|determinant), without rounding noise.
double Conditional(const AttributeEntropies& entropies, std::size_t determinant, std::size_t dependent) {
  const double entropy = entropies.pair[determinant][dependent] - entropies.single[determinant];
  return entropy < kNoise ? 0 : entropy;
}

bool IsConstant(const AttributeEntropies& entropies, std::size_t attribute) {
  return entropies.single[attribute] < kNoise;
}

// Places of the attributes by name.
std::vector<std::size_t> ByName(const AttributeEntropies& entropies) {
  std::vector<std::size_t> order(entropies.names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return entropies.names[a] < entropies.names[b]; });
  return order;
}

// A string of DOT: in a label a backslash starts an escape, so that one of a name is doubled.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace

ResultTable AttributeRelationships(const AttributeEntropies& entropies, double tolerance) {
  Check(entropies, tolerance);
  const double row_entropy = entropies.rows > 1 ? std::log2(static_cast<double>(entropies.rows)) : 0;
  const auto order = ByName(entropies);
  ResultTable table;
  for (const std::size_t a : order) {
    for (const std::size_t b : order) {
      if (a == b) continue;
      const double conditional = Conditional(entropies, a, b);
      if (conditional > tolerance) continue;
      const double rate = row_entropy > 0 ? std::clamp(entropies.pair[a][b] / row_entropy, 0.0, 1.0) : 0;
      table.rows.push_back({entropies.names[a], entropies.names[b], TextOf(conditional), TextOf(rate)});
    }
  }
  return table;
}

RelationshipDiagram DiagramOf(const AttributeEntropies& entropies, double tolerance) {
  Check(entropies, tolerance);
  RelationshipDiagram diagram;
  std::vector<std::size_t> varying;
  for (const std::size_t attribute : ByName(entropies)) {
    if (IsConstant(entropies, attribute)) {
      diagram.constants.push_back(entropies.names[attribute]);
    } else {
      varying.push_back(attribute);
    }
  }
  // With a tolerance determination need not be transitive: take what can be reached.
  const std::size_t count = varying.size();
  std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      reaches[a][b] = a == b || Conditional(entropies, varying[a], varying[b]) <= tolerance;
    }
  }
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t a = 0; a < count; ++a) {
      if (!reaches[a][via]) continue;
      for (std::size_t b = 0; b < count; ++b) {
        if (reaches[via][b]) reaches[a][b] = true;
      }
    }
  }
  std::vector<std::size_t> first;  // of each node
  for (std::size_t a = 0; a < count; ++a) {
    const auto same = std::find_if(first.begin(), first.end(),
                                   [&](std::size_t node) { return reaches[a][node] && reaches[node][a]; });
    if (same == first.end()) {
      first.push_back(a);
      diagram.nodes.push_back({entropies.names[varying[a]]});
    } else {
      diagram.nodes[static_cast<std::size_t>(same - first.begin())].push_back(entropies.names[varying[a]]);
    }
  }
  const std::size_t nodes = first.size();
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = 0; b < nodes; ++b) {
      if (a == b || !reaches[first[a]][first[b]]) continue;
      bool transitive = false;
      for (std::size_t via = 0; via < nodes; ++via) {
        transitive =
            transitive || (via != a && via != b && reaches[first[a]][first[via]] && reaches[first[via]][first[b]]);
      }
      if (!transitive) diagram.edges.emplace_back(a, b);
    }
  }
  return diagram;
}

std::string RelationshipsDot(const AttributeEntropies& entropies, const std::string& title, double tolerance) {
  const RelationshipDiagram diagram = DiagramOf(entropies, tolerance);
  std::string dot = "digraph " + Quoted(title) + " {\n  node [shape=box];\n";
  for (std::size_t node = 0; node < diagram.nodes.size(); ++node) {
    dot += "  n" + std::to_string(node) + " [label=" + Quoted(Joined(diagram.nodes[node], "\n")) + "];\n";
  }
  for (const auto& [from, to] : diagram.edges) {
    dot += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + ";\n";
  }
  if (!diagram.constants.empty()) {
    dot += "  constants [label=" + Quoted("constant:\n" + Joined(diagram.constants, "\n")) + ", style=dashed];\n";
  }
  return dot + "}\n";
}

}  // namespace privacy_score
