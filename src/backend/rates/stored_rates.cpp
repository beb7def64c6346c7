/*
 * stored_rates.cpp - see stored_rates.hpp.
 */
#include "backend/rates/stored_rates.hpp"

extern "C" {
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"
}

#include "backend/catalog/code_trust.hpp"
#include "backend/catalog/relation_access.hpp"
#include "backend/catalog/subjects.hpp"
#include "backend/rates/joint_rates.hpp"
#include "backend/rates/source_state.hpp"
#include "backend/server/guarded.hpp"
#include "backend/server/relation_owner.hpp"
#include "backend/server/sql_text.hpp"
#include "backend/state/internal.hpp"
#include "core/statement/abstraction.hpp"

namespace privacy_score {

namespace {

// A wanted set by relation, a list of RevealedRelation; NIL when something of it is gone.
List* ParseSet(const char* attributes) {
  List* parts = NIL;
  char* text = pstrdup(attributes);
  for (char* next; text != nullptr; text = next) {
    next = strchr(text, privacy_score::kAttributeSeparator);
    if (next != nullptr) *next++ = '\0';
    Oid relation;
    AttrNumber number;
    if (!FindCanonicalColumn(text, RelationOfCanonicalName, &relation, &number)) return NIL;
    auto* part = parts == NIL ? nullptr : static_cast<RevealedRelation*>(llast(parts));
    if (part == nullptr || part->relation != relation) {
      part = static_cast<RevealedRelation*>(palloc0(sizeof(RevealedRelation)));
      part->relation = relation;
      parts = lappend(parts, part);
    }
    part->attributes = bms_add_member(part->attributes, number);
  }
  return parts;
}

const char* Closed(const StringInfoData* array) { return psprintf("%s}", array->data); }

// Relations that rates are computed from, and what they are like just before: literals of arrays under construction.
struct Sources {
  StringInfoData names, rows, modifications, identities;
  int count;
};

void InitSources(Sources* sources) {
  sources->count = 0;
  for (StringInfo array : {&sources->names, &sources->rows, &sources->modifications, &sources->identities}) {
    initStringInfo(array);
    appendStringInfoChar(array, '{');
  }
}

void AddSource(Sources* sources, Oid relation) {
  const SourceState state = StateOfSource(relation);
  const char* name = CanonicalRelationName(relation);
  if (!state.exists)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation %s does not exist", name),
                    errhint("It may have been dropped in the meantime.")));
  const char* comma = sources->count++ == 0 ? "" : ",";
  AppendArrayElement(&sources->names, name);
  appendStringInfo(&sources->identities, "%s" INT64_FORMAT, comma, state.identity);
  appendStringInfo(&sources->modifications, "%s" INT64_FORMAT, comma, state.modifications);
  appendStringInfo(&sources->rows, "%s" INT64_FORMAT, comma, state.rows);
}

// Rates of one name, of what is in common to them.
struct Batch {
  const char* relation_name;
  const char* subject;
  SubjectFacts facts;
  const Sources* sources;
};

void StoreRates(const Batch* batch, const char* const* attributes, const double* rates, int count) {
  ComputedRates stored;
  InitComputedRates(&stored);
  for (int i = 0; i < count; ++i) {
    AppendArrayElement(&stored.attributes, attributes[i]);
    appendStringInfo(&stored.rates, "%s%.17g", i == 0 ? "" : ",", rates[i]);
  }
  const char* args[] = {batch->relation_name,
                        Closed(&stored.attributes),
                        Closed(&stored.rates),
                        batch->subject,
                        TextOfInteger(batch->facts.rows),
                        psprintf("%.17g", batch->facts.entropy),
                        Closed(&batch->sources->names),
                        Closed(&batch->sources->rows),
                        Closed(&batch->sources->modifications),
                        Closed(&batch->sources->identities)};
  InternalScope scope;
  EnterInternal(&scope);
  RunInternal(
      "INSERT INTO privacy_score.rate (relation_name, attributes, rate, subject, rows, subject_entropy, sources, "
      "source_rows, modifications, identities) "
      "SELECT $1, pg_catalog.string_to_array(c.attributes, pg_catalog.chr(1)), c.rate, $4, $5::pg_catalog.int8, "
      "$6::pg_catalog.float8, $7::text[], $8::pg_catalog.int8[], $9::pg_catalog.int8[], $10::pg_catalog.int8[] "
      "FROM ROWS FROM (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::pg_catalog.float8[])) c(attributes, rate) "
      "ON CONFLICT (relation_name, attributes) DO UPDATE SET rate = EXCLUDED.rate, subject = EXCLUDED.subject, "
      "rows = EXCLUDED.rows, subject_entropy = EXCLUDED.subject_entropy, sources = EXCLUDED.sources, "
      "source_rows = EXCLUDED.source_rows, modifications = EXCLUDED.modifications, "
      "identities = EXCLUDED.identities, computed_at = pg_catalog.now()",
      10, args);
  LeaveInternal(&scope);
}

