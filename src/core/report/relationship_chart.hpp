/*
 * relationship_chart.hpp - the attribute relationship diagram [Khan] as a drawing, without a program beside it.
 *
 * Attributes stand in columns: what determines most on the left, what it determines to the right of it. The order
 * within a column is found by the barycenter method [Sugiyama, Tagawa, Toda 1981]: sweeps that place each node in the
 * middle of its neighbours, while the number of crossings falls.
 */
#pragma once

#include <string>

#include "core/report/svg.hpp"
#include "core/scoring/relationships.hpp"

namespace privacy_score {

// The same drawing for the same diagram.
std::string RelationshipChart(const std::string& relation, const RelationshipDiagram& diagram, Placement placement);

}  // namespace privacy_score
