/*
 * described.hpp - which columns of protected relations a text reads when it reads the server's statistics.
 *
 * As for live statements (backend/query/described_columns.hpp): narrowed by what the conditions say for certain,
 * conjuncts at the top of WHERE or of ON of inner joins that compare schema, table, column, starelid or staattnum by =
 * or IN with literals, up through subqueries in FROM that only pass rows on. Everything else leaves all columns.
 */
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/statement/statement.hpp"
#include "sqlparse/catalog.hpp"
#include "sqlparse/tree.hpp"

namespace privacy_score {

// A catalog or view of statistics.
struct Statistics {
  std::string_view name;
  bool of_role;     // shows what the role may read only
  bool of_columns;  // a row a column; else of a table
  bool always;      // showing a row at all says something
};

// Null for the name of anything else.
const Statistics* StatisticsOf(std::string_view name);

// Of one statement: what the resolver notes while it goes, and the columns in the end.
class DescribedReads {
 public:
  DescribedReads(const Catalog& catalog, Arena& arena) : catalog_(catalog), arena_(arena) {}

  // Forgets what was noted of the statement before.
  void Clear();

  // Whether there is anything to note.
  bool wanted() const { return !catalog_.described().empty(); }

  // A range that reads statistics, with a Relation of its own.
  void NoteRange(Query* query, int range, const Statistics* statistics, Relation* relation);

  // A comparison of its first argument with literals; ON of an outer join; a query that stands for a range of another.
  void NoteLiterals(const Expr* comparison, std::vector<std::string> literals);
  void NoteOuterJoin(const Expr* condition) { outer_.insert(condition); }
  void NoteSubquery(const Query* query, Query* parent, int range) { places_[query] = {parent, range}; }

  // Gives each range what it describes.
  void Finish();

 private:
  enum class Names { kNothing, kSchema, kTable, kColumn, kRelation, kNumber };
  struct Test {
    Names names;
    const std::vector<std::string>* values;
  };
  struct Place {
    Query* query;
    int range;
  };
  struct Read {
    Place place;
    const Statistics* statistics;
    Relation* relation;
  };

  static Names NamedBy(std::string_view column);
  void AddConjuncts(const Expr* condition, int range, const std::vector<Names>& columns,
                    std::vector<Test>* tests) const;
  std::vector<Test> TestsOf(const Read& read) const;
  static bool Passes(const DescribedColumn& column, bool of_columns, const std::vector<Test>& tests);
  void Describe(const Read& read);

  const Catalog& catalog_;
  Arena& arena_;
  std::vector<Read> reads_;
  std::unordered_map<const Expr*, std::vector<std::string>> literals_;
  std::unordered_set<const Expr*> outer_;
  std::unordered_map<const Query*, Place> places_;
};

}  // namespace privacy_score
