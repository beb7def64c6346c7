/*
 * statement.hpp - what a SQL statement reads, with names resolved and syntax forgotten.
 *
 * Both front ends build this tree: src/sqlparse from SQL text, src/backend from the server's analysed Query. All the
 * rules of abstraction (docs/scoring.md, section 1: what is projected, filtered, joined, ...) are applied to it in
 * flow.cpp, once; a front end only translates. Where the two languages differ the tree takes the analysed form:
 * JOIN ... USING is an equality among the conditions, a merged column is the column it stands for (left column; right
 * column of a RIGHT JOIN; both under a kOther expression of a FULL JOIN), BETWEEN and IN lists are kOther, a row
 * comparison (a, b) = (c, d) is an AND of equalities, implicit casts are not there, explicit casts are kOther, stars
 * are expanded, ordinals and output names in GROUP BY and ORDER BY are replaced by their expressions, a view is a
 * kSubquery range with its query.
 *
 * A column with origins is never named where it is read: they are, with the same mark. Of statistics the columns that
 * they describe are projected whatever is done with them, as one row may be all that an aggregate sees.
 *
 * All names are canonical (core/base/names.hpp), relations qualified (public."Lab Results"); temporary
 * schemas are written pg_temp. All nodes live in one Arena (arena.hpp); string_views point into it.
 *
 * Programs make up the names of temporary relations, so that an abstraction has none: the first that a statement names
 * is pg_temp.*, the second pg_temp.*2, and their columns go by their places, pg_temp.*.1. No quoted name looks like
 * that.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/statement/arena.hpp"

namespace privacy_score {

struct Query;

// A column of a base relation, with the table constraints it takes part in.
struct Column {
  std::string_view name;
  Column* next = nullptr;
};

// One set of columns that tells all rows apart (a primary key, a unique index): their indexes (from 0) in
// Relation::columns.
struct Key {
  const int* columns = nullptr;
  int size = 0;
  Key* next = nullptr;
};

struct Relation;

// How a temporary relation is written that is the `number`-th of its statement, from 1, and its column `column`, from
// 0.
std::string TemporaryName(std::size_t number);
std::string TemporaryColumnName(std::size_t number, int column);

// A base column whose values stand in another relation, too.
struct Origin {
  const Relation* relation = nullptr;
  int column = -1;
  Origin* next = nullptr;
};

// What the values of a relation are values of: a copy of other tables (its rows are theirs), or a catalog of statistics
// (it describes them).
struct Origins {
  const ArenaList<Origin>* columns = nullptr;  // one list for each column; the values of an empty one are its own
  bool describes = false;
};

// A base relation: table, partition root, foreign table, materialised view; or a name that did not resolve.
struct Relation {
  std::string_view name;      // qualified; as written when it did not resolve
  ArenaList<Column> columns;  // live columns in order; of an unresolved relation the columns that were mentioned
  ArenaList<Key> keys;
  ArenaList<Key> references;  // foreign keys
  bool catalog = false;       // pg_catalog, information_schema, pg_toast and our own schema: never in an abstraction
  bool own = false;           // owned by the role that runs the statement: a join with it is a filter
  bool temporary = false;     // of one session: abstractions do not name it
  const Origins* origins = nullptr;  // reading it counts as reading these; writing does not
  unsigned id = 0;                   // the front end's own mark
};

enum class ExprKind {
  kConstant,   // literal, parameter: reveals nothing
  kColumn,     // column `column` of FROM item `range` of the query `levels_up` levels out
  kWholeRow,   // all columns of that FROM item; also ctid of a base relation
  kOutput,     // output column `column` of this query; only in order_by of a query with arms
  kAggregate,  // function(args) with filter and order
  kWindow,     // window function or aggregate with OVER; the window clause itself is in Query::windows
  kSubquery,   // a subquery in an expression, see SubqueryUse; args hold the left side of IN and ANY
  kEquality,   // exactly two args joined by an operator named =
  kAnd,        // args all hold
  kOther       // anything else (OR, NOT, functions, CASE, casts, arrays, rows): only its args matter, and `tells`
};

enum class SubqueryUse {
  kValue,   // scalar, ARRAY(...), row: its output flows to where it stands
  kMember,  // IN, NOT IN, = ANY, < ALL: left side and output are filters wherever it stands
  kExists   // EXISTS: only its own conditions matter
};

// A constant as far as it is known before the statement runs. No constant is kept: `hash` is keyed (keyed_hash.hpp).
struct Value {
  std::uint64_t hash = 0;           // of the constants in it; 0 when it has none
  const int* parameters = nullptr;  // the numbers of the parameters in it
  int parameter_count = 0;
  bool elements = false;  // a single array parameter, which stands for each of its elements
  Value* next = nullptr;
};

// How far a comparison goes: nothing, one value of each of its arguments, or one of those that are keys (<>, NOT IN).
enum class Pins { kNothing, kColumn, kKey };

// What a time is made of: not a part, a part of whatever length, months or longer.
enum class TimePart { kNone, kAny, kMonths };

// The other side of <, <=, > or >=, which bounds what is compared from below or above. Of a literal its number, or when
// it is none a hash of its text; a parameter by its number; else it is not known.
struct Limit {
  enum Kind { kUnknown, kNumber, kText, kParameter };
  Kind kind = kUnknown;
  bool lower = false;
  bool strict = false;
  double number = 0;
  std::uint64_t hash = 0;
  int parameter = 0;
};

// True when no more than one value, of whole numbers if it is a number, lies between the two.
bool LeavesOne(const Limit& lower, const Limit& upper);

// Values, compares and cast tell what columns are compared with (comparisons.hpp); an abstraction never looks at them.
struct Expr {
  ExprKind kind = ExprKind::kConstant;
  int range = -1;     // kColumn, kWholeRow: index into Query::ranges
  int column = -1;    // kColumn: index from 0 into the item's columns; kOutput: into the outputs
  int levels_up = 0;  // kColumn, kWholeRow: how many queries out; 0 = this one. Each subquery (FROM, WITH, expression,
                      // set operation arm) is one level.
  std::string_view function;  // kAggregate, kWindow: canonical name, schema only when it is not pg_catalog
  SubqueryUse use = SubqueryUse::kValue;
  Query* subquery = nullptr;
  ArenaList<Expr> args;
  ArenaList<Expr> order;    // ORDER BY and WITHIN GROUP inside an aggregate
  ArenaList<Expr> filter;   // FILTER (WHERE ...)
  ArenaList<Value> values;  // constants that it may yield, or with `compares` those that each of args is compared with
  bool compares = false;    // kOther that is an equality in disguise: IN list, = ANY (array), CASE x WHEN, NULLIF
  bool cast = false;        // kOther that is an explicit cast of its only argument
  bool tells = false;       // kOther: runs a function that may show its arguments by other ways than its value
  bool chooses = false;     // kOther, kAnd: some of its arguments decide which others are evaluated (CASE, OR)
  bool runs_told = false;   // `chooses`: a function is among these that may be seen to run, whatever it is given
  bool packs = false;       // kOther: makes one number or text of many (PacksValues)
  bool null_test = false;   // kOther: IS NULL, IS NOT NULL
  bool rows = false;        // kOther: a function that returns a set, so its arguments decide how many rows come
  bool varies = false;      // may give another value for equal rows: something in it is volatile, or not compiled
  Pins pins = Pins::kNothing;            // kOther: compares its arguments with what is the same for all rows
  TimePart time_part = TimePart::kNone;  // kOther: a part of its argument
  const Limit* limit = nullptr;          // kOther that is <, <=, > or >=: bounds the argument that reads a row
  Expr* next = nullptr;
};

enum class RangeKind {
  kRelation,  // relation
  kSubquery,  // derived table, view, VALUES with columns in them; subquery
  kCte,       // WITH query `cte` of the query `levels_up` levels out
  kFunction,  // function in FROM, XMLTABLE, ROWS FROM: every column comes from all of args
  kValues,    // VALUES lists: column i comes from `args` of value_columns (one kOther expr a column)
  kExcluded,  // EXCLUDED of ON CONFLICT: reveals nothing
  kUnknown    // a FROM item whose columns cannot be known
};

// One FROM item, the target of a writing statement included. Joins are not items: their ON is among the conditions.
struct Range {
  RangeKind kind = RangeKind::kRelation;
  Relation* relation = nullptr;
  Query* subquery = nullptr;
  int cte = -1;
  int levels_up = 0;     // kCte: the query whose `ctes` holds it; 0 = this query
  bool sampled = false;  // TABLESAMPLE
  ArenaList<Expr>
      args;  // kFunction: arguments; kValues: one expression a column. Their levels_up count from this query.
  Range* next = nullptr;
};

// A WITH query. It is abstracted when something uses it or when it writes.
struct Cte {
  Query* query = nullptr;  // a recursive one refers to itself as kCte
  Cte* next = nullptr;
};

// One column written by INSERT, UPDATE, MERGE; value null for DEFAULT.
struct Assignment {
  int column = -1;        // into the target relation's columns; -1: a source expression without known target column
  Expr* value = nullptr;  // INSERT ... SELECT puts kColumn of the source range here
  Assignment* next = nullptr;
};

enum class Command { kSelect, kInsert, kUpdate, kDelete, kMerge, kCopy };

// One query level. A query with `arms` is a set operation: it has only arms, order_by (kOutput), limit and ctes.
struct Query {
  Command command = Command::kSelect;
  ArenaList<Cte> ctes;
  ArenaList<Range> ranges;          // each has the index of its position
  ArenaList<Expr> outputs;          // the select list or RETURNING, without columns that only sort or group
  ArenaList<Expr> conditions;       // WHERE, every ON, MERGE ON: conjuncts may be nested in kAnd
  ArenaList<Expr> having;           // also WHEN ... AND of MERGE and WHERE of ON CONFLICT DO UPDATE: always filters
  ArenaList<Expr> group_by;         // grouping columns, also of DISTINCT ON
  ArenaList<Expr> partition_by;     // of windows
  ArenaList<Expr> order_by;         // of the query
  ArenaList<Expr> window_order_by;  // of windows
  ArenaList<Expr> told;             // what is handed to functions that tell, to be compared; each has `tells` set
  bool limit = false;               // LIMIT, FETCH or DISTINCT ON: order_by decides which rows come
  bool distinct = false;            // how many rows come depends on values of the outputs: DISTINCT, with arms anything
                                    // but UNION ALL
  bool many = false;                // an expression of this level has `rows` set
  bool tells = false;               // an expression of this level (not of a subquery) has `tells` set
  bool chooses = false;             // an expression of this level has `chooses` set
  bool calls = false;               // this level calls by name a function that is not one of the server's own, or that
                                    // does more than give a value
  int target = -1;                  // writing commands: index of the target in ranges
  ArenaList<Assignment> assignments;
  ArenaList<Query> arms;  // set operation: every arm of UNION, INTERSECT, EXCEPT
  Query* next = nullptr;  // link within `arms`
};

// One statement. A utility statement or nothing at all has no query and an empty abstraction.
struct Statement {
  Query* query = nullptr;
  bool unparsed = false;            // text that does not parse
  bool explained = false;           // by a plain EXPLAIN: it does not run, but the estimates of its plan are told
  bool limited_to_nothing = false;  // reads under LIMIT 0: it runs, but returns nothing and reads nothing
};

}  // namespace privacy_score
