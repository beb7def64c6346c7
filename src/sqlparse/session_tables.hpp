/*
 * session_tables.hpp - the temporary tables of a session, as far as the texts that it sent tell of them.
 *
 * The server's catalogs know a temporary table only in the session that has it. Who reads texts of other sessions, as
 * from a log, keeps one of these for each and hands it to AnalyseText with each of the session's texts in turn, which
 * adds what CREATE TEMP TABLE, CREATE TEMP TABLE AS and SELECT INTO make and takes away what DROP TABLE and DISCARD
 * do. A text does not tell whether its statement failed or was rolled back, so a name that the catalogs know is theirs:
 * nothing that is in the database hides behind a table that perhaps never was.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "sqlparse/catalog.hpp"

namespace privacy_score {

class SessionTables {
 public:
  // Null when the session has no such table. The pointer holds until the table is removed.
  const CatalogRelation* Find(std::string_view name) const;

  // Adds a table of that name (not quoted) unless there is one, as the server would. Of too many the oldest goes.
  void Add(std::string_view name, CatalogRelation table);
  void Remove(std::string_view name);
  void Clear();

  // Whether a text, in any case of letters, has the name of one of them in it.
  bool MayBeNamedIn(std::string_view sql) const;

  // Grows with each text that adds or removes tables, be it in vain: what such a text does is done again when it comes
  // again.
  std::uint64_t changes() const { return changes_; }

 private:
  std::map<std::string, CatalogRelation, std::less<>> tables_;
  std::deque<std::string> order_;  // the oldest first
  std::uint64_t changes_ = 0;
};

}  // namespace privacy_score
