/*
 * dp_expressions.hpp - the rule for a function of the server that would run on persons' rows in a private query.
 */
#pragma once

extern "C" {
#include "postgres.h"
}

#include "core/private_sql/private_expressions.hpp"

namespace privacy_score {

struct ServerFunctionRule {
  ExpressionUse use;
  unsigned constant_arguments;  // bit i: argument i, from 0, must not depend on a row
  const char* reason;           // of a refusal, in the current memory context; null where it is allowed
};

// Refused is what core/private_sql/private_expressions.hpp does not allow, what is none of the server's own functions,
// is volatile, or does not give one value for one row. Reads catalogs. Raises 42883 for an OID that no function has.
ServerFunctionRule RuleOfServerFunction(Oid function);

}  // namespace privacy_score
