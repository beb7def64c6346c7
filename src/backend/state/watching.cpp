/*
 * watching.cpp - see watching.hpp.
 */
#include "backend/state/watching.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/catalog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_shseclabel.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

#include "backend/state/end_user.hpp"
#include "backend/state/end_user_labels.hpp"
#include "backend/state/label_names.hpp"
#include "backend/state/live_session.hpp"
#include "backend/state/model_changes.hpp"
#include "backend/state/node_sender.hpp"

namespace privacy_score {

LastWatch ps_last_watch;

namespace {

struct Gate {
  bool extension_known;
  Oid extension;
  Oid principal, role_set;
  RoleClass principal_class;  // the stricter one of the two
  uint64 labels_version;
  TimestampTz looked_at;
  bool on_primary;  // once it is one, a server stays it
  UncountedState uncounted;
  bool model_changed, labels_changed, declared;  // by this transaction
  bool kept;                                     // all of it, for who commits it when it is prepared
};

Gate gate;

// A schema or a role: with a role go its label and whether it is a superuser.
void OnCatalogChange(Datum, int, uint32) {
  gate.extension_known = ps_last_watch.stands = false;
  ForgetEndUserLabels();
}

void SetUncounted(UncountedState uncounted) {
  gate.uncounted = uncounted;
  ps_last_watch.stands = false;
}

// What is prepared is committed by anybody at any time, who reads what to announce from a table of the extension
// (prepared_changes.hpp). Without that open sessions would go on with the old labels and baselines. Changes that were
// rolled back to a savepoint are refused as well.
void RequireChangesKept() {
  if (!gate.declared || gate.kept || ps_shared == nullptr) return;
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("cannot PREPARE a transaction that changes labels, declarations or baselines of privacy_score here"),
           errdetail("The extension is not in this database in the version of the library, the transaction has "
                     "brought it there, or a deferred trigger makes the change."),
           errhint("Use COMMIT, or run CREATE EXTENSION privacy_score or ALTER EXTENSION privacy_score UPDATE.")));
}

// Tells all sessions what a transaction that has committed has changed.
void Announce(bool model, bool labels) {
  if (labels) pg_atomic_fetch_add_u64(&ps_shared->role_labels_version, 1);
  if (!model) return;
  DatabaseSlot* slot = SlotOfDatabase(true);
  if (slot != nullptr) AnnounceChange(slot);
}

void OnTransactionEnd(XactEvent event, void*) {
  if (event == XACT_EVENT_PRE_PREPARE) RequireChangesKept();
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE || event == XACT_EVENT_PARALLEL_PRE_COMMIT)
    return;
  if (event == XACT_EVENT_COMMIT && ps_shared != nullptr) Announce(gate.model_changed, gate.labels_changed);
  // What was read in between may have been taken back.
  if (gate.labels_changed) ForgetEndUserLabels();
  gate.model_changed = gate.labels_changed = gate.declared = gate.kept = false;
  ForgetConcerns();
  SetUncounted({Uncounted::kNone, NIL, nullptr});
}

void OnSubtransactionEnd(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event == SUBXACT_EVENT_ABORT_SUB) SetUncounted({Uncounted::kNone, NIL, nullptr});
}

// From now on the ends of transactions are looked at: in a backend that only runs statements they never are.
void FollowTransactions() {
  static bool follows = false;
  if (follows) return;
  RegisterXactCallback(OnTransactionEnd, nullptr);
  RegisterSubXactCallback(OnSubtransactionEnd, nullptr);
  follows = true;
}

// Replicated changes of labels and roles are not announced on a standby, so it looks again every few seconds.
inline bool MayBeOutdated() {
  constexpr int kSeconds = 2;
  if (gate.on_primary) return false;
  gate.on_primary = !RecoveryInProgress();
  return !gate.on_primary && GetCurrentStatementStartTimestamp() - gate.looked_at > kSeconds * USECS_PER_SEC;
}

// Whether nothing counts, whoever the principal is.
inline bool NothingWatched() {
  return ps_settings.mode == static_cast<int>(WatchMode::kOff) || ps_shared == nullptr ||
         gate.uncounted.which != Uncounted::kNone || !OidIsValid(MyDatabaseId);
}

// The principal of a statement that runs as `user` in that security context.
inline Oid PrincipalIn(Oid user, int context) {
  if (ps_settings.principal == static_cast<int>(Principal::kCurrentUser)) return user;
  const Oid session_user = GetSessionUserId();
  // Maintenance by a superuser or by autovacuum runs the code of whom it has become.
  if ((context & SECURITY_RESTRICTED_OPERATION) != 0 && superuser_arg(session_user)) return user;
  return session_user;
}

// The role that SET ROLE has made the current one, or who has logged in. Functions with SECURITY DEFINER do not change
// it. It judges only where statements go to the account of the session's role.
inline Oid RoleSet() {
  return ps_settings.principal == static_cast<int>(Principal::kSessionUser) ? GetOuterUserId() : InvalidOid;
}

