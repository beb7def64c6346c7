/*
 * loss_functions.cpp - SQL functions for the entropy that records lose by a released statistic.
 */
extern "C" {
#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
}

#include <optional>

#include "backend/catalog/function_arguments.hpp"
#include "backend/catalog/measure_arguments.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/relation_arguments.hpp"
#include "backend/server/compat.hpp"
#include "backend/server/wire.hpp"
#include "core/loss/binary_loss.hpp"
#include "core/loss/privacy_loss.hpp"

namespace privacy_score {

extern "C" {
PG_FUNCTION_INFO_V1(ps_privacy_loss);
PG_FUNCTION_INFO_V1(ps_privacy_loss_detail);
PG_FUNCTION_INFO_V1(ps_expected_privacy_loss);
PG_FUNCTION_INFO_V1(ps_release_privacy_loss);
PG_FUNCTION_INFO_V1(ps_binary_privacy_loss);
PG_FUNCTION_INFO_V1(ps_expected_binary_privacy_loss);
}

namespace ps = privacy_score;

namespace {

// Memory for one call: the loss, and the records of a column.
struct LossWork {
  std::optional<ps::PrivacyLoss> loss;
  std::vector<ps::ValueCount> database;
};

// The loss of a release of domain, records and statistic, the first three arguments.
LossWork* ReadLoss(FunctionCallInfo fcinfo, int prior_argument) {
  const DecimalTexts domain = DecimalsArgument(fcinfo, 0, "domain");
  RequireArgument(fcinfo, 1, "records");
  const int64 records = PG_GETARG_INT32(1);
  RequireArgument(fcinfo, 2, "statistic");
  const char* statistic = text_to_cstring(PG_GETARG_TEXT_PP(2));
  const NumberRows prior = NumberRowsArgument(fcinfo, prior_argument, "prior", 2);
  auto* work = NewCoreObject<LossWork>();
  CallCoreOrRaise([&] {
    const ps::ReleaseStatistic known = ps::ReleaseStatisticOf(statistic);
    work->loss.emplace(ps::RecordPriors(DecimalsOf(domain, "domain"), records, PriorsOf(prior)), known);
  });
  return work;
}

// Runs `step` with the scale of the noise in an argument, until it is done.
template <typename Step>
void RunWithNoise(FunctionCallInfo fcinfo, int argument, Step step) {
  const bool noisy = !PG_ARGISNULL(argument);
  const double scale = noisy ? PG_GETARG_FLOAT8(argument) : 0;
  RunPausing([&](auto interrupted) {
    return step(noisy ? std::optional<double>(scale) : std::nullopt, ControlOf(interrupted));
  });
}

// The release of privacy_loss and privacy_loss_detail: false when it is impossible.
bool ReadLossRelease(FunctionCallInfo fcinfo, LossWork* work) {
  RequireArgument(fcinfo, 3, "released");
  // As it is written: the zeros at its end tell how far an average is rounded.
  const char* released = NumericArgument(fcinfo, 3);
  RunWithNoise(fcinfo, 5, [&](std::optional<double> scale, const ps::WorkControl& control) {
    return work->loss->Release(ps::ParseDecimal("released", released), scale, control);
  });
  return work->loss->possible();
}

void PutLoss(FunctionCallInfo fcinfo, int64 record, const ps::RecordLoss& loss) {
  Datum values[5] = {Int32GetDatum(static_cast<int32>(record + 1)), Float8GetDatum(loss.entropy_before),
                     Float8GetDatum(loss.entropy_after), Float8GetDatum(loss.loss), Float8GetDatum(loss.percent)};
  bool nulls[5] = {};
  PutResultRow(fcinfo, values, nulls);
}

// Reads the values of a column and how often each occurs; NULL is no value of a statistic. SPI must be connected.
int64 ReadColumn(Oid relation, AttrNumber column, LossWork* work) {
  const char* name = QuotedColumn(relation, column);
  const char* sql =
      psprintf("SELECT %s::pg_catalog.numeric, pg_catalog.count(*) FROM %s WHERE %s IS NOT NULL GROUP BY 1", name,
               QuotedRelation(relation), name);
  if (SPI_execute(sql, true, 0) != SPI_OK_SELECT) elog(ERROR, "could not read the values of a column");
  const SPITupleTable* table = SPI_tuptable;
  int64 records = 0;
  for (uint64 row = 0; row < table->numvals; ++row) {
    bool null;
    const int64 count = DatumGetInt64(SPI_getbinval(table->vals[row], table->tupdesc, 2, &null));
    char* value = SPI_getvalue(table->vals[row], table->tupdesc, 1);
    CallCoreOrRaise([&] { work->database.push_back({ps::ParseDecimal("a value of the column", value), count}); });
    pfree(value);
    records += count;
  }
  SPI_freetuptable(SPI_tuptable);
  return records;
}

// Priors of the records of a column: given, or equal for all values of the domain, or the shares that values have.
ps::RecordPriors PriorsOfColumn(const LossWork* work, int64 records, const DecimalTexts* domain,
                                const NumberRows& prior) {
  if (domain != nullptr) return ps::RecordPriors(DecimalsOf(*domain, "domain"), records, PriorsOf(prior));
  std::vector<ps::Decimal> values;
  ps::PriorRows shares;
  for (const ps::ValueCount& entry : work->database) {
    values.push_back(entry.value);
    shares.probabilities.push_back(static_cast<double>(entry.count) / static_cast<double>(records));
  }
  shares.rows = 1;
  shares.width = values.size();
  return ps::RecordPriors(values, records, shares);
}

}  // namespace

// privacy_loss(domain, records, statistic, released, prior, noise_scale)
Datum ps_privacy_loss(PG_FUNCTION_ARGS) {
  LossWork* work = ReadLoss(fcinfo, 4);
  if (!ReadLossRelease(fcinfo, work)) PG_RETURN_NULL();
  PG_RETURN_FLOAT8(work->loss->LossOf(work->loss->GreatestLoser()).loss);
}

// privacy_loss_detail(domain, records, statistic, released, prior, noise_scale)
Datum ps_privacy_loss_detail(PG_FUNCTION_ARGS) {
  LossWork* work = ReadLoss(fcinfo, 4);
  InitMaterializedSRF(fcinfo, 0);
  if (!ReadLossRelease(fcinfo, work)) return Datum(0);
  for (int64 record = 0; record < work->loss->priors().records(); ++record) {
    CHECK_FOR_INTERRUPTS();
    PutLoss(fcinfo, record, work->loss->LossOf(record));
  }
  return Datum(0);
}

// expected_privacy_loss(domain, records, statistic, prior)
Datum ps_expected_privacy_loss(PG_FUNCTION_ARGS) {
  LossWork* work = ReadLoss(fcinfo, 3);
  RunPausing([&](auto interrupted) { return work->loss->Expect(ControlOf(interrupted)); });
  PG_RETURN_FLOAT8(work->loss->expected());
}

// release_privacy_loss(relation, attribute, statistic, noise_scale, domain, prior)
Datum ps_release_privacy_loss(PG_FUNCTION_ARGS) {
  const Oid relation = RelationArgument(fcinfo, 0, "relation");
  const AttrNumber column = ColumnArgument(fcinfo, 1, "attribute", relation);
  RequireNumericColumn(relation, column);
  RequireArgument(fcinfo, 2, "statistic");
  const char* statistic = text_to_cstring(PG_GETARG_TEXT_PP(2));
  const bool listed = !PG_ARGISNULL(4);
  DecimalTexts domain = {};
  if (listed) domain = DecimalsArgument(fcinfo, 4, "domain");
  const NumberRows prior = NumberRowsArgument(fcinfo, 5, "prior", 1);
  if (prior.rows > 0 && !listed)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("prior needs domain"),
                    errhint("List the values whose probabilities the prior has, in the same order.")));
  InitMaterializedSRF(fcinfo, 0);
  auto* work = NewCoreObject<LossWork>();
  ConnectSpi();
  const int64 records = ReadColumn(relation, column, work);
  SPI_finish();
  CallCoreOrRaise([&] {
    const ps::ReleaseStatistic known = ps::ReleaseStatisticOf(statistic);
    if (records > 0) work->loss.emplace(PriorsOfColumn(work, records, listed ? &domain : nullptr, prior), known);
  });
  if (records == 0) return Datum(0);
  RunWithNoise(fcinfo, 3, [&](std::optional<double> scale, const ps::WorkControl& control) {
    return work->loss->ReleaseOf(work->database, scale, control);
  });
  PutLoss(fcinfo, 0, work->loss->LossOf(0));
  return Datum(0);
}

// binary_privacy_loss(n, k)
Datum ps_binary_privacy_loss(PG_FUNCTION_ARGS) {
  const int64 n = PG_GETARG_INT64(0);
  const int64 k = PG_GETARG_INT64(1);
  double loss = 0;
  CallCoreOrRaise([&] { loss = ps::BinaryLoss(n, k); });
  PG_RETURN_FLOAT8(loss);
}

// expected_binary_privacy_loss(n)
Datum ps_expected_binary_privacy_loss(PG_FUNCTION_ARGS) {
  const int64 n = PG_GETARG_INT64(0);
  double loss = 0;
  CallCoreOrRaise([&] { loss = ps::ExpectedBinaryLoss(n); });
  PG_RETURN_FLOAT8(loss);
}

}  // namespace privacy_score
