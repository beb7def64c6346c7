/*
 * private_feedback.hpp - what a session is told of its last answer: what it has cost, and how sure its numbers are.
 *
 * All of it follows from noisy numbers that were paid for and from the laws of their noise, so it costs nothing. What
 * is kept has names and figures of columns, no values; it is the session's own, and ends with it.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/pg_list.h"
}

namespace privacy_score {

// Keeps the answers of a statement, a list of PrivateAnswer, in the place of those before, and sends the client the
// NOTICE that privacy_score.dp_notice asks for.
void TellOfAnswers(const List* answers);

}  // namespace privacy_score
