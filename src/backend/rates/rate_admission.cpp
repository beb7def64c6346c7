/*
 * rate_admission.cpp - see rate_admission.hpp.
 */
#include "backend/rates/rate_admission.hpp"

extern "C" {
#include "access/xlog.h"
#include "executor/spi.h"
}

#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

namespace {

constexpr int64 kLeastPeriod = 10 * USECS_PER_SEC;

}  // namespace

void FollowPeriods(DatabaseSlot* slot) {
  if (RecoveryInProgress()) return;
  const char* args[] = {TextOfInteger(slot->rates_period)};
  char* counts = InternalValue(
      "SELECT pg_catalog.count(*) || ' ' || pg_catalog.count(*) FILTER (WHERE pg_catalog.cardinality(attributes) = 1) "
      "|| ' ' || pg_catalog.count(*) FILTER (WHERE pg_catalog.cardinality(attributes) > 1 AND period = " SQL_MOMENT(
          "$1") ") FROM privacy_score.rate",
      1, args);
  const int64 stored = strtoll(counts, &counts, 10);
  const int64 single = strtoll(counts, &counts, 10);
  const int64 marked = strtoll(counts, nullptr, 10);
  const int64 most = ps_settings.max_rates;
  TimestampTz period = slot->rates_period;
  // Fewer have room than were marked when max_rates was lowered or columns have come.
  if (stored <= most)
    period = 0;
  else if (period == 0 || marked > Max(most - single, 0) || PeriodIsOver(slot))
    period = Max(GetCurrentTimestamp(), period + 1);
  if (period == slot->rates_period) return;
  LWLockAcquire(slot->lock, LW_EXCLUSIVE);
  slot->rates_period = period;
  slot->rates_wait = false;
  LWLockRelease(slot->lock);
}

bool PeriodIsOver(const DatabaseSlot* slot) {
  if (!slot->rates_wait || slot->rates_period == 0) return false;
  const TimestampTz age = GetCurrentTimestamp() - slot->rates_period;
  return age > kLeastPeriod || age < 0;  // the clock was set back
}

int64 GiveRoom(TimestampTz period, const char* relations, const char* attributes) {
  const char* args[] = {relations, attributes, TextOfInteger(period), TextOfInteger(ps_settings.max_rates)};
  // A rate that somebody's transaction has changed is not waited for.
  const char* left = InternalValue(
      "WITH asked AS (SELECT r.ctid AS place FROM privacy_score.rate r WHERE NOT " SQL_AT_HAND(
          "COALESCE(r.period, '-infinity')", "r.attributes",
          "$3") " AND (r.relation_name, r.attributes) IN (SELECT a.relation, "
      "pg_catalog.string_to_array(a.attributes, pg_catalog.chr(1)) FROM ROWS FROM ("
      "pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) a(relation, attributes))), "
      "room AS (SELECT $4::pg_catalog.int8 - pg_catalog.count(*) AS left FROM privacy_score.rate r "
      "WHERE " SQL_AT_HAND("r.period", "r.attributes", "$3") "), "
      "given AS (UPDATE privacy_score.rate SET period = " SQL_MOMENT("$3") " WHERE ctid = ANY (ARRAY("
      "SELECT r.ctid FROM privacy_score.rate r JOIN asked a ON r.ctid = a.place "
      "LIMIT (SELECT GREATEST(room.left, 0) FROM room) FOR UPDATE OF r SKIP LOCKED)) RETURNING 1) "
      "SELECT (SELECT pg_catalog.count(*) FROM asked) - (SELECT pg_catalog.count(*) FROM given)",
      4, args);
  return strtoll(left, nullptr, 10);
}

void AppendStored(ComputedRates* known, const std::vector<privacy_score::MissingRate>* missing) {
  const std::size_t count = missing->size();
  if (count == 0) return;
  ComputedRates asked;
  InitComputedRates(&asked);
  for (std::size_t i = 0; i < count; ++i)
    AppendComputed(&asked, (*missing)[i].relation.c_str(), (*missing)[i].attributes.c_str(), 0, 0);
  const char* args[] = {psprintf("%s}", asked.relations.data), psprintf("%s}", asked.attributes.data)};
  TextArguments arguments;
  FillTextArguments(&arguments, 2, args);
  // The conditions on columns of the view go down into it, so that it looks at no more than these.
  if (SPI_execute_with_args(
          "SELECT r.relation_name, pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)), r.rate, "
          "r.subject_entropy "
          "FROM privacy_score.rate_state r WHERE r.relation_name = ANY ($1::text[]) "
          "AND pg_catalog.array_to_string(r.attributes, pg_catalog.chr(1)) = ANY ($2::text[]) AND NOT r.stale",
          2, arguments.types, arguments.values, arguments.nulls, true, 0) != SPI_OK_SELECT)
    elog(ERROR, "could not read stored rates");
  SPITupleTable* table = SPI_tuptable;
  for (uint64 row = 0; row < table->numvals; ++row)
    AppendComputed(known, FieldText(row, 0), FieldText(row, 1), strtod(FieldText(row, 2), nullptr),
                   strtod(FieldText(row, 3), nullptr));
  SPI_freetuptable(table);
}

}  // namespace privacy_score
