/*
 * analyze_functions.cpp - rates on demand.
 */
#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/catalog/relation_concerns.hpp"
#include "backend/rates/model_wire.hpp"
#include "backend/rates/stored_rates.hpp"
#include "backend/server/settings.hpp"
#include "backend/state/internal.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/progress.hpp"
#include "backend/state/rate_requests.hpp"
#include "backend/state/watching.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/installed_extension.hpp"
#include "core/base/wire_section.hpp"
#include "core/scoring/aggregates.hpp"
#include "core/scoring/rates.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_analyze_relation);
}

namespace {

using privacy_score::MissingRate;

bool Concerns(const MissingRate& rate, std::string_view relation) {
  for (std::string_view rest = rate.attributes; !rest.empty();)
    if (privacy_score::RelationOfColumn(TakeAttribute(&rest)) == relation) return true;
  return false;
}

WIRE_SECTION(RateSetSection, kRelationName, kAttributes);

// The sets to compute: the given columns together, or without any each column, what is stored, and what the statements
// of baselines and history reveal.
std::vector<MissingRate>* SetsToAnalyze(Oid relation, const char* columns) {
  const char* args[] = {CanonicalRelationName(relation), TextOfOid(relation), columns};
  StringInfoData wire;
  initStringInfo(&wire);
  InternalScope scope;
  EnterInternal(&scope);
  AppendSection<RateSetSection>(
      &wire,
      "SELECT r.relation_name, pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) AS attributes "
      "FROM privacy_score.rate r WHERE $1 = ANY (r.sources) AND $3 IS NULL "
      "UNION SELECT a.relation_name, a.name FROM privacy_score.model_attribute a "
      "WHERE a.relation = $2::pg_catalog.oid AND $3 IS NULL "
      "UNION SELECT a.relation_name, pg_catalog.string_agg(a.name, pg_catalog.chr(1) ORDER BY a.name COLLATE "
      "\"C\") FROM privacy_score.model_attribute a WHERE a.relation = $2::pg_catalog.oid "
      "AND a.attname = ANY ($3::pg_catalog.name[]) GROUP BY 1",
      3, args);
  if (columns == nullptr) AppendModel(&wire, ModelScope::kAll, nullptr);
  LeaveInternal(&scope);
  auto* sets = NewCoreObject<std::vector<MissingRate>>();
  const privacy_score::ScoreSettings settings = ScoreSettingsInForce();
  CallCoreOrRaise([&] {
    privacy_score::WireReader reader(WireBytes(&wire));
    for (const Row& row : reader.Section(RateSetSection::kColumns))
      sets->push_back(
          {std::string(*row[RateSetSection::kRelationName]), std::string(*row[RateSetSection::kAttributes])});
    if (columns != nullptr) return;
    const auto model = privacy_score::Model::Read(reader);
    for (MissingRate& rate : privacy_score::MissingOfStatements(model, settings))
      if (Concerns(rate, args[0])) sets->push_back(std::move(rate));
  });
  return sets;
}

}  // namespace

// analyze_relation(relation, attributes)
Datum ps_analyze_relation(PG_FUNCTION_ARGS) {
  RequirePrimary("analyze_relation");
  RequireArgument(fcinfo, 0, "relation");
  const Oid relation = PG_GETARG_OID(0);
  RequireOwner(relation);
  const char* columns = nullptr;
  if (!PG_ARGISNULL(1)) {
    (void)ColumnSetArgument(fcinfo, 1, "attributes", relation);
    columns = LiteralOfArray(PG_GETARG_DATUM(1));
  }
  const std::vector<MissingRate>* sets = SetsToAnalyze(relation, columns);
  if (sets->empty())
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("relation \"%s\" is not protected, or has none of these columns", get_rel_name(relation)),
                    errhint("Declare it with privacy_score.protect().")));
  WantedRate* wanted = WantedFrom(sets);
  const int count = static_cast<int>(sets->size());
  ComputedRates computed;
  InitComputedRates(&computed);
  BeginProgress("analyze_relation", relation, "computing rates");
  if (columns != nullptr)
    ComputeRates(&computed, wanted, count);
  else
    ComputeRatesOrWarn(&computed, wanted, count);
  EndProgress();
  ConcernRelation(relation);
  NoteModelChange();
  PG_RETURN_INT32(computed.count);
}

}  // namespace privacy_score
