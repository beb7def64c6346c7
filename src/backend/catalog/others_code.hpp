/*
 * others_code.hpp - code for which who has declared a protected relation does not answer.
 *
 * Functions that are handed rows of a relation see them, whatever rights their owners have. A function, or a domain
 * with its checks, is others' when it belongs neither to who has declared the relation, nor to a superuser or the
 * extension's owner; of a copy, when it belongs to somebody who does not own all that was copied. Operator classes are
 * not looked at: only superusers make them. What a function calls is not, either. All may raise.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "nodes/nodes.h"
}

namespace privacy_score {

struct RelationEntry;

// Whether a function is others', for a protected relation.
bool IsOthersFunction(Oid function, const RelationEntry* entry);

// Whether a type is, or a domain checks by code that is.
bool IsOthersType(Oid type, const RelationEntry* entry);

// Whether an expression runs code of others.
bool RunsOthersCode(Node* expression, const RelationEntry* entry);

// Whether it runs any code that the server has not brought.
bool RunsAddedCode(Node* expression);

}  // namespace privacy_score
