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

template <typename Section>
void AppendOnceAs(StringInfo wire, const char* sql, const char* text, int nargs, const char* const* args) {
  if (const StringInfoData* before = ReadBefore(text); before != nullptr) {
    appendBinaryStringInfo(wire, before->data, before->len);
    return;
  }
  const int begin = wire->len;
  AppendLongSection<Section>(wire, sql, nargs, args);
  RememberRead(text, wire->data + begin, wire->len - begin);
}

// Appends a section of a query which reads nothing but tables. Inside an internal scope.
template <typename Section>
void AppendOnce(StringInfo wire, const char* sql) {
  AppendOnceAs<Section>(wire, sql, sql, 0, nullptr);
}

// The same of a query about a role, its only argument; null: about all. A query over days comes back to some roles.
template <typename Section>
void AppendOnceOf(StringInfo wire, const char* sql, const char* role) {
  AppendOnceAs<Section>(wire, sql, psprintf("%s\n%s", sql, role == nullptr ? "" : role), 1, &role);
}

}  // namespace privacy_score
