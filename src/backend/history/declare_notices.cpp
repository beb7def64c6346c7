/*
 * declare_notices.cpp - see declare_notices.hpp.
 */
#include "backend/history/declare_notices.hpp"

extern "C" {
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

// A foreign key of relation $1 that leads to a protected one and has other columns than the subject of $1: its columns
// and that relation, as SQL takes them.
const char* const kLeadingKey =
    "FROM pg_catalog.pg_constraint f JOIN privacy_score.protected_current p ON p.relation = f.confrelid "
    "CROSS JOIN LATERAL (SELECT pg_catalog.array_agg(a.attname ORDER BY k.n) AS names FROM pg_catalog.unnest(f.conkey) "
    "WITH ORDINALITY k(number, n) JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.number) c "
    "WHERE f.conrelid = $1::pg_catalog.oid AND f.contype = 'f' AND f.confrelid <> f.conrelid "
    "AND NOT f.conkey <@ privacy_score.subject_attributes(f.conrelid) ORDER BY f.conname LIMIT 1";

}  // namespace

void NoteSubject(Oid relation) {
  const char* args[] = {TextOfOid(relation)};
  const char* name = get_rel_name(relation);
  const char* leading = InternalValue(psprintf("SELECT c.names::text %s", kLeadingKey), 1, args);
  if (leading != nullptr) {
    const char* person =
        InternalValue(psprintf("SELECT p.relation::pg_catalog.regclass::text %s", kLeadingKey), 1, args);
    ereport(
        NOTICE,
        (errmsg("rows of \"%s\" are not taken for those of the persons in %s", name, person),
         errdetail("A foreign key leads there, but the subject of \"%s\" is its own.", name),
         errhint("If the rows of one person belong together: SELECT privacy_score.protect(%s, %s);",
                 quote_literal_cstr(quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name)),
                 quote_literal_cstr(leading))));
    return;
  }
  const char* keys =
      InternalValue("SELECT pg_catalog.cardinality(privacy_score.subject_attributes($1::pg_catalog.oid))", 1, args);
  if (keys == nullptr || strcmp(keys, "0") != 0) return;
  ereport(NOTICE,
          (errmsg("each row of \"%s\" is taken for a person of its own", name), errdetail("It has no primary key."),
           errhint("Where a person has several rows, give the columns that say whose they are: "
                   "privacy_score.protect(relation, '{column}').")));
}

}  // namespace privacy_score
