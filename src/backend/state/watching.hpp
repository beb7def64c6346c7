/*
 * watching.hpp - whose statements count at this moment, and announcing changes of what decides it.
 *
 * The gate of every hook. What it reads from catalogs is remembered until a label, the principal or the extension
 * changes, so that it costs a few comparisons.
 */
#pragma once

extern "C" {
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"
}

#include "backend/server/settings.hpp"
#include "backend/state/shared_state.hpp"

namespace privacy_score {

// What the security label of a role, or its lack, means for its statements.
enum class RoleClass {
  kUnwatched,  // superuser, or others are labelled watched
  kWatched,
  kDpOnly,  // watched, and may read protected relations through the dp functions only
  kExempt   // not watched; reading a protected relation is announced
};

// The class of a role and why. Reads catalogs.
RoleClass ClassOfRole(Oid role, const char** reason);

// The security label of a role; null for none. Reads catalogs.
const char* LabelOfRole(Oid role);

// The extension in this database, as statements were last judged.
Oid WatchedExtension();

// Whether any role is labelled watched, so that no other is watched. Reads catalogs.
bool AnyLabelledWatched();

// The end user whose label is what keeps statements from reading protected relations now, valid until the next one is
// looked for; null when that of a role is, or none.
const char* EndUserLabelledDpOnly();

// The role that statements count for: session user or current user, as the setting says.
Oid PrincipalOf();

// The class of the principal now: kUnwatched also when nothing is watched at all (not preloaded, mode off, extension
// not in this database, a statement of our own).
RoleClass PrincipalClass();

// What a hook needs to know of who runs a statement.
struct Watch {
  Oid principal;
  // Of the principal, or the stricter one that SET ROLE has brought about, or what the label of the end user makes of
  // it.
  RoleClass role;
  // Nothing that this statement does, or starts, needs to be looked at, short of another role becoming the principal
  // within it: a hook that finds this only passes on. False does not mean that anything counts.
  bool passes;
  bool uncounted;           // a statement of our own, but what runs while it is planned is not
  bool in_integrity_check;  // the statement is a referential-integrity check, or runs within one
  bool may_be_sent;         // what the client sends may be a piece of what another node counts (node_sender.hpp)
};

// What was found out last, and what it follows from.
struct LastWatch {
  bool stands;  // nothing has happened that it does not show itself
  Oid user, session_user, role_set;
  int context;
  uint64 settings, labels_version;
  Watch watch;
};
extern LastWatch ps_last_watch;

// Finds it out. May read catalogs.
Watch ResolveWatch(Oid user, int context);

// Outside of a security context the role that is set is the user.
inline Watch WatchInForce() {
  if (ps_settings.mode == static_cast<int>(WatchMode::kOff) || ps_shared == nullptr)
    return {InvalidOid, RoleClass::kUnwatched, true, false, false, false};
  Oid user;
  int context;
  GetUserIdAndSecContext(&user, &context);
  const LastWatch& last = ps_last_watch;
  if (last.stands && last.user == user && last.context == context && last.session_user == GetSessionUserId() &&
      (context == 0 || last.role_set == GetOuterUserId()) && last.settings == ps_settings_changes &&
      last.labels_version == pg_atomic_read_u64(&ps_shared->role_labels_version))
    return last.watch;
  return ResolveWatch(user, context);
}

// True when statements of this backend count at this moment.
inline bool Counts(RoleClass role) { return role == RoleClass::kWatched || role == RoleClass::kDpOnly; }

// Which statements do not count.
enum class Uncounted {
  kNone,
  // Those of our own that read somebody's relation. While they are planned the expressions of its indexes, statistics
  // and partition keys are evaluated, and with them functions of its owner, whose statements count.
  kReading,
  kAll  // those on tables of our own, and whatever they run
};

struct UncountedState {
  Uncounted which;
  const List* relations;  // of kReading: the OIDs of those that may be read, which are locked
  const char* text;       // of kReading: the statement that reads them, null while it is not known
};

// Statements of our own that run between these two do not count (rates read protected tables). What the first returns
// goes to the second; an abort makes statements count again.
UncountedState BeginUncounted(Uncounted which, const List* relations = NIL);
void EndUncounted(UncountedState before);

// Says which statement is going to read, as kReading; what it returns goes to it afterwards.
const char* NameReading(const char* text);

// Raises 40001 when that statement reads any other relation than those. It names relations, and names pass to others: a
// view of somebody's would be read unseen. Statements with which another library answers ours read what they like.
void RequireReading(const char* text, const List* relations);

// Announce at commit that what scoring rests on has changed: by itself, such as rates and names; declared, as baselines
// and labels are; or the label of a role. Whose statements wait for it is said by model_changes.hpp: without that
// nobody's do. Where the transaction is prepared it is announced by whoever commits it (prepared_changes.hpp).
void NoteModelChange();
void NoteDeclaration();
void NoteRoleLabelChange();
// The same for the label of an end user, which is no part of the model.
void NoteEndUserLabelChange();

// What a transaction announces when it commits, as one that is prepared keeps it.
struct KeptChanges {
  bool model, labels;
  bool all;               // the change of the model concerns every statement
  const bytea* concerns;  // model_changes.hpp, palloc'd; null: none that has a name
};
KeptChanges ChangesToAnnounce();
// This transaction has written them down. What it changes from now on keeps it from being prepared (0A000).
void NoteChangesKept();
// Announces them for a transaction that has committed. Never raises.
void AnnounceKept(const KeptChanges& changes);

// Whether this transaction has changed labels of roles or end users.
bool LabelsChangedHere();

// Registers the callbacks of this backend. Called from _PG_init when preloaded.
void InstallWatchingCallbacks();

}  // namespace privacy_score
