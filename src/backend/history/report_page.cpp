/*
 * report_page.cpp - see report_page.hpp.
 */
#include "backend/history/report_page.hpp"

extern "C" {
#include "executor/spi.h"
#include "utils/date.h"
#include "utils/guc.h"
}

#include "backend/catalog/function_arguments.hpp"
#include "backend/server/core_call.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/server/wire.hpp"
#include "backend/state/internal.hpp"

namespace privacy_score {

// The queries are written for this path and these settings. Of catalogs without statistics so much is expected that
// compiling a query takes a second and running it none.
int SetForReport() {
  const int nest_level = NewGUCNestLevel();
  SetWithin("search_path", "pg_catalog, pg_temp");
  SetWithin("datestyle", "ISO");
  SetWithin("extra_float_digits", "1");
  SetWithin("jit", "off");
  return nest_level;
}

ReportDays DaysOfReport(FunctionCallInfo fcinfo) {
  bool null;
  if (SPI_execute("SELECT privacy_score.today()", true, 0) != SPI_OK_SELECT) elog(ERROR, "could not tell the day");
  const DateADT today = DatumGetDateADT(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
  const DateADT to_day = PG_ARGISNULL(2) ? today : PG_GETARG_DATEADT(2);
  const DateADT from_day = PG_ARGISNULL(1) ? (DATE_NOT_FINITE(to_day) ? to_day : to_day - 29) : PG_GETARG_DATEADT(1);
  RequireDays(from_day, to_day);
  return {TextOfDay(from_day), TextOfDay(to_day)};
}

Datum PageOfSections(StringInfo wire, std::string (*page)(std::string_view)) {
  SectionsToUtf8(wire);
  auto* made = NewCoreHolder<std::string>(CurrentMemoryContext);
  CallCoreOrRaise([&] { made->Reset(new std::string(page(WireBytes(wire)))); });
  return TextDatum(*made->object);
}

}  // namespace privacy_score