// The names of columns, parted by commas.
template <typename Next>
const char* ColumnNames(Oid relation, Next next) {
  StringInfoData names;
  initStringInfo(&names);
  for (int attribute = next(); attribute > 0; attribute = next())
    appendStringInfo(&names, "%s%s", names.len > 0 ? "," : "", QuotedColumn(relation, attribute));
  return names.data;
}

// Enters the rights of a relation's owner, whose functions do not run though: whoever needs a rate, and the worker,
// would run them for the caller and wait for them; and a snapshot of now: what is committed after its state was taken
// is known to have come later. False when the relation has just been dropped.
bool EnterOwner(InternalScope* scope, Oid relation) {
  LockRelationOid(relation, AccessShareLock);
  const Oid owner = OwnerOfRelation(relation);
  if (!OidIsValid(owner)) return false;
  PushActiveSnapshot(GetLatestSnapshot());
  EnterInternal(scope, owner);
  // A policy would be somebody's code in this process, and rates are of all rows: as for a foreign key's own queries,
  // it does not hold for the owner even where row security is forced.
  Oid user;
  int context;
  GetUserIdAndSecContext(&user, &context);
  SetUserIdAndSecContext(user, context | SECURITY_NOFORCE_RLS);
  SetWithin("row_security", "off");
  return true;
}

void LeaveOwner(const InternalScope* scope) {
  LeaveInternal(scope);
  PopActiveSnapshot();
}

// Sets that are computed together.
struct WantedSets {
  int count;
  const char** attributes;  // as wanted
  List** parts;             // of RevealedRelation
  double* rates;
};

WantedSets NewWantedSets(int most) {
  const Size size = static_cast<Size>(most);
  return {0, static_cast<const char**>(palloc(sizeof(char*) * size)), static_cast<List**>(palloc(sizeof(List*) * size)),
          static_cast<double*>(palloc(sizeof(double) * size))};
}

void AddSet(WantedSets* sets, const char* attributes, List* parts) {
  sets->attributes[sets->count] = attributes;
  sets->parts[sets->count++] = parts;
}

// Sets of columns of one relation.
void ComputePlain(ComputedRates* computed, const char* name, Oid relation, const WantedSets* sets) {
  if (sets->count == 0) return;
  Bitmapset* subject = SubjectOf(relation);
  Sources sources;
  InitSources(&sources);
  AddSource(&sources, relation);
  auto** columns = static_cast<const Bitmapset**>(palloc(sizeof(Bitmapset*) * static_cast<Size>(sets->count)));
  for (int i = 0; i < sets->count; ++i)
    columns[i] = static_cast<RevealedRelation*>(linitial(sets->parts[i]))->attributes;
  Batch batch = {name, nullptr, {}, &sources};
  InternalScope scope;
  if (!EnterOwner(&scope, relation)) return;
  WithTrustedCode(GetUserId(),
                  [&] { RelationRates(relation, columns, sets->count, subject, sets->rates, &batch.facts); });
  LeaveOwner(&scope);
  int attribute = -1;
  batch.subject = ColumnNames(relation, [&] { return attribute = bms_next_member(subject, attribute); });
  resetStringInfo(&sources.rows);
  appendStringInfo(&sources.rows, "{" INT64_FORMAT, batch.facts.rows);
  if (!XactReadOnly) StoreRates(&batch, sets->attributes, sets->rates, sets->count);
  for (int i = 0; i < sets->count; ++i)
    AppendComputed(computed, name, sets->attributes[i], sets->rates[i], batch.facts.entropy);
}

bool SameRelations(const List* a, const List* b) {
  if (list_length(a) != list_length(b)) return false;
  for (int i = 0; i < list_length(a); ++i)
    if (static_cast<RevealedRelation*>(list_nth(a, i))->relation !=
        static_cast<RevealedRelation*>(list_nth(b, i))->relation)
      return false;
  return true;
}

