/*
 * private_classes.hpp - which levels of a query read rows of persons, and which of them are answered.
 *
 * Each level is *public*, or of *persons*: a row of it is a row of one person of one home. A level that aggregates rows
 * of persons is answered, and public from then on: it is split (private_split.hpp), and what is around it runs on noisy
 * rows for free. Rows of persons never leave a query: at its root they are refused.
 *
 * All is decided from the analysed query and catalogs. What is not known to be allowed is refused (PS003).
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/parsenodes.h"
}

namespace privacy_score {

// Rewrites a query in place so that every level that aggregates rows of persons reads noisy rows; returns these levels,
// a list of PrivateLevel, numbered from 0 by the placeholders in the query. NIL: the query reads no persons, and is as
// it was. Raises PS003.
List* AnswerLevels(::Query* query);

}  // namespace privacy_score
