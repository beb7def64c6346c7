/*
 * worker.hpp - the background worker of one database.
 *
 * It writes history, alerts and definitions to tables (worker_flush.cpp), builds the model that backends score with,
 * computes the rates they miss, and corrects estimated scores (worker_model.cpp). It runs while the database has
 * sessions or a flush is asked for, and leaves when there is nothing to do, so that it does not keep the database from
 * being dropped. Whoever records an event starts it again.
 */
#pragma once

#include <csignal>

#include "internal.hpp"
#include "shared_state.hpp"

// A transaction of the worker in an internal scope; ending it commits and returns to the memory context of before.
struct WorkTransaction {
  MemoryContext outer;
  InternalScope scope;
};
void BeginWork(WorkTransaction* work);
void EndWork(const WorkTransaction* work);

// Set while ComputeMissingRates runs queries on protected relations, which may take long.
extern volatile sig_atomic_t ps_computing_rates;

// Writes what sessions have gathered and frees closed ones. Each call is one transaction; an error leaves everything
// for the next try.
void FlushSessions(DatabaseSlot* slot);

// Throws away what sessions have gathered: the extension is gone, or the server is a standby.
void DiscardSessions(DatabaseSlot* slot);

// Deletes history older than history_retention, at most once an hour.
void ApplyRetention();

// Builds the model and publishes it when it differs from the one in force.
void PublishModel(DatabaseSlot* slot);

// Computes the rates that scoring misses, for about a second; true when it computed any. The rest stays in the list, as
// do rates of relations that somebody holds locked.
bool ComputeMissingRates(DatabaseSlot* slot);

// Scores again the sessions whose score rests on bounds, and publishes daily scores where a limit asks for them.
void CorrectScores(DatabaseSlot* slot);