// The stricter of a principal's own class and what the label of the role set asks for: to be watched, which superusers
// never are, or to read nothing.
RoleClass StricterClass(RoleClass own, Oid principal, Oid role) {
  if (own == RoleClass::kDpOnly || superuser_arg(role)) return own;
  const char* label = LabelOfRole(role);
  if (label == nullptr || strcmp(label, kExemptLabel) == 0) return own;
  if (strcmp(label, kDpOnlyLabel) == 0) return RoleClass::kDpOnly;
  return superuser_arg(principal) ? own : RoleClass::kWatched;
}

// Looks the principal up and opens the gate for it.
RoleClass FindClass(Oid principal, Oid role_set, uint64 labels) {
  if (!IsTransactionState()) return RoleClass::kUnwatched;
  const char* reason;
  const Oid extension = get_extension_oid("privacy_score", true);
  // Dropped and created again it has empty tables: what this session has sent before must be sent anew.
  if (extension != gate.extension) CloseSession();
  gate.extension = extension;
  gate.extension_known = true;
  gate.principal_class = ClassOfRole(principal, &reason);
  if (OidIsValid(role_set) && role_set != principal)
    gate.principal_class = StricterClass(gate.principal_class, principal, role_set);
  gate.principal = principal;
  gate.role_set = role_set;
  gate.labels_version = labels;
  gate.looked_at = GetCurrentStatementStartTimestamp();
  return OidIsValid(extension) ? gate.principal_class : RoleClass::kUnwatched;
}

// The class of a role in this database, with the role that is set; remembered for one pair of them.
inline RoleClass ClassOfPrincipal(Oid principal) {
  const uint64 labels = pg_atomic_read_u64(&ps_shared->role_labels_version);
  const Oid role_set = RoleSet();
  if (principal != gate.principal || role_set != gate.role_set || labels != gate.labels_version ||
      !gate.extension_known || MayBeOutdated())
    return FindClass(principal, role_set, labels);
  return OidIsValid(gate.extension) ? gate.principal_class : RoleClass::kUnwatched;
}

// Whether labels of end users can make a difference in this session.
inline bool EndUsersAreLabelled() { return SpeaksForOthers() && AnyEndUserLabelled(); }

// The end user that statements have now whose label is `dp only`: given for the principal, the user of the session or
// the role that is set, so that neither a role nor a function of somebody's lifts it. Null for none.
const char* DpOnlyEndUser(Oid principal, const char* end_user) {
  for (const Oid role : {principal, GetSessionUserId(), GetOuterUserId()})
    if (LabelOfEndUser(role, end_user) == EndUserLabel::kDpOnly) return end_user;
  return nullptr;
}

// What the label of the end user makes of a class: `dp only` whatever the role's label is, `exempt` where statements of
// the role count and may read. A superuser reads anything.
RoleClass WithEndUser(RoleClass of_roles, Oid principal) {
  if (of_roles == RoleClass::kDpOnly || !OidIsValid(gate.extension) || !EndUsersAreLabelled()) return of_roles;
  const char* end_user = EndUserNow().name;
  if (end_user[0] == '\0') return of_roles;
  if (DpOnlyEndUser(principal, end_user) != nullptr) return superuser_arg(principal) ? of_roles : RoleClass::kDpOnly;
  const bool exempt = of_roles == RoleClass::kWatched && LabelOfEndUser(principal, end_user) == EndUserLabel::kExempt;
  return exempt ? RoleClass::kExempt : of_roles;
}

}  // namespace

const char* EndUserLabelledDpOnly() {
  const Oid principal = PrincipalOf();
  if (!EndUsersAreLabelled() || ClassOfPrincipal(principal) == RoleClass::kDpOnly) return nullptr;
  return DpOnlyEndUser(principal, EndUserNow().name);
}

const char* LabelOfRole(Oid role) {
  ObjectAddress address;
  ObjectAddressSet(address, AuthIdRelationId, role);
  return GetSecurityLabel(&address, kLabelProvider);
}

Oid WatchedExtension() { return gate.extension; }

bool AnyLabelledWatched() {
  bool any = false;
  ::Relation relation = table_open(SharedSecLabelRelationId, AccessShareLock);
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_shseclabel_classoid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(AuthIdRelationId));
  SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, nullptr, 1, &key);
  for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple) && !any; tuple = systable_getnext(scan)) {
    bool null_provider, null_label;
    const Datum provider = heap_getattr(tuple, Anum_pg_shseclabel_provider, RelationGetDescr(relation), &null_provider);
    const Datum value = heap_getattr(tuple, Anum_pg_shseclabel_label, RelationGetDescr(relation), &null_label);
    any = !null_provider && !null_label && strcmp(TextDatumGetCString(provider), kLabelProvider) == 0 &&
          strcmp(TextDatumGetCString(value), kWatchedLabel) == 0;
  }
  systable_endscan(scan);
  table_close(relation, AccessShareLock);
  return any;
}

