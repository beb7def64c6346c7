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
#include "nodes/bitmapset.h"
#include "utils/memutils.h"
}

namespace {

// What the server says in the context of such an error; no text of ours is shown.
constexpr const char* kAwaitsKey[] = {"while inserting index tuple (%u,%u) in relation \"%s\"",
                                      "while checking uniqueness of tuple (%u,%u) in relation \"%s\"",
                                      "while checking exclusion constraint on tuple (%u,%u) in relation \"%s\""};
constexpr const char* kAwaitsRow[] = {
    "while locking tuple (%u,%u) in relation \"%s\"", "while updating tuple (%u,%u) in relation \"%s\"",
    "while deleting tuple (%u,%u) in relation \"%s\"", "while rechecking updated tuple (%u,%u) in relation \"%s\""};

// Whether a context has such a line, by the text before its first number.
bool Says(const char* context, const char* message) {
#ifdef ENABLE_NLS
  message = dgettext(PG_TEXTDOMAIN("postgres"), message);
#endif
  const char* end = strchr(message, '%');
  if (end == nullptr || end == message) return false;
  const char* begin = pnstrdup(message, static_cast<Size>(end - message));
  return strstr(context, begin) != nullptr;
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
    RecordShown(id, constants);
  }
}

void Record(const BrokenStatement& broken) {
  if (broken.plan == nullptr)
    RecordAwaitedKeys(broken.copied);
  else if (broken.integrity_check)
    RecordLookedFor(broken);
  else
    RecordAwaitedKeys(broken.plan, broken.parameters);
}

}  // namespace

bool MayBreakWait(int code) {
  return code == ERRCODE_LOCK_NOT_AVAILABLE || code == ERRCODE_T_R_DEADLOCK_DETECTED || code == ERRCODE_QUERY_CANCELED;
}

bool BrokeWait(const ErrorData* error, bool integrity_check) {
  if (error->context == nullptr) return false;
  for (const char* message : kAwaitsKey)
    if (Says(error->context, message)) return true;
  if (!integrity_check) return false;
  for (const char* message : kAwaitsRow)
    if (Says(error->context, message)) return true;
  return false;
}

void RecordBrokenWait(const BrokenStatement& broken) {
  MemoryContext context = CurrentMemoryContext;
  PG_TRY()
    ;
    { Record(broken); }
    PG_CATCH();
    {
      MemoryContextSwitchTo(context);
      FlushErrorState();
      CountScoringError("which keys a statement has waited for could not be recorded");
    }
  PG_END_TRY();
}
