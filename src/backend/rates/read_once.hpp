/*
 * read_once.hpp - what scores of all roles rest on alike, read once a statement.
 *
 * A query over many roles (stat_roles, report()) calls score() for each of them, and each call needs the declarations
 * and the baselines. What one call has read the next one takes, as long as it would read the same: the snapshot is the
 * same, the transaction has written nothing (it has no transaction id), and the text that stands for the query and for
 * what it depends on beside tables is the same. It is forgotten when the transaction ends, and is never more than
 * work_mem.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "lib/stringinfo.h"
}

#include "backend/server/wire.hpp"

namespace privacy_score {

// What was read under this text in the active snapshot; null: nothing.
const StringInfoData* ReadBefore(const char* text);
void RememberRead(const char* text, const char* bytes, int length);

// Appends what `append(wire)` appends, which reads nothing but tables; `text` stands for all that it depends on beside
// these. Inside an internal scope.
template <typename Append>
void AppendOnceAs(StringInfo wire, const char* text, Append append) {
  if (const StringInfoData* before = ReadBefore(text); before != nullptr) {
    appendBinaryStringInfo(wire, before->data, before->len);
    return;
  }
  const int begin = wire->len;
  append(wire);
  RememberRead(text, wire->data + begin, wire->len - begin);
}

// Appends the section of a query, a constant of the module.
template <typename Section>
void AppendOnce(StringInfo wire, const char* sql) {
  AppendOnceAs(wire, sql, [sql](StringInfo into) { AppendKeptSection<Section>(into, sql); });
}

}  // namespace privacy_score
