/*
 * joint_rates.cpp - see joint_rates.hpp.
 */
#include "backend/rates/joint_rates.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_lock.hpp"
#include "backend/catalog/subjects.hpp"
#include "backend/rates/partition_passes.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/watching.hpp"
#include "backend/watch/live.hpp"
#include "core/entropy/entropy.hpp"

namespace privacy_score {

namespace {

// A column of the statement: a column of the home, or what some columns of another relation say of a subject.
struct JointColumn {
  Oid relation;
  const Bitmapset* attributes;
};

// The number from 1 of a column in the list, to which it is added when it is new.
int NumberColumn(List** columns, Oid relation, Bitmapset* attributes) {
  int number = 0;
  const ListCell* cell;
  foreach (cell, *columns) {
    ++number;
    const auto* column = static_cast<JointColumn*>(lfirst(cell));
    if (column->relation == relation && bms_equal(column->attributes, attributes)) return number;
  }
  auto* column = static_cast<JointColumn*>(palloc(sizeof(JointColumn)));
  *column = {relation, attributes};
  *columns = lappend(*columns, column);
  return number + 1;
}

// The columns that a set is made of, by number.
Bitmapset* ColumnsOfSet(Oid home, const List* set, List** columns) {
  Bitmapset* numbers = nullptr;
  const ListCell* cell;
  foreach (cell, set) {
    const auto* part = static_cast<RevealedRelation*>(lfirst(cell));
    if (part->relation != home) {
      numbers = bms_add_member(numbers, NumberColumn(columns, part->relation, part->attributes));
      continue;
    }
    for (int attribute = -1; (attribute = bms_next_member(part->attributes, attribute)) >= 0;)
      numbers = bms_add_member(numbers, NumberColumn(columns, home, bms_make_singleton(attribute)));
  }
  return numbers;
}

// Adds " OPERATOR(schema.=) ", by which a column of the home and one that refers to it are equal.
void AppendEquality(StringInfo sql, Oid home, AttrNumber at_home, Oid relation, AttrNumber own) {
  const Oid left = get_atttype(home, at_home);
  const Oid right = get_atttype(relation, own);
  const TypeCacheEntry* type = lookup_type_cache(left, TYPECACHE_EQ_OPR | TYPECACHE_BTREE_OPFAMILY);
  const Oid equal =
      left == right ? type->eq_opr : get_opfamily_member(type->btree_opf, left, right, BTEqualStrategyNumber);
  HeapTuple tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(equal));
  if (!HeapTupleIsValid(tuple))
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_FUNCTION),
             errmsg("subjects of \"%s\" and \"%s\" cannot be compared", get_rel_name(home), get_rel_name(relation)),
             errhint("A foreign key leads from the one to the other: give its columns one type.")));
  const auto* form = reinterpret_cast<Form_pg_operator>(GETSTRUCT(tuple));
  appendStringInfo(sql, " OPERATOR(%s.%s) ", quote_identifier(get_namespace_name(form->oprnamespace)),
                   NameStr(form->oprname));
  ReleaseSysCache(tuple);
}

// Adds ", zip AS a2, ...": columns of a relation under their numbers.
void AppendAttributes(StringInfo sql, Oid relation, const Bitmapset* attributes, bool ordered) {
  for (int attribute = -1; (attribute = bms_next_member(attributes, attribute)) >= 0;) {
    const Oid type = get_atttype(relation, static_cast<AttrNumber>(attribute));
    appendStringInfo(sql, ", %s AS a%d", GroupingExpression(type, QuotedColumn(relation, attribute), ordered),
                     attribute);
  }
}

// The columns of a relation that any of the statement's columns takes.
Bitmapset* AttributesOf(const List* columns, Oid relation) {
  Bitmapset* attributes = nullptr;
  const ListCell* cell;
  foreach (cell, columns) {
    const auto* column = static_cast<JointColumn*>(lfirst(cell));
    if (column->relation == relation) attributes = bms_add_members(attributes, column->attributes);
  }
  return attributes;
}

// Adds " LEFT JOIN (...) r2 ON ...": one row a subject, with the multiset of its tuples for each of the columns of the
// relation. A tuple is its rank among the distinct ones, so equal multisets are equal arrays.
void AppendJoin(StringInfo sql, const List* columns, const SubjectPath* path, Oid relation, int number) {
  StringInfoData keys, own_keys, sets, tuples;
  for (StringInfo text : {&keys, &own_keys, &sets, &tuples}) initStringInfo(text);
  for (int i = 0; i < path->count; ++i) {
    appendStringInfo(&keys, "%ss%d", i == 0 ? "" : ", ", i + 1);
    appendStringInfo(&own_keys, "%s%s AS s%d", i == 0 ? "" : ", ", QuotedColumn(relation, path->own[i]), i + 1);
  }
  int column_number = 0;
  const ListCell* cell;
  foreach (cell, columns) {
    const auto* column = static_cast<JointColumn*>(lfirst(cell));
    ++column_number;
    if (column->relation != relation) continue;
    appendStringInfo(&sets, ", pg_catalog.array_agg(t%d ORDER BY t%d) AS c%d", column_number, column_number,
                     column_number);
    appendStringInfoString(&tuples, ", pg_catalog.dense_rank() OVER (ORDER BY ");
    const char* separator = "";
    for (int attribute = -1; (attribute = bms_next_member(column->attributes, attribute)) >= 0; separator = ", ")
      appendStringInfo(&tuples, "%sa%d", separator, attribute);
    appendStringInfo(&tuples, ") AS t%d", column_number);
  }
  appendStringInfo(sql, " LEFT JOIN (SELECT %s%s FROM (SELECT %s%s FROM (SELECT %s", keys.data, sets.data, keys.data,
                   tuples.data, own_keys.data);
  AppendAttributes(sql, relation, AttributesOf(columns, relation), true);
  appendStringInfo(sql, " FROM %s) t) t GROUP BY %s) r%d ON ", QuotedRelation(relation), keys.data, number);
  for (int i = 0; i < path->count; ++i) {
    appendStringInfo(sql, "%sh.k%d", i == 0 ? "" : " AND ", path->at_home[i]);
    AppendEquality(sql, path->home, path->at_home[i], relation, path->own[i]);
    appendStringInfo(sql, "r%d.s%d", number, i + 1);
  }
}