RoleClass ClassOfRole(Oid role, const char** reason) {
  if (superuser_arg(role)) {
    *reason = "superusers are not watched";
    return RoleClass::kUnwatched;
  }
  const char* label = LabelOfRole(role);
  if (label != nullptr) {
    *reason = "security label of the role";
    if (strcmp(label, kExemptLabel) == 0) return RoleClass::kExempt;
    return strcmp(label, kDpOnlyLabel) == 0 ? RoleClass::kDpOnly : RoleClass::kWatched;
  }
  const bool others = AnyLabelledWatched();
  *reason = others ? "only roles labelled watched are watched" : "no role is labelled watched, so all are";
  return others ? RoleClass::kUnwatched : RoleClass::kWatched;
}

Oid PrincipalOf() {
  Oid user;
  int context;
  GetUserIdAndSecContext(&user, &context);
  return PrincipalIn(user, context);
}

RoleClass PrincipalClass() {
  if (NothingWatched()) return RoleClass::kUnwatched;
  const Oid principal = PrincipalOf();
  return WithEndUser(ClassOfPrincipal(principal), principal);
}

// With `track = top` and in parallel workers it counts how deep a statement stands, in case the principal changes below
// it; a security context may make somebody else the principal, or belong to a referential-integrity check.
Watch ResolveWatch(Oid user, int context) {
  const uint64 labels = pg_atomic_read_u64(&ps_shared->role_labels_version);
  Watch watch = {PrincipalIn(user, context),
                 RoleClass::kUnwatched,
                 false,
                 gate.uncounted.which == Uncounted::kReading,
                 (context & SECURITY_NOFORCE_RLS) != 0,
                 false};
  bool named = false;  // whether it depends on the end user, who changes unseen
  if (!NothingWatched()) {
    watch.role = WithEndUser(ClassOfPrincipal(watch.principal), watch.principal);
    named = EndUsersAreLabelled();
    watch.may_be_sent = watch.role == RoleClass::kWatched && MayBeNode();
    if (Counts(watch.role) && !watch.may_be_sent) NoteCounting();
  }
  watch.passes = watch.role == RoleClass::kUnwatched && !named && !watch.uncounted && context == 0 &&
                 !IsParallelWorker() && ps_settings.track == static_cast<int>(TrackLevel::kAll) &&
                 ps_settings.principal == static_cast<int>(Principal::kSessionUser);
  // A restricted operation asks whether the session's user is a superuser; a standby must look again soon.
  const bool stands = !NothingWatched() && !named && gate.on_primary && gate.extension_known &&
                      watch.principal == gate.principal && RoleSet() == gate.role_set &&
                      labels == gate.labels_version && (context & SECURITY_RESTRICTED_OPERATION) == 0;
  ps_last_watch = {stands, user, GetSessionUserId(), GetOuterUserId(), context, ps_settings_changes, labels, watch};
  return watch;
}

UncountedState BeginUncounted(Uncounted which, const List* relations) {
  FollowTransactions();
  const UncountedState before = gate.uncounted;
  SetUncounted({which, relations, nullptr});
  return before;
}

void EndUncounted(UncountedState before) { SetUncounted(before); }

const char* NameReading(const char* text) {
  const char* before = gate.uncounted.text;
  gate.uncounted.text = text;
  return before;
}

void RequireReading(const char* text, const List* relations) {
  // What a library plans need not have a text.
  if (gate.uncounted.text != nullptr && (text == nullptr || strcmp(text, gate.uncounted.text) != 0)) return;
  if (list_difference_oid(relations, gate.uncounted.relations) == NIL) return;
  ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                  errmsg("a relation was renamed after this statement began"), errhint("Try again.")));
}

void NoteModelChange() {
  FollowTransactions();
  gate.model_changed = true;
  gate.kept = false;
}

void NoteDeclaration() {
  NoteModelChange();
  gate.declared = true;
}

void NoteRoleLabelChange() {
  NoteDeclaration();
  gate.labels_changed = true;
}

void NoteEndUserLabelChange() {
  FollowTransactions();
  gate.declared = gate.labels_changed = true;
  gate.kept = false;
  ps_last_watch.stands = false;
}

KeptChanges ChangesToAnnounce() {
  if (ps_shared == nullptr) return {};
  return {gate.model_changed, gate.labels_changed, false, gate.model_changed ? ConcernsToKeep() : nullptr};
}

void NoteChangesKept() { gate.kept = true; }

void AnnounceKept(const KeptChanges& changes) {
  if (changes.all || changes.concerns != nullptr) TakeConcerns(changes.concerns);
  Announce(changes.model, changes.labels);
  ForgetConcerns();
  if (changes.labels) ForgetEndUserLabels();
  ps_last_watch.stands = false;
}

bool LabelsChangedHere() { return gate.labels_changed; }

void InstallWatchingCallbacks() {
  for (const int cache : {NAMESPACENAME, AUTHOID}) CacheRegisterSyscacheCallback(cache, OnCatalogChange, Datum(0));
}

}  // namespace privacy_score
