/*
 * release_shape.hpp - which columns of a pair of published tables are what, whoever made them.
 *
 * The first table has a column bid and quasi-identifiers. The second has a column bid, the sensitive column, and
 * perhaps an integer column count that says how often the value is in the bucket.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
}

#include "backend/catalog/relation_arguments.hpp"

namespace privacy_score {

struct ReleaseShape {
  Oid qit;
  Oid st;
  AttrNumber qit_bid;
  ColumnList quasi;
  AttrNumber st_bid;
  AttrNumber value;
  AttrNumber count;      // InvalidAttrNumber when each row counts once
  const char* qit_name;  // qualified, quoted
  const char* st_name;
};

// Reads the shape of two relations, and locks them against changes. Raises 42703 and 42P16 when they are not of that
// form.
ReleaseShape ShapeOfRelease(Oid qit, Oid st);

// A column of one relation as it is compared with one of another: cast to that one's type where types differ. The
// expression begins with `alias` and a dot.
const char* ColumnAs(Oid relation, AttrNumber column, Oid other, AttrNumber other_column, const char* alias);

// SELECT quasi-identifiers, bucket FROM qit.
char* ReleaseRecordsSql(const ReleaseShape* shape);

// SELECT quasi-identifiers, sensitive value FROM source, as the published tables have them.
char* ReleaseSourceSql(const ReleaseShape* shape, Oid source, const ColumnList* source_columns);

// The columns of a source that a release is of, by their names: as many as quasi.count, then the sensitive one. Raises
// 42703.
ColumnList ColumnsOfSource(const ReleaseShape* shape, Oid source);

}  // namespace privacy_score