// What a joint set is computed from: the home, and its relations.
const Sources* SourcesOf(Oid home, const List* parts) {
  auto* sources = static_cast<Sources*>(palloc(sizeof(Sources)));
  InitSources(sources);
  AddSource(sources, home);
  const ListCell* cell;
  foreach (cell, parts) {
    const Oid relation = static_cast<RevealedRelation*>(lfirst(cell))->relation;
    if (relation != home) AddSource(sources, relation);
  }
  return sources;
}

// The names of the subject's columns at home, to which those of any other relation refer.
const char* SubjectAtHome(Oid home, const List* parts) {
  const auto* part = static_cast<RevealedRelation*>(linitial(parts));
  if (part->relation == home) part = static_cast<RevealedRelation*>(lsecond(parts));
  const SubjectPath path = SubjectPathOf(part->relation);
  int column = 0;
  return ColumnNames(home, [&] { return column < path.count ? path.at_home[column++] : 0; });
}

// Sets of columns of several relations that are joined at `home`.
void ComputeJoint(ComputedRates* computed, const char* name, Oid home, const WantedSets* sets) {
  if (sets->count == 0) return;
  auto** sources = static_cast<const Sources**>(palloc(sizeof(Sources*) * static_cast<Size>(sets->count)));
  for (int i = 0; i < sets->count; ++i) {
    int same = 0;
    while (!SameRelations(sets->parts[same], sets->parts[i])) ++same;
    sources[i] = same < i ? sources[same] : SourcesOf(home, sets->parts[i]);
  }
  Batch batch = {name, SubjectAtHome(home, sets->parts[0]), {}, nullptr};
  InternalScope scope;
  if (!EnterOwner(&scope, home)) return;
  WithTrustedCode(GetUserId(), [&] { JointRates(home, sets->parts, sets->count, sets->rates, &batch.facts); });
  LeaveOwner(&scope);
  for (int i = 0; i < sets->count && !XactReadOnly; ++i) {
    batch.sources = sources[i];
    StoreRates(&batch, &sets->attributes[i], &sets->rates[i], 1);
  }
  for (int i = 0; i < sets->count; ++i)
    AppendComputed(computed, name, sets->attributes[i], sets->rates[i], batch.facts.entropy);
}

// Whether all relations of a set are joined at `home`, as the catalogs are now. What was found of a relation is kept in
// two lists.
bool IsJointAt(Oid home, const List* parts, List** joined, List** others) {
  const ListCell* cell;
  foreach (cell, parts) {
    const Oid relation = static_cast<RevealedRelation*>(lfirst(cell))->relation;
    if (list_member_oid(*others, relation)) return false;
    if (list_member_oid(*joined, relation)) continue;
    List** list = JointHome(relation) == home ? joined : others;
    *list = lappend_oid(*list, relation);
    if (list == others) return false;
  }
  return true;
}

// Computes wanted sets of one name, in order; those that do not exist any more are left out.
void ComputeOfRelation(ComputedRates* computed, const WantedRate* wanted, int count) {
  const char* name = wanted[0].relation;
  const Oid relation = RelationOfCanonicalName(name);
  if (!OidIsValid(relation)) return;
  WantedSets plain = NewWantedSets(count);
  WantedSets joint = NewWantedSets(count);
  List* joined = NIL;
  List* others = NIL;
  for (int i = 0; i < count; ++i) {
    if (i > 0 && strcmp(wanted[i].attributes, wanted[i - 1].attributes) == 0) continue;
    List* parts = ParseSet(wanted[i].attributes);
    if (list_length(parts) == 1 && static_cast<RevealedRelation*>(linitial(parts))->relation == relation)
      AddSet(&plain, wanted[i].attributes, parts);
    else if (list_length(parts) > 1 && IsJointAt(relation, parts, &joined, &others))
      AddSet(&joint, wanted[i].attributes, parts);
  }
  ComputePlain(computed, name, relation, &plain);
  ComputeJoint(computed, name, relation, &joint);
}

int CompareWanted(const void* a, const void* b) {
  const auto* left = static_cast<const WantedRate*>(a);
  const auto* right = static_cast<const WantedRate*>(b);
  const int order = strcmp(left->relation, right->relation);
  return order != 0 ? order : strcmp(left->attributes, right->attributes);
}

