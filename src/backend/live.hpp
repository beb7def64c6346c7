/*
 * live.hpp - the watched session of this backend.
 *
 * The hooks (hooks.cpp) ask Watching(), turn a query into an abstraction with DefineAbstraction() when it is planned,
 * and call RecordEvent() each time it is executed. This file keeps the backend's scorer, its session in shared memory,
 * and the announcements that wake the worker.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "datatype/timestamp.h"
}

#include "core/statement.hpp"

// True when statements of this backend count at this moment. The gate of every hook: cheap when nothing changed.
bool Watching();

// Abstracts a statement and remembers its tokens; returns its id, 0 when it is empty. Never raises: what core cannot
// abstract becomes `unparsed` and is counted in scoring_errors.
int64 DefineAbstraction(const privacy_score::Statement& statement);

// Counts one execution of an abstraction that was defined in this backend: history, score, limits.
void RecordEvent(int64 id);

// Counts a fault of scoring and logs the first of this backend.
void CountScoringError(const char* what);

// Announce at commit that declarations, labels, baselines or rates have changed.
void NoteModelChange();
void NoteRoleLabelChange();

// Statements of our own that run between these two do not count (rates read protected tables). What the first returns
// goes to the second; an abort makes statements count again.
bool BeginUncounted();
void EndUncounted(bool before);

// Registers the callbacks of this backend. Called from _PG_init when preloaded.
void InstallLiveCallbacks();

// Whether a role's statements count, and why: "superuser", "label", "other roles are labelled watched",
// "no role is labelled watched". Reads catalogs.
bool RoleIsWatched(Oid role, const char** reason);

// Days since 2000-01-01 of a moment in log_timezone, the time zone in which days are counted.
int32 DayOf(TimestampTz at);
