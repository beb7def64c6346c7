/*
 * rate_functions.cpp - discrimination rates by SQL, with the caller's rights.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/security_labels.hpp"
#include "backend/catalog/subjects.hpp"
#include "backend/rates/partitions.hpp"
#include "backend/rates/query_rates.hpp"
#include "backend/rates/relation_rates.hpp"

extern "C" {
#include "access/relation.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

#include "backend/catalog/catalog_source.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/server/array_of_arrays.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/wire.hpp"
#include "core/report/relationship_chart.hpp"
#include "core/scoring/equivalence.hpp"
#include "core/scoring/relationships.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_discrimination_rate);
PG_FUNCTION_INFO_V1(ps_combined_discrimination_rate);
PG_FUNCTION_INFO_V1(ps_attribute_risk);
PG_FUNCTION_INFO_V1(ps_attribute_set_risk);
PG_FUNCTION_INFO_V1(ps_attribute_relationships);
PG_FUNCTION_INFO_V1(ps_attribute_relationships_dot);
PG_FUNCTION_INFO_V1(ps_relationship_chart);
PG_FUNCTION_INFO_V1(ps_query_identification);
PG_FUNCTION_INFO_V1(ps_compare_queries);
}

namespace {

[[noreturn]] void RaiseNoSets() {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("attribute_sets must be an array of arrays of column names"),
                  errhint("For example: [[\"city\"], [\"city\", \"birth_year\"]].")));
}

// The sets of columns (a list of Bitmapset) that an array of arrays of names holds.
List* ColumnSetsOf(Oid relation, Jsonb* arrays) {
  List* sets = NIL;
  Bitmapset* set = nullptr;
  WalkArrays(
      arrays, jbvString,
      [&](const JsonbValue& value) {
        const char* name = pnstrdup(value.val.string.val, value.val.string.len);
        set = bms_add_member(set, RequireColumn(relation, name));
      },
      [&] {
        sets = lappend(sets, set);
        set = nullptr;
      },
      RaiseNoSets);
  return sets;
}

// The target of a rate function: argument `index`, else the declared subject.
Bitmapset* TargetArgument(FunctionCallInfo fcinfo, int index, Oid relation) {
  if (PG_ARGISNULL(index)) return SubjectOf(relation);
  Bitmapset* target = ColumnSetArgument(fcinfo, index, "target", relation);
  if (bms_is_empty(target))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("target must name at least one column"),
                    errhint("Leave target out for the declared subject.")));
  return target;
}

// The live columns of a relation as a set.
Bitmapset* LiveColumns(Oid relation) {
  Bitmapset* set = nullptr;
  ::Relation rel = relation_open(relation, AccessShareLock);
  for (int i = 0; i < RelationGetDescr(rel)->natts; ++i)
    if (!TupleDescAttr(RelationGetDescr(rel), i)->attisdropped) set = bms_add_member(set, i + 1);
  relation_close(rel, AccessShareLock);
  return set;
}

const char* ColumnName(Oid relation, int number) {
  return get_attname(relation, static_cast<AttrNumber>(number), false);
}

// Entropies of the single columns and pairs of a relation, as plain arrays in SPI's caller's context.
struct RelationEntropies {
  int count;
  const char** names;
  double* single;
  double* pair;  // pair[i * count + k], i < k
  int64 rows;
};

RelationEntropies MeasurePairs(Oid relation) {
  RelationEntropies all = {};
  Bitmapset* columns = LiveColumns(relation);
  all.count = bms_num_members(columns);
  all.names = static_cast<const char**>(palloc0(sizeof(char*) * (all.count + 1)));
  all.single = static_cast<double*>(palloc0(sizeof(double) * (all.count + 1)));
  all.pair = static_cast<double*>(palloc0(sizeof(double) * (all.count * all.count + 1)));
  auto* numbers = static_cast<int*>(palloc(sizeof(int) * (all.count + 1)));
  int at = 0;
  for (int number = -1; (number = bms_next_member(columns, number)) >= 0;) numbers[at++] = number;
  // Each column, then each pair.
  const int wanted = all.count + all.count * (all.count - 1) / 2;
  auto** sets = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(wanted + 1)));
  auto* facts = static_cast<PartitionFacts*>(palloc(sizeof(PartitionFacts) * static_cast<Size>(wanted + 1)));
  for (int i = 0, pair = all.count; i < all.count; ++i) {
    all.names[i] = ColumnName(relation, numbers[i]);
    sets[i] = bms_make_singleton(numbers[i]);
    for (int k = 0; k < i; ++k) sets[pair++] = bms_add_member(bms_make_singleton(numbers[i]), numbers[k]);
  }
  ConnectSpi();
  PartitionsOf(relation, sets, wanted, facts);
  for (int i = 0, pair = all.count; i < all.count; ++i) {
    all.single[i] = facts[i].entropy;
    all.rows = facts[i].rows;
    for (int k = 0; k < i; ++k) all.pair[k * all.count + i] = facts[pair++].entropy;
  }
  SPI_finish();
  return all;
}

// The same for core; called within CallCore.
privacy_score::AttributeEntropies EntropiesOf(const RelationEntropies* all) {
  privacy_score::AttributeEntropies entropies;
  const auto count = static_cast<std::size_t>(all->count);
  entropies.rows = all->rows;
  entropies.pair.assign(count, std::vector<double>(count));
  for (std::size_t i = 0; i < count; ++i) {
    entropies.names.emplace_back(all->names[i]);
    entropies.single.push_back(all->single[i]);
    for (std::size_t k = 0; k < i; ++k) entropies.pair[i][k] = entropies.pair[k][i] = all->pair[k * count + i];
  }
  return entropies;
}

}  // namespace

// discrimination_rate(relation, attribute, target)
Datum ps_discrimination_rate(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  Bitmapset* attribute = bms_make_singleton(ColumnArgument(fcinfo, 1, "attribute", relation));
  Bitmapset* target = TargetArgument(fcinfo, 2, relation);
  ConnectSpi();
  const double rate = RelationRate(relation, attribute, target);
  SPI_finish();
  PG_RETURN_FLOAT8(rate);
}

// combined_discrimination_rate(relation, attributes, target)
Datum ps_combined_discrimination_rate(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  Bitmapset* attributes = ColumnSetArgument(fcinfo, 1, "attributes", relation);
  Bitmapset* target = TargetArgument(fcinfo, 2, relation);
  ConnectSpi();
  const double rate = RelationRate(relation, attributes, target);
  SPI_finish();
  PG_RETURN_FLOAT8(rate);
}

// attribute_risk(relation)
Datum ps_attribute_risk(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  Bitmapset* target = SubjectOf(relation);
  Bitmapset* columns = LiveColumns(relation);
  InitMaterializedSRF(fcinfo, 0);
  const int count = bms_num_members(columns);
  auto** sets = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(count + 1)));
  auto* facts = static_cast<PartitionFacts*>(palloc(sizeof(PartitionFacts) * static_cast<Size>(count + 1)));
  auto* rates = static_cast<double*>(palloc(sizeof(double) * static_cast<Size>(count + 1)));
  int at = 0;
  for (int number = -1; (number = bms_next_member(columns, number)) >= 0;) sets[at++] = bms_make_singleton(number);
  ConnectSpi();
  if (count > 0) RelationRates(relation, sets, count, target, rates, nullptr, facts);
  at = 0;
  for (int number = -1; (number = bms_next_member(columns, number)) >= 0; ++at) {
    const char* label = ColumnLabel(relation, static_cast<AttrNumber>(number));
    NameData name;
    namestrcpy(&name, ColumnName(relation, number));
    Datum values[6] = {NameGetDatum(&name),
                       label != nullptr ? CStringGetTextDatum(label) : Datum(0),
                       Int64GetDatum(facts[at].classes),
                       Float8GetDatum(facts[at].entropy),
                       Float8GetDatum(rates[at]),
                       Int64GetDatum(facts[at].uniques)};
    bool nulls[6] = {false, label == nullptr, false, false, false, false};
    PutResultRow(fcinfo, values, nulls);
  }
  SPI_finish();
  return Datum(0);
}

// attribute_set_risk(relation, attribute_sets, target)
Datum ps_attribute_set_risk(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  RequireArgument(fcinfo, 1, "attribute_sets");
  const List* wanted = ColumnSetsOf(relation, PG_GETARG_JSONB_P(1));
  Bitmapset* target = TargetArgument(fcinfo, 2, relation);
  InitMaterializedSRF(fcinfo, 0);
  const int count = list_length(wanted);
  if (count == 0) return Datum(0);
  auto** sets = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(count)));
  auto* facts = static_cast<PartitionFacts*>(palloc(sizeof(PartitionFacts) * static_cast<Size>(count)));
  auto* rates = static_cast<double*>(palloc(sizeof(double) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) sets[i] = static_cast<const Bitmapset*>(list_nth(wanted, i));
  ConnectSpi();
  RelationRates(relation, sets, count, target, rates, nullptr, facts);
  SPI_finish();
  auto* names = static_cast<Datum*>(palloc(sizeof(Datum) * MaxAttrNumber));
  for (int i = 0; i < count; ++i) {
    int columns = 0;
    for (int number = -1; (number = bms_next_member(sets[i], number)) >= 0;) {
      auto* name = static_cast<Name>(palloc(NAMEDATALEN));
      namestrcpy(name, ColumnName(relation, number));
      names[columns++] = NameGetDatum(name);
    }
    Datum values[5] = {PointerGetDatum(construct_array(names, columns, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR)),
                       Int64GetDatum(facts[i].classes), Float8GetDatum(facts[i].entropy), Float8GetDatum(rates[i]),
                       Int64GetDatum(facts[i].uniques)};
    bool nulls[5] = {};
    PutResultRow(fcinfo, values, nulls);
  }
  return Datum(0);
}

// attribute_relationships(relation, tolerance)
Datum ps_attribute_relationships(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  const double tolerance = PG_GETARG_FLOAT8(1);
  const RelationEntropies all = MeasurePairs(relation);
  auto* rows = NewCoreHolder<privacy_score::ResultTable>(CurrentMemoryContext);
  CallCoreOrRaise([&] {
    rows->Reset(new privacy_score::ResultTable(privacy_score::AttributeRelationships(EntropiesOf(&all), tolerance)));
  });
  PutResult(fcinfo, *rows->object);
  return Datum(0);
}

// attribute_relationships_dot(relation)
Datum ps_attribute_relationships_dot(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  const char* name = CanonicalRelationName(relation);
  const RelationEntropies all = MeasurePairs(relation);
  auto* text = NewCoreHolder<std::string>(CurrentMemoryContext);
  CallCoreOrRaise([&] { text->Reset(new std::string(privacy_score::RelationshipsDot(EntropiesOf(&all), name))); });
  PG_RETURN_DATUM(TextDatum(*text->object));
}

// relationship_chart(relation)
Datum ps_relationship_chart(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  const char* name = Utf8Name(CanonicalRelationName(relation));
  const RelationEntropies all = MeasurePairs(relation);
  for (int i = 0; i < all.count; ++i) all.names[i] = Utf8Name(all.names[i]);
  auto* text = NewCoreHolder<std::string>(CurrentMemoryContext);
  CallCoreOrRaise(
      [&] { text->Reset(new std::string(RelationshipChart(name, DiagramOf(EntropiesOf(&all)), Placement::kAlone))); });
  PG_RETURN_DATUM(TextDatum(*text->object));
}

// query_identification(sql)
Datum ps_query_identification(PG_FUNCTION_ARGS) { PG_RETURN_FLOAT8(QueryRate(RevealedByText(PG_GETARG_TEXT_PP(0)))); }

// compare_queries(sql1, sql2): the rates shown are those of the whole statements.
Datum ps_compare_queries(PG_FUNCTION_ARGS) {
  List* revealed1 = RevealedByText(PG_GETARG_TEXT_PP(0));
  List* revealed2 = RevealedByText(PG_GETARG_TEXT_PP(1));
  const QueryComparison comparison = CompareRevealed(revealed1, revealed2);
  auto* rows = NewCoreObject<privacy_score::ResultTable>();
  CallCoreOrRaise([&] {
    rows->rows.push_back({privacy_score::TextOf(comparison.order), privacy_score::TextOf(comparison.rate1),
                          privacy_score::TextOf(comparison.rate2), privacy_score::TextOf(comparison.both)});
  });
  PutResult(fcinfo, *rows);
  return Datum(0);
}

}  // namespace privacy_score