// How many of `wanted` from the first on are of its relation.
int OfOneRelation(const WantedRate* wanted, int count) {
  int same = 1;
  while (same < count && strcmp(wanted[same].relation, wanted[0].relation) == 0) ++same;
  return same;
}

void CutBack(StringInfo text, int length) {
  text->len = length;
  text->data[length] = '\0';
}

// Computes sets of one relation together, or when that fails each half by itself, down to the sets that are at fault.
void ComputeApart(ComputedRates* computed, const WantedRate* wanted, int count, RateFault on_fault, void* context) {
  CHECK_FOR_INTERRUPTS();
  const ComputedRates before = *computed;
  ErrorData* error = InSubtransaction([=] { ComputeOfRelation(computed, wanted, count); });
  if (error == nullptr) return;
  // What was computed before the fault was not stored.
  computed->count = before.count;
  CutBack(&computed->relations, before.relations.len);
  CutBack(&computed->attributes, before.attributes.len);
  CutBack(&computed->rates, before.rates.len);
  if (count > 1 && !WasDisturbed(error)) {
    FreeErrorData(error);
    ComputeApart(computed, wanted, count / 2, on_fault, context);
    ComputeApart(computed, wanted + count / 2, count - count / 2, on_fault, context);
    return;
  }
  for (int i = 0; i < count; ++i) on_fault(context, &wanted[i], error);
  FreeErrorData(error);
}

void WarnOfFault(void* context, const WantedRate* wanted, const ErrorData* error) {
  if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE) ReThrowError(const_cast<ErrorData*>(error));
  auto* computed = static_cast<ComputedRates*>(context);
  const ListCell* cell;
  foreach (cell, computed->faulty)
    if (strcmp(static_cast<char*>(lfirst(cell)), wanted->relation) == 0) return;
  computed->faulty = lappend(computed->faulty, pstrdup(wanted->relation));
  ereport(WARNING,
          (errmsg("could not compute a discrimination rate of relation %s: %s", wanted->relation, error->message)));
}

}  // namespace

bool WasDisturbed(const ErrorData* error) {
  return error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE || error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE;
}

WantedRate* WantedFrom(const std::vector<privacy_score::MissingRate>* missing) {
  const std::size_t count = missing->size();
  auto* wanted = static_cast<WantedRate*>(palloc(sizeof(WantedRate) * (count + 1)));
  for (std::size_t i = 0; i < count; ++i)
    wanted[i] = {(*missing)[i].relation.c_str(), (*missing)[i].attributes.c_str(), false};
  return wanted;
}

void InitComputedRates(ComputedRates* computed) {
  computed->count = 0;
  computed->faulty = NIL;
  for (StringInfo array : {&computed->relations, &computed->attributes, &computed->rates, &computed->entropies}) {
    initStringInfo(array);
    appendStringInfoChar(array, '{');
  }
}

void AppendComputed(ComputedRates* computed, const char* relation, const char* attributes, double rate,
                    double subject_entropy) {
  AppendArrayElement(&computed->relations, relation);
  AppendArrayElement(&computed->attributes, attributes);
  const char* comma = computed->rates.len == 1 ? "" : ",";
  appendStringInfo(&computed->rates, "%s%.17g", comma, rate);
  appendStringInfo(&computed->entropies, "%s%.17g", comma, subject_entropy);
  ++computed->count;
}

void SortWanted(WantedRate* wanted, int count) {
  pg_qsort(wanted, static_cast<Size>(count), sizeof(WantedRate), CompareWanted);
}

void ComputeRates(ComputedRates* computed, WantedRate* wanted, int count) {
  SortWanted(wanted, count);
  for (int at = 0, same; at < count; at += same) {
    CHECK_FOR_INTERRUPTS();
    same = OfOneRelation(wanted + at, count - at);
    ComputeOfRelation(computed, wanted + at, same);
  }
}

void ComputeRatesApart(ComputedRates* computed, WantedRate* wanted, int count, RateFault on_fault, void* context) {
  SortWanted(wanted, count);
  for (int at = 0, same; at < count; at += same) {
    same = OfOneRelation(wanted + at, count - at);
    ComputeApart(computed, wanted + at, same, on_fault, context);
  }
}

void ComputeRatesOrWarn(ComputedRates* computed, WantedRate* wanted, int count) {
  if (CanContainFaults())
    ComputeRatesApart(computed, wanted, count, WarnOfFault, computed);
  else
    ComputeRates(computed, wanted, count);
}

}  // namespace privacy_score
