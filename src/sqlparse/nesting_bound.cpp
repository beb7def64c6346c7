/*
 * nesting_bound.cpp - see nesting_bound.hpp.
 */
#include "sqlparse/nesting_bound.hpp"

#include <pg_query/pg_query.pb-c.h>

#include <cstdlib>
#include <cstring>

namespace privacy_score {

namespace {

// The state of one open bracket, or of an open CASE.
struct Level {
  long operators;  // operator-like tokens since the last token that surely separates siblings
  long below;      // deepest closed bracket since then
  long deepest;    // greatest operators + below of the earlier segments
  long joins;      // JOINs since the last set operation; never fewer than the JOIN nodes above one another
  long most_joins;
  long arms;  // set operations, which nest to the left without brackets
  bool is_case;
  bool between;  // a BETWEEN whose AND is still to come
};

struct Levels {
  Level* items;
  size_t size;
  size_t capacity;
};

long Greater(long a, long b) { return a > b ? a : b; }

// Adds a level; false when memory runs out.
bool Push(Levels* levels, bool is_case) {
  if (levels->size == levels->capacity) {
    const size_t capacity = levels->capacity == 0 ? 64 : 2 * levels->capacity;
    void* items = std::realloc(levels->items, capacity * sizeof(Level));
    if (items == nullptr) return false;
    levels->items = static_cast<Level*>(items);
    levels->capacity = capacity;
  }
  Level* level = &levels->items[levels->size++];
  std::memset(level, 0, sizeof(Level));
  level->is_case = is_case;
  return true;
}

void EndSegment(Level* level) {
  level->deepest = Greater(level->deepest, level->operators + level->below);
  level->operators = 0;
  level->below = 0;
  level->between = false;
}

// The depth of what a level holds.
long Depth(const Level& level) {
  return Greater(level.deepest, level.operators + level.below) + Greater(level.most_joins, level.joins) + level.arms;
}

// Closes the innermost level into the one around it.
void Pop(Levels* levels) {
  const long depth = Depth(levels->items[--levels->size]) + 1;
  Level* outer = &levels->items[levels->size - 1];
  outer->below = Greater(outer->below, depth);
}

// Closes levels down to and with the innermost bracket, past CASEs that lack their END.
void CloseBracket(Levels* levels) {
  while (levels->size > 1 && levels->items[levels->size - 1].is_case) Pop(levels);
  if (levels->size > 1) Pop(levels);
}

// Counts one token.
bool Count(Levels* levels, PgQuery__Token token) {
  Level* level = &levels->items[levels->size - 1];
  switch (token) {
    case PG_QUERY__TOKEN__ASCII_40:  // (
      return Push(levels, false);
    case PG_QUERY__TOKEN__ASCII_91:  // [ is two nodes: what has the index, and the index
      if (!Push(levels, false)) return false;
      levels->items[levels->size - 1].most_joins = 1;
      return true;
    case PG_QUERY__TOKEN__CASE:
      return Push(levels, true);
    case PG_QUERY__TOKEN__ASCII_41:  // )
    case PG_QUERY__TOKEN__ASCII_93:  // ]
      CloseBracket(levels);
      return true;
    case PG_QUERY__TOKEN__END_P:
      if (level->is_case)
        Pop(levels);
      else
        ++level->operators;
      return true;
    case PG_QUERY__TOKEN__AND:
      if (level->between) {  // x BETWEEN 1 AND NOT y BETWEEN 1 AND NOT ... nests to the right
        ++level->operators;
        level->between = false;
      } else {
        EndSegment(level);
        ++level->operators;
      }
      return true;
    case PG_QUERY__TOKEN__BETWEEN:
      ++level->operators;
      level->between = true;
      return true;
    case PG_QUERY__TOKEN__OR:
    case PG_QUERY__TOKEN__WHEN:
    case PG_QUERY__TOKEN__THEN:
    case PG_QUERY__TOKEN__ELSE:
      if (token != PG_QUERY__TOKEN__OR && !level->is_case) {
        ++level->operators;
        return true;
      }
      EndSegment(level);
      level->operators = token == PG_QUERY__TOKEN__OR ? 2 : 1;
      return true;
    case PG_QUERY__TOKEN__ON:
      EndSegment(level);
      ++level->operators;
      return true;
    case PG_QUERY__TOKEN__ASCII_44:  // ,
      EndSegment(level);
      return true;
    case PG_QUERY__TOKEN__ASCII_59:  // ;
      EndSegment(level);
      level->deepest = Depth(*level);
      level->joins = level->most_joins = level->arms = 0;
      return true;
    case PG_QUERY__TOKEN__JOIN:
      ++level->operators;
      ++level->joins;
      return true;
    case PG_QUERY__TOKEN__UNION:
    case PG_QUERY__TOKEN__INTERSECT:
    case PG_QUERY__TOKEN__EXCEPT:
      EndSegment(level);
      level->most_joins = Greater(level->most_joins, level->joins);
      level->joins = 0;
      ++level->arms;
      return true;
    case PG_QUERY__TOKEN__SELECT:  // several nodes: the subquery, its statement, its target
      level->operators += 2;
      return true;
    case PG_QUERY__TOKEN__ICONST:
    case PG_QUERY__TOKEN__FCONST:
    case PG_QUERY__TOKEN__SCONST:
    case PG_QUERY__TOKEN__BCONST:
    case PG_QUERY__TOKEN__XCONST:
    case PG_QUERY__TOKEN__IDENT:
    case PG_QUERY__TOKEN__PARAM:
    case PG_QUERY__TOKEN__ASCII_46:  // .
    case PG_QUERY__TOKEN__FROM:      // IS DISTINCT FROM has counted before
      return true;
    default:  // operators and all other keywords
      ++level->operators;
      return true;
  }
}

// Whether a keyword goes on with the name of a type that stands after ::, as PRECISION after DOUBLE does.
bool ContinuesType(PgQuery__Token before, PgQuery__Token token) {
  switch (token) {
    case PG_QUERY__TOKEN__PRECISION:
      return before == PG_QUERY__TOKEN__DOUBLE_P;
    case PG_QUERY__TOKEN__CHARACTER:
    case PG_QUERY__TOKEN__CHAR_P:
      return before == PG_QUERY__TOKEN__NATIONAL;
    case PG_QUERY__TOKEN__VARYING:
      return before == PG_QUERY__TOKEN__CHARACTER || before == PG_QUERY__TOKEN__CHAR_P ||
             before == PG_QUERY__TOKEN__NCHAR || before == PG_QUERY__TOKEN__BIT;
    case PG_QUERY__TOKEN__WITH:
    case PG_QUERY__TOKEN__WITHOUT:
      return before == PG_QUERY__TOKEN__TIME || before == PG_QUERY__TOKEN__TIMESTAMP;
    case PG_QUERY__TOKEN__TIME:
      return before == PG_QUERY__TOKEN__WITH || before == PG_QUERY__TOKEN__WITHOUT;
    case PG_QUERY__TOKEN__ZONE:
      return before == PG_QUERY__TOKEN__TIME;
    default:
      return false;
  }
}

}  // namespace

long NestingBound(const PgQuery__ScanResult& scan) {
  Levels levels = {nullptr, 0, 0};
  long bound = -1;
  bool ok = Push(&levels, false);
  bool is_name = false;  // after a dot or AS any keyword is a mere name
  bool is_type = false;  // after :: it is part of that of a type, and no node of its own
  PgQuery__Token before = PG_QUERY__TOKEN__NUL;
  bool is_operand = false;  // after SELECT, comma, dot and bracket a * is no operator
  for (size_t i = 0; ok && i < scan.n_tokens; ++i) {
    const PgQuery__Token token = scan.tokens[i]->token;
    if (token == PG_QUERY__TOKEN__SQL_COMMENT || token == PG_QUERY__TOKEN__C_COMMENT) continue;
    const bool is_keyword = scan.tokens[i]->keyword_kind != PG_QUERY__KEYWORD_KIND__NO_KEYWORD;
    if (before != PG_QUERY__TOKEN__TYPECAST) is_type = is_type && ContinuesType(before, token);
    if (is_name && is_keyword)
      ++levels.items[levels.size - 1].operators;
    else if (!(is_type && is_keyword) && !(is_operand && token == PG_QUERY__TOKEN__ASCII_42))
      ok = Count(&levels, token);
    is_operand = token == PG_QUERY__TOKEN__SELECT || token == PG_QUERY__TOKEN__ASCII_44 ||
                 token == PG_QUERY__TOKEN__ASCII_46 || token == PG_QUERY__TOKEN__ASCII_40;
    is_name = token == PG_QUERY__TOKEN__ASCII_46 || token == PG_QUERY__TOKEN__AS;
    is_type = token == PG_QUERY__TOKEN__TYPECAST || (is_type && is_keyword);
    before = token;
  }
  if (ok) {
    while (levels.size > 1) Pop(&levels);
    bound = Depth(levels.items[0]);
  }
  std::free(levels.items);
  return bound;
}

}  // namespace privacy_score
