/*
 * dp_scan.cpp - see dp_scan.hpp.
 */
#include "dp_scan.hpp"

#include <initializer_list>

extern "C" {
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
}

#include "answering.hpp"
#include "code_search.hpp"
#include "internal.hpp"
#include "relation_lock.hpp"
#include "trusted_code.hpp"
#include "watching.hpp"

namespace {

// What the caller of the function may have set otherwise, or must not notice.
constexpr const char* kSettings[][2] = {
    {"row_security", "off"},      {"track_counts", "off"},     {"track_functions", "none"},
    {"track_io_timing", "off"},   {"compute_query_id", "off"}, {"client_min_messages", "error"},
    {"enable_seqscan", "on"},     {"enable_indexscan", "off"}, {"enable_indexonlyscan", "off"},
    {"enable_bitmapscan", "off"}, {"enable_tidscan", "off"},   {"parallel_setup_cost", "0"},
    {"parallel_tuple_cost", "0"},
};

// What else could make an expression of a view fail on a row, or mean something else: how texts are read and written.
// The caller must not choose them; they are those of who gave the budget.
constexpr const char* kReading[] = {
    "array_nulls",
    "bytea_output",
    "DateStyle",
    "default_text_search_config",
    "extra_float_digits",
    "IntervalStyle",
    "lc_monetary",
    "lc_numeric",
    "lc_time",
    "TimeZone",
    "timezone_abbreviations",
    "xmlbinary",
    "xmloption",
};

// Setting one may read files.
void SetAsGranted(const Budget* budget) {
  char* settings = pstrdup(budget->settings);
  char* rest = nullptr;
  for (char* name = strtok_r(settings, "\1", &rest); name != nullptr; name = strtok_r(nullptr, "\1", &rest)) {
    char* value = strchr(name, '=');
    if (value == nullptr) continue;
    *value++ = '\0';
    for (const char* known : kReading)
      if (strcmp(name, known) == 0 && strcmp(value, GetConfigOption(name, false, false)) != 0) SetWithin(name, value);
  }
}

// Prepares the query and locks what it reads.
SPIPlanPtr Prepare(const ScanQuery* query) {
  SPIPlanPtr plan = SPI_prepare_cursor(query->sql, query->nargs, query->types, CURSOR_OPT_PARALLEL_OK);
  if (plan == nullptr) elog(ERROR, "could not prepare the query of a noisy answer");
  const ListCell* relation;
  foreach (relation, RelationsOf(plan)) (void)LockForReading(lfirst_oid(relation));
  return plan;
}

// Says in `reads` whether rows may have been seen.
void Run(const Budget* budget, const ScanQuery* query, void (*take)(void*), void* argument, volatile bool* reads) {
  InternalScope scope;
  EnterInternal(&scope, budget->owner);
  for (const auto& setting : kSettings) SetWithin(setting[0], setting[1]);
  SetAsGranted(budget);
  EndUncounted(scope.uncounted);
  BeginAnswering(budget->owner);
  SPIPlanPtr plan = Prepare(query);
  int done = 0;
  WithTrustedCode(budget->owner, [&] {
    PG_TRY()
      ;
      { done = SPI_execute_plan(plan, query->values, query->nulls, true, 0); }
      PG_FINALLY();
      { *reads = ps_code_rule.runs; }
    PG_END_TRY();
  });
  if (done != SPI_OK_SELECT) elog(ERROR, "could not run the query of a noisy answer");
  take(argument);
  LeaveInternal(&scope);
}

bool IsOneOf(int sqlstate, std::initializer_list<const char*> classes) {
  for (const char* text : classes)
    if (ERRCODE_TO_CATEGORY(sqlstate) == MAKE_SQLSTATE(text[0], text[1], '0', '0', '0')) return true;
  return false;
}

// Whether what an error says depends on names, rights, resources and the server, but not on rows. While rows are read,
// functions put into messages what they were called with: a name that is none, the length of what is too long. The
// last class is that of refused statements.
bool TellsNothing(const ErrorData* error, bool reads) {
  if (IsRefusal(error) || IsOneOf(error->sqlerrcode, {"40", "53", "57", "PS"})) return true;
  if (reads)
    return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE || error->sqlerrcode == ERRCODE_STATEMENT_TOO_COMPLEX;
  return IsOneOf(error->sqlerrcode, {"42", "54", "55"});
}

}  // namespace

const char* SettingsOfReading() {
  StringInfoData settings;
  initStringInfo(&settings);
  appendStringInfoChar(&settings, '{');
  for (const char* name : kReading)
    AppendArrayElement(&settings, psprintf("%s=%s", name, GetConfigOption(name, false, false)));
  appendStringInfoChar(&settings, '}');
  return settings.data;
}

void ReadRelation(const Budget* budget, const ScanQuery* query, void (*take)(void*), void* argument) {
  const BufferUsage buffers = pgBufferUsage;
  const WalUsage wal = pgWalUsage;
  MemoryContext context = CurrentMemoryContext;
  const char* name = get_rel_name(budget->relation);
  volatile bool reads = false;
  PG_TRY()
    ;
    { Run(budget, query, take, argument, &reads); }
    PG_CATCH();
    {
      pgBufferUsage = buffers;
      pgWalUsage = wal;
      MemoryContextSwitchTo(context);
      ErrorData* error = CopyErrorData();
      FlushErrorState();
      if (TellsNothing(error, reads)) {
        // How much memory was asked for may be the length of a value.
        if (error->sqlerrcode == ERRCODE_OUT_OF_MEMORY) error->detail = nullptr;
        // The query is nobody's but ours. Who cancels may want to know where his function stood.
        if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION)) {
          error->context = nullptr;
          error->internalquery = nullptr;
          error->internalpos = 0;
        }
        ReThrowError(error);
      }
      ereport(LOG_SERVER_ONLY, (errmsg("could not read relation \"%s\" for a noisy answer: %s", name, error->message),
                                errhidestmt(true), errhidecontext(true)));
      ereport(ERROR, (errcode(error->sqlerrcode), errmsg("could not read relation \"%s\"", name),
                      errdetail("The server log says why. Nothing was spent."), errhidecontext(true)));
    }
  PG_END_TRY();
  pgBufferUsage = buffers;
  pgWalUsage = wal;
}
