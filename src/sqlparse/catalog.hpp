/*
 * catalog.hpp - what the resolver knows of the database: plain data, looked up beforehand.
 *
 * The resolver never calls the server, whose functions may longjmp. It works in rounds instead: AnalyseText answers
 * with the names that it misses; the caller looks them up, feeds the answers and asks again, until nothing is missing
 * (views bring new names with their text) or kMaxCatalogRounds have passed.
 *
 * Wire format of one feeding, these sections in this order (rows.hpp), of which any may be empty:
 *
 * 1. relations, 8 columns: requested_schema (as asked; '' or NULL when none was written), requested_name (as asked, not
 *    quoted), canonical (qualified and quoted; of a partition its root; temporary schemas as pg_temp; NULL: does not
 *    exist), kind ('v' view to be replaced by its query; all else 't'), catalog (t, f: statement.hpp), own (t, f),
 *    view_definition (kind 'v': pg_get_viewdef with all names qualified but those of pg_catalog and temporary
 *    ones; else NULL), protected (t, f: by protect()). Views of a catalog schema are kind 't' with catalog = t. The
 *    requested schema pg_temp means the session's own.
 * 2. columns, 2 columns: canonical, column (quoted); live columns in order, of a partition those of the root; one row
 *    for each canonical and column, however many requested names lead there.
 * 3. keys, 3 columns: canonical, key number (any integer, one for each key; below 0 a foreign key), column (quoted, in
 *    key order).
 *    Unique indexes that hold for every row at any time, those of constraints and others.
 * 4. functions, 5 columns: requested_schema, requested_name, requested_arguments (as asked), canonical (quoted; schema
 *    only when it is not pg_catalog; NULL: does not exist), kind ('a' aggregate, 'w' window function, 't' a function
 *    that may show its arguments by other ways than its value: Expr::tells, 'q' the same of one in SQL that came with
 *    the server, 's' one that gives several rows, 'f' other). Of several functions of the name that accept so many
 * arguments: an aggregate before others.
 * 5. function_columns, 4 columns: requested_schema, requested_name, requested_arguments, column (not quoted, in order):
 *    the columns of a result in FROM, from OUT parameters, RETURNS TABLE or a composite type; none for a scalar result
 *    and for record.
 * 6. origins, 5 columns: canonical, column (quoted), origin (canonical name of a relation), origin_column (quoted),
 *    inherited (t, f): the columns that are copies, and of what; inherited: what a read without ONLY reads besides. May
 *    be left out.
 * 7. described, 8 columns: schema, table, oid, column (not quoted; '' and number 0: any), number, readable (t, f: by
 * the role whose text it is), origin (canonical name of a relation), origin_column (quoted): what the server's
 * statistics describe. Wanted when a catalog or view of statistics (described.hpp) was asked for; may be left out.
 *
 * Every name that was asked must be answered, by NULL if it does not exist. Later feedings replace earlier ones.
 */
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/rows.hpp"

namespace privacy_score {

constexpr int kMaxCatalogRounds = 64;

// A name that the caller should look up. Names are as the parser folds them, not quoted.
struct MissingName {
  enum class Kind { kRelation, kFunction };
  Kind kind = Kind::kRelation;
  std::string schema;  // empty: by search_path
  std::string name;
  int arguments = 0;  // of a function

  friend bool operator==(const MissingName& a, const MissingName& b) {
    return a.kind == b.kind && a.schema == b.schema && a.name == b.name && a.arguments == b.arguments;
  }
  friend bool operator<(const MissingName& a, const MissingName& b) {
    return std::tie(a.kind, a.schema, a.name, a.arguments) < std::tie(b.kind, b.schema, b.name, b.arguments);
  }
};

// A column of a copy comes from a column of another relation.
struct CatalogOrigin {
  int column = -1;  // index into the copy's columns
  std::string relation, name;
  bool inherited = false;  // not read with ONLY
};

struct CatalogRelation {
  std::string canonical;
  bool is_view = false;
  bool catalog = false;
  bool own = false;
  bool is_protected = false;
  std::string view_definition;
  std::vector<std::string> columns;          // quoted
  std::vector<std::string> raw_names;        // of the columns
  std::vector<std::vector<int>> keys;        // indexes into columns
  std::vector<std::vector<int>> references;  // likewise, of foreign keys
  std::vector<CatalogOrigin> origins;
};

// A column that the server's statistics describe.
struct DescribedColumn {
  std::string schema, table, oid, column, number;
  bool readable = false;
  std::string relation, name;  // what it is a column of
};

struct CatalogFunction {
  bool exists = false;
  std::string canonical;
  char kind = 'f';
  std::vector<std::string> columns;  // raw names
};

class Catalog {
 public:
  Catalog() = default;
  Catalog(const Catalog&) = delete;  // requested_ points into relations_
  Catalog& operator=(const Catalog&) = delete;

  // Reads one feeding. Throws Error XX001 when the buffer is not as described above.
  void Feed(WireReader& reader);

  // Null: never answered. Points to null: answered with "does not exist".
  const CatalogRelation* const* FindRelation(std::string_view schema, std::string_view name) const;

  const std::vector<DescribedColumn>& described() const { return described_; }

  // Null: never answered.
  const CatalogFunction* FindFunction(std::string_view schema, std::string_view name, int arguments) const;

 private:
  using FunctionKey = std::tuple<std::string, std::string, int>;

  std::map<std::pair<std::string, std::string>, const CatalogRelation*> requested_;
  std::map<std::string, CatalogRelation> relations_;  // by canonical name; nodes never move
  std::map<FunctionKey, CatalogFunction> functions_;
  std::vector<DescribedColumn> described_;
};

}  // namespace privacy_score
