/*
 * broken_waits.cpp - see broken_waits.hpp.
 *
 * That there was a wait is read from the error's context, in the language of the server's messages: once the error has
 * come here the wait has left no other trace.
 */
#include "backend/watch/broken_waits.hpp"

#include "backend/query/abstracting.hpp"
#include "backend/query/constants.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/server/compat.hpp"
#include "backend/state/scoring_errors.hpp"
#include "backend/watch/live.hpp"
#include "backend/watch/tried_keys.hpp"

extern "C" {
#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/bitmapset.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
}

namespace privacy_score {

namespace {

// What the server says in the context of such an error; no text of ours is shown.
constexpr const char* kAwaitsKey[] = {"while inserting index tuple (%u,%u) in relation \"%s\"",
                                      "while checking uniqueness of tuple (%u,%u) in relation \"%s\"",
                                      "while checking exclusion constraint on tuple (%u,%u) in relation \"%s\""};
constexpr const char* kAwaitsRow[] = {
    "while locking tuple (%u,%u) in relation \"%s\"", "while updating tuple (%u,%u) in relation \"%s\"",
    "while deleting tuple (%u,%u) in relation \"%s\"", "while rechecking updated tuple (%u,%u) in relation \"%s\""};

const char* Translated(const char* message) {
#ifdef ENABLE_NLS
  return dgettext(PG_TEXTDOMAIN("postgres"), message);
#else
  return message;
#endif
}

// What follows, in a context, the text that such a line has before its first number; null when it has no such line.
const char* AfterBegin(const char* context, const char* format) {
  const char* end = strchr(format, '%');
  if (end == nullptr || end == format) return nullptr;
  const char* begin = pnstrdup(format, static_cast<Size>(end - format));
  const char* line = strstr(context, begin);
  return line == nullptr ? nullptr : line + strlen(begin);
}

bool Says(const char* context, const char* message) { return AfterBegin(context, Translated(message)) != nullptr; }

// The name of the relation in such a line, whose format has two numbers before; null when there is none.
const char* NameIn(const char* context, const char* message) {
  const char* format = Translated(message);
  const char* line = AfterBegin(context, format);
  if (line == nullptr) return nullptr;
  for (format = strchr(format, '%'); strncmp(format, "%s", 2) != 0;) {
    if (strncmp(format, "%u", 2) == 0) {
      format += 2;
      line += strspn(line, "0123456789");
    } else if (*format == '\0' || *format == '%' || *format++ != *line++) {
      return nullptr;
    }
  }
  const char* after = format + 2;
  const char* end = *after == '\0' ? strchr(line, '\n') : strstr(line, after);
  return end == nullptr ? pstrdup(line) : pnstrdup(line, static_cast<Size>(end - line));
}

// The columns by which the query of a foreign key looks for rows, of relations that are protected.
void RecordLookedFor(const BrokenStatement& broken) {
  ListCell* cell;
  foreach (cell, broken.plan->rtable) {
    const auto* rte = lfirst_node(RangeTblEntry, cell);
    if (rte->rtekind != RTE_RELATION || !KeysAreProtected(rte->relid)) continue;
    Bitmapset* read = nullptr;
    Bitmapset* inserted;
    Bitmapset* updated;
    if (!PlannedColumns(broken.plan, rte, &read, &inserted, &updated)) continue;
    List* columns = NIL;
    for (int bit = -1; (bit = bms_next_member(read, bit)) >= 0;)
      if (bit + FirstLowInvalidHeapAttributeNumber > 0)
        columns = lappend_int(columns, bit + FirstLowInvalidHeapAttributeNumber);
    const int size = list_length(columns);
    auto* hashes = static_cast<uint64*>(palloc(sizeof(uint64) * static_cast<Size>(size + 1)));
    uint64 vector = 0;
    // An UPDATE has the new values as well.
    bool known = broken.plan->commandType != CMD_UPDATE;
    for (int i = 0; i < size && known; ++i) {
      known = HashOfParameter(broken.parameters, i + 1, &hashes[i]);
      if (known) vector = privacy_score::FoldHash(vector, hashes[i]);
    }
    const TriedKey key = {rte->relid, columns, false, known ? 1 : 0, hashes};
    privacy_score::BoundConstants constants;
    const int64 id = AbstractKey(key, broken.plan->commandType, vector, &constants);
    RecordUnrefusable(id, constants);
  }
}

// The relation that the context names. Which of its keys it was does not stand there, nor with which value; two waits
// differ by the place of the row.
void RecordByContext(const ErrorData* error) {
  const uint64 vector = privacy_score::FoldHash(0, HashOfDatum(TEXTOID, CStringGetTextDatum(error->context)));
  const bool ends_session = error->elevel > ERROR;
  for (const char* message : kAwaitsKey)
    if (const char* name = NameIn(error->context, message)) {
      RecordAwaitedKeysNamed(name, {!ends_session, false}, vector);
      return;
    }
  for (const char* message : kAwaitsRow)
    if (const char* name = NameIn(error->context, message)) {
      RecordAwaitedKeysNamed(name, {false, true}, vector);
      return;
    }
}

// Runs `record`, whose faults are counted.
template <typename Work>
void CountingFaults(Work record) {
  MemoryContext context = CurrentMemoryContext;
  PG_TRY();
  { record(); }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    FlushErrorState();
    CountScoringError("which keys a statement has waited for could not be recorded");
  }
  PG_END_TRY();
}

void RecordBroken(const BrokenStatement& broken) {
  if (broken.plan == nullptr && OidIsValid(broken.copied))
    RecordAwaitedKeys(broken.copied);
  else if (broken.plan == nullptr)
    RecordByContext(broken.error);
  else if (broken.integrity_check)
    RecordLookedFor(broken);
  else
    RecordAwaitedKeys(broken.plan, broken.parameters);
}

}  // namespace

bool MayBreakWait(int code) {
  return code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_T_R_DEADLOCK_DETECTED ||
         code == ERRCODE_QUERY_CANCELED || code == ERRCODE_T_R_SERIALIZATION_FAILURE;
}

bool BrokeWait(const ErrorData* error, bool integrity_check) {
  if (error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE) return integrity_check;
  if (error->context == nullptr) return false;
  for (const char* message : kAwaitsKey)
    if (Says(error->context, message)) return true;
  if (!integrity_check) return false;
  for (const char* message : kAwaitsRow)
    if (Says(error->context, message)) return true;
  return false;
}

bool BrokeWaitUnseen(const ErrorData* error, bool integrity_check) {
  if (error->context == nullptr || (error->elevel == ERROR && !MayBreakWait(error->sqlerrcode))) return false;
  return BrokeWait(error, integrity_check);
}

void RecordWaitByContext(const ErrorData* error) {
  CountingFaults([error] { RecordByContext(error); });
}

void RecordBrokenWait(const BrokenStatement& broken) {
  CountingFaults([&broken] { RecordBroken(broken); });
}

}  // namespace privacy_score