// The statement that yields one row a subject, with the columns as c1, c2, ...
char* SubjectsSql(Oid home, const List* columns) {
  List* joined = NIL;
  StringInfoData sql, joins;
  initStringInfo(&sql);
  initStringInfo(&joins);
  Bitmapset* keys = nullptr;
  appendStringInfoString(&sql, "SELECT ");
  int number = 0;
  const ListCell* cell;
  foreach (cell, columns) {
    const auto* column = static_cast<JointColumn*>(lfirst(cell));
    appendStringInfoString(&sql, number++ == 0 ? "" : ", ");
    if (column->relation == home) {
      appendStringInfo(&sql, "h.a%d AS c%d", bms_singleton_member(column->attributes), number);
      continue;
    }
    appendStringInfo(&sql, "c%d", number);
    if (list_member_oid(joined, column->relation)) continue;
    joined = lappend_oid(joined, column->relation);
    const SubjectPath path = SubjectPathOf(column->relation);
    if (path.home != home || path.count == 0)
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("the subjects of \"%s\" are not at home in \"%s\"", get_rel_name(column->relation),
                      get_rel_name(home)),
               errhint("Columns of several relations go together where foreign keys lead to the subjects of one.")));
    for (int i = 0; i < path.count; ++i) keys = bms_add_member(keys, path.at_home[i]);
    AppendJoin(&joins, columns, &path, column->relation, list_length(joined));
  }
  appendStringInfoString(&sql, " FROM (SELECT NULL AS none");
  for (int key = -1; (key = bms_next_member(keys, key)) >= 0;)
    appendStringInfo(&sql, ", %s AS k%d", QuotedColumn(home, key), key);
  AppendAttributes(&sql, home, AttributesOf(columns, home), false);
  appendStringInfo(&sql, " FROM %s) h%s", QuotedRelation(home), joins.data);
  return sql.data;
}

// Judges and locks a relation of which it was found that nobody else's code decides which rows it has.
void LockForJoining(Oid relation) {
  JudgeRead(relation);
  LockForReading(relation);
  if (get_rel_relkind(relation) != RELKIND_VIEW && check_enable_rls(relation, InvalidOid, true) != RLS_ENABLED) return;
  ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                  errmsg("relation \"%s\" was changed after this statement began", get_rel_name(relation)),
                  errdetail("Its rows cannot be joined with those of others any more."), errhint("Try again.")));
}

}  // namespace

Oid ReadableJointHome(Oid relation) {
  const Oid home = JointHome(relation);
  if (!OidIsValid(home) || check_enable_rls(home, InvalidOid, true) == RLS_ENABLED ||
      check_enable_rls(relation, InvalidOid, true) == RLS_ENABLED)
    return InvalidOid;
  const SubjectPath path = SubjectPathOf(relation);
  for (int i = 0; i < path.count; ++i)
    if (!MaySelect(home, path.at_home[i])) return InvalidOid;
  return home;
}

void JointRates(Oid home, List* const* sets, int count, double* rates, SubjectFacts* subject) {
  List* columns = NIL;
  List* relations = list_make1_oid(home);
  const Size size = static_cast<Size>(count);
  auto** numbers = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * size));
  auto* facts = static_cast<PartitionFacts*>(palloc(sizeof(PartitionFacts) * size));
  auto* same = static_cast<int*>(palloc(sizeof(int) * size));
  List* pending = NIL;
  const ListCell* cell;
  for (int i = 0; i < count; ++i) {
    numbers[i] = ColumnsOfSet(home, sets[i], &columns);
    for (same[i] = 0; !bms_equal(numbers[same[i]], numbers[i]);) ++same[i];
    if (same[i] == i) pending = lappend_int(pending, i);
  }
  foreach (cell, columns)
    relations = list_append_unique_oid(relations, static_cast<JointColumn*>(lfirst(cell))->relation);
  foreach (cell, relations) LockForJoining(lfirst_oid(cell));
  foreach (cell, columns) {
    const auto* column = static_cast<JointColumn*>(lfirst(cell));
    RequireLiveColumns(column->relation, column->attributes);
  }
  PartitionReading reading = {{InvalidOid, nullptr, NIL}, RowPlace::kHeap, 0, numbers, facts};
  reading.source.query = SubjectsSql(home, columns);
  BeginProgress("discrimination rates", home, "reading subjects");
  const UncountedState uncounted = BeginUncounted(Uncounted::kReading, relations);
  CountPartitions(&reading, pending);
  EndUncounted(uncounted);
  EndProgress();
  const int64 subjects = facts[0].rows;
  double entropy = 0;
  CallCoreOrRaise([&] {
    if (subjects > 0) entropy = privacy_score::Entropy({{1, subjects}});
    for (int i = 0; i < count; ++i)
      rates[i] = privacy_score::DiscriminationRate(entropy, entropy, facts[same[i]].entropy);
  });
  if (subject != nullptr) *subject = {subjects, entropy};
}

}  // namespace privacy_score
