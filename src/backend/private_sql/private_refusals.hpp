/*
 * private_refusals.hpp - PS003: plain SQL that cannot be answered privately, with its place and a way out.
 *
 * A refusal depends on catalogs, text and parameters only, comes before anything is charged, and costs nothing.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/nodes.h"
}

namespace privacy_score {

// The statement that is looked at, for the places that errors show; null: unknown. Returns the one before.
const char* LookAtText(const char* text);

// Raises PS003. `node` is where (null: nowhere in particular).
[[noreturn]] void RefusePrivately(const Node* node, const char* message, const char* hint);

}  // namespace privacy_score
