/*
 * nesting_bound.hpp - how deep the parse tree of a text can be, from its tokens.
 *
 * What walks the tree within libpg_query has no stack check, so this is asked before. Part of the parser island: plain
 * C in a C++ file, which needs malloc and free and nothing of libstdc++.
 */
#pragma once

struct PgQuery__ScanResult;

namespace privacy_score {

// An upper bound, in levels of two nodes each; -1 when memory runs out.
long NestingBound(const PgQuery__ScanResult& scan);

}  // namespace privacy_score
