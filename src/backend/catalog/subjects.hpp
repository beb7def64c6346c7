/*
 * subjects.hpp - whose rows a relation has: the columns of its subject, and where that is at home.
 *
 * A subject is declared, else the primary key, else the row. Foreign keys lead from its columns to the relation where
 * it is at home: relations with the same home and columns there speak of the same persons. Read by scans of catalogs
 * and of our own table instead of SPI: a model asks this of each of thousands of relations, and every session of its
 * first statement.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "access/attnum.h"
#include "nodes/bitmapset.h"
}

namespace privacy_score {

// The columns of a relation's subject, ascending, and those at home that they refer to, in the same order. None where
// each row is a subject.
struct SubjectPath {
  Oid home;
  int count;
  AttrNumber* own;
  AttrNumber* at_home;
};
SubjectPath SubjectPathOf(Oid relation);

// The columns of a relation's subject, as attribute numbers; null where each row is a subject.
Bitmapset* SubjectOf(Oid relation);

// Relations with equal text share a subject.
char* SubjectHome(const SubjectPath& path);

// Where the subjects of a relation are at home, when rows of relations with that home can be joined there, else
// InvalidOid: a table without children, or a partitioned one, with one row a subject, of the same owner, since rows are
// read as that, and with keys that can be compared.
Oid JointHome(Oid relation, const SubjectPath& path);
inline Oid JointHome(Oid relation) { return JointHome(relation, SubjectPathOf(relation)); }

}  // namespace privacy_score
