/*
 * relation_concerns.hpp - the relations that a declaration of one concerns.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// Says that the change of the model which this transaction announces concerns a relation (ConcernName() in
// model_changes.hpp), with all that inherit from it and that it inherits from: a declaration is theirs, too. May raise.
void ConcernRelation(Oid relation);

}  // namespace privacy_score
