/*
 * worker_senders.cpp - connections that call themselves those of another node of Citus, confirmed by that node.
 *
 * A node is asked once for all that wait, over a connection that Citus makes. What does not come from the address of
 * the node that it names is denied without asking anybody; what a node does not answer stays open, and that node is
 * left alone for a while.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "common/ip.h"
#include "storage/condition_variable.h"
#include "utils/lsyscache.h"
}

#include <netdb.h>

#include "backend/server/settings.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/node_sender.hpp"
#include "backend/worker/in_time.hpp"

namespace privacy_score {

namespace {

constexpr int kMost = 256;  // at once

struct Question {
  int number;
  uint64 ticket;
  AskedSender asked;
  bool settled, confirmed;
};

// A node that did not answer in time.
struct Silent {
  int64 node;
  TimestampTz until;
};
constexpr int kMostSilent = 16;
Silent silent[kMostSilent];
int next_silent = 0;

bool IsSilent(int64 node) {
  const TimestampTz now = GetCurrentTimestamp();
  for (const Silent& one : silent)
    if (one.node == node && now < one.until) return true;
  return false;
}

void NoteSilent(int64 node) {
  constexpr int kPause = 10000;
  silent[next_silent] = {node, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kPause)};
  next_silent = (next_silent + 1) % kMostSilent;
}

bool IsAddressOf(const char* name, const char* address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (pg_getaddrinfo_all(name, nullptr, &hints, &list) != 0) return false;
  bool found = false;
  for (const addrinfo* one = list; one != nullptr && !found; one = one->ai_next) {
    sockaddr_storage storage = {};
    char text[NI_MAXHOST];
    memcpy(&storage, one->ai_addr, Min(static_cast<Size>(one->ai_addrlen), sizeof storage));
    found = pg_getnameinfo_all(&storage, static_cast<int>(one->ai_addrlen), text, sizeof text, nullptr, 0,
                               NI_NUMERICHOST) == 0 &&
            strcmp(text, address) == 0;
  }
  pg_freeaddrinfo_all(hints.ai_family, list);
  return found;
}

// Settles what does not come from where the node is, looking for its address once for all that come from one. Returns
// how many are left of it.
int SettleByAddress(Question* questions, int count, int64 node, const char* name) {
  const char* known = nullptr;  // an address of the node
  const char* other = nullptr;  // one that is none
  int left = 0;
  for (int i = 0; i < count; ++i) {
    Question* question = &questions[i];
    if (question->settled || NodeOf(question->asked) != node) continue;
    const char* address = question->asked.peer.address;
    bool comes_from_it = name != nullptr && address[0] == '\0' && name[0] == '/';
    if (name != nullptr && address[0] != '\0' && (other == nullptr || strcmp(other, address) != 0)) {
      comes_from_it = (known != nullptr && strcmp(known, address) == 0) || IsAddressOf(name, address);
      (comes_from_it ? known : other) = address;
    }
    question->settled = !comes_from_it;
    left += comes_from_it;
  }
  return left;
}

// Asks a node about all connections that it may have opened.
void AskNode(Question* questions, int count, int64 node) {
  const char* id = TextOfInteger(node);
  const char* name = InternalValue(
      "SELECT n.nodename FROM pg_catalog.pg_dist_node n WHERE n.nodeid = $1::pg_catalog.int8 AND n.isactive", 1, &id);
  if (SettleByAddress(questions, count, node, name) == 0) return;
  StringInfoData list;
  initStringInfo(&list);
  for (int i = 0; i < count; ++i) {
    const AskedSender& asked = questions[i].asked;
    if (questions[i].settled || NodeOf(asked) != node) continue;
    appendStringInfo(&list, "%s(%d, %d, %s::timestamptz, %s, %d, %s, %d)", list.len == 0 ? "" : ", ", i,
                     ProcessOf(asked), quote_literal_cstr(timestamptz_to_str(asked.started)),
                     quote_literal_cstr(asked.peer.address), asked.peer.port, quote_literal_cstr(asked.own.address),
                     asked.own.port);
  }
  SetWithin("citus.node_connection_timeout", TextOfInteger(ps_settings.node_timeout));
  const char* args[] = {
      id, psprintf("SELECT pg_catalog.string_agg(v.i::text, ' ') FROM (VALUES %s) v(i, pid, since, address, port, "
                   "to_address, to_port) WHERE privacy_score.confirm_sender(v.pid, v.since, v.address, v.port, "
                   "v.to_address, v.to_port)",
                   list.data)};
  // What is protected here must be protected there, or it would count nowhere.
  char* confirmed = InternalValue(
      "SELECT COALESCE(r.result, '') FROM pg_catalog.pg_dist_node n, LATERAL pg_catalog.master_run_on_worker("
      "ARRAY[n.nodename::text], ARRAY[n.nodeport::int], ARRAY[pg_catalog.format("
      "'%s AND %L::text[] OPERATOR(pg_catalog.<@) ARRAY(SELECT c.name FROM privacy_score.protected_current c)', $2, "
      "ARRAY(SELECT c.name FROM privacy_score.protected_current c "
      "JOIN pg_catalog.pg_dist_partition p ON p.logicalrelid = c.relation))], true) r "
      "WHERE n.nodeid = $1::pg_catalog.int8 AND n.isactive AND r.success",
      lengthof(args), args);
  for (char* at = confirmed; at != nullptr && *at != '\0';) {
    char* end;
    const long i = strtol(at, &end, 10);
    if (end == at) break;
    if (i >= 0 && i < count && NodeOf(questions[i].asked) == node) questions[i].confirmed = true;
    at = end;
  }
  for (int i = 0; i < count; ++i) questions[i].settled |= NodeOf(questions[i].asked) == node;
}

}  // namespace

void AnswerSenders(DatabaseSlot* slot) {
  auto* questions = static_cast<Question*>(palloc0(kMost * sizeof(Question)));
  int count = 0;
  for (int number = 0; count < kMost && NextAskedSender(&number, &questions[count].asked, &questions[count].ticket);
       ++number)
    questions[count++].number = number;
  for (int i = 0; i < count; ++i) {
    const int64 node = NodeOf(questions[i].asked);
    if (questions[i].settled || IsSilent(node)) continue;
    WorkTransaction work;
    BeginWork(&work);
    const bool in_time = InTime(ps_settings.node_timeout, [questions, count, node] {
      // A fault of what Citus runs is not the worker's.
      if (const ErrorData* error = InSubtransaction([questions, count, node] { AskNode(questions, count, node); }))
        ereport(WARNING, (errmsg("could not have connections of another node confirmed: %s", error->message)));
    });
    EndWork(&work);
    if (!in_time) NoteSilent(node);
    for (int k = i; k < count; ++k) {
      Question* question = &questions[k];
      if (NodeOf(question->asked) != node) continue;
      if (question->settled || in_time) AnswerAskedSender(question->number, question->ticket, question->confirmed);
      question->settled = true;
    }
    ConditionVariableBroadcast(&slot->flushed);
  }
}

}  // namespace privacy_score
