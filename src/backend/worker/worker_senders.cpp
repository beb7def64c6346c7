/*
 * worker_senders.cpp - connections that call themselves those of another node of Citus, confirmed by that node.
 *
 * Each node is asked once for all that wait, over a connection that Citus makes. What does not come from the address of
 * the node that it names is denied without asking anybody.
 */
#include "backend/worker/worker.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "common/ip.h"
#include "storage/condition_variable.h"
#include "utils/lsyscache.h"
}

#include <netdb.h>

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
  bool confirmed;
};

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

// Whether it comes from where the node is that it names, if that is an active one.
bool ComesFromNode(const AskedSender& asked) {
  const char* id = TextOfInteger(NodeOf(asked));
  const char* name = InternalValue(
      "SELECT n.nodename FROM pg_catalog.pg_dist_node n WHERE n.nodeid = $1::pg_catalog.int8 "
      "AND n.isactive",
      1, &id);
  if (name == nullptr) return false;
  return asked.address[0] == '\0' ? name[0] == '/' : IsAddressOf(name, asked.address);
}

void AskNodes(Question* questions, int count) {
  StringInfoData list;
  initStringInfo(&list);
  for (int i = 0; i < count; ++i) {
    const AskedSender& asked = questions[i].asked;
    if (!ComesFromNode(asked)) continue;
    appendStringInfo(&list, "%s(%d, " INT64_FORMAT ", %d, %s, %d)", list.len == 0 ? "" : ", ", i, NodeOf(asked),
                     ProcessOf(asked), quote_literal_cstr(asked.address), asked.port);
  }
  if (list.len == 0) return;
  SetWithin("citus.node_connection_timeout", "1000");
  const char* args[] = {
      "SELECT pg_catalog.string_agg(v.i::text, ' ') FROM (VALUES %s) v(i, pid, address, port) "
      "WHERE privacy_score.confirm_sender(v.pid, v.address, v.port)"};
  char* confirmed = InternalValue(
      psprintf("SELECT pg_catalog.string_agg(r.result, ' ') FROM (SELECT pg_catalog.array_agg(n.nodename) AS names, "
               "pg_catalog.array_agg(n.nodeport) AS ports, pg_catalog.array_agg(n.command) AS commands FROM ("
               "SELECT n.nodename::text, n.nodeport::int, pg_catalog.format($1, pg_catalog.string_agg("
               "pg_catalog.format('(%%s, %%s, %%L, %%s)', v.i, v.pid, v.address, v.port), ', ')) AS command "
               "FROM (VALUES %s) v(i, node, pid, address, port) "
               "JOIN pg_catalog.pg_dist_node n ON n.nodeid = v.node AND n.isactive "
               "GROUP BY n.nodename, n.nodeport) n) n, "
               "LATERAL pg_catalog.master_run_on_worker(n.names, n.ports, n.commands, true) r WHERE r.success",
               list.data),
      lengthof(args), args);
  for (char* at = confirmed; at != nullptr && *at != '\0';) {
    char* end;
    const long i = strtol(at, &end, 10);
    if (end == at) break;
    if (i >= 0 && i < count) questions[i].confirmed = true;
    at = end;
  }
}

}  // namespace

void AnswerSenders(DatabaseSlot* slot) {
  auto* questions = static_cast<Question*>(palloc0(kMost * sizeof(Question)));
  int count = 0;
  for (int number = 0; count < kMost && NextAskedSender(&number, &questions[count].asked, &questions[count].ticket);
       ++number)
    questions[count++].number = number;
  if (count == 0) return;
  WorkTransaction work;
  BeginWork(&work);
  // A fault of what Citus runs is not the worker's.
  (void)InTime(kNodeTimeout * 3 / 4, [questions, count] {
    if (const ErrorData* error = InSubtransaction([questions, count] { AskNodes(questions, count); }))
      ereport(WARNING, (errmsg("could not have connections of other nodes confirmed: %s", error->message)));
  });
  EndWork(&work);
  for (int i = 0; i < count; ++i) AnswerAskedSender(questions[i].number, questions[i].ticket, questions[i].confirmed);
  ConditionVariableBroadcast(&slot->flushed);
}

}  // namespace privacy_score
