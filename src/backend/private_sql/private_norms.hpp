/*
 * private_norms.hpp - references for small populations: how much persons have in a level, whatever its WHERE says.
 *
 * From a few persons a noisy histogram of their norms cannot tell which bound to choose. So the first question of a
 * shape asks, for a fixed price, for the histograms of the level without the conditions on persons' columns. They are
 * answers like others: paid for, kept in the ledger, and given again for nothing to all questions of that shape.
 */
#pragma once

#include "backend/dp/dp_budget.hpp"
#include "backend/private_sql/private_keys.hpp"
#include "backend/private_sql/private_level.hpp"
#include "backend/private_sql/private_reading.hpp"
#include "core/private_sql/level_answer.hpp"

namespace privacy_score {

// The question for the references of a level, whose own is `asked` and whose part is prepared to run; `part` gets
// theirs. False when the level needs none.
bool AskForReferences(const PrivateLevel* level, const Question* asked, const ::Query* own_part,
                      const PublicGroups* groups, Question* question, ::Query** part);

// Measures them; the text is for ReferencesOfText().
const char* MeasuredReferences(const PrivateLevel* level, const PersonRows* rows, const char* epsilon,
                               bool unknown_keys);

// For core: throws.
std::vector<NormReference> ReferencesOfText(const char* text);

// What is planned for a level. For core: throws.
LevelQuestion PlannedQuestion(const PrivateLevel* level, const char* epsilon, bool unknown_keys);

}  // namespace privacy_score
