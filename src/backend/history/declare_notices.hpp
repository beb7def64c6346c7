/*
 * declare_notices.hpp - what who declares a relation is told: whose its rows will count as.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

namespace privacy_score {

// A NOTICE where protect() without a subject takes each row, or a key of the relation's own, for a person. Inside an
// internal scope.
void NoteSubject(Oid relation);

}  // namespace privacy_score
