/*
 * abstracting.cpp - see abstracting.hpp.
 */
#include "backend/query/abstracting.hpp"

extern "C" {
#include "utils/memutils.h"
}

#include "backend/catalog/catalog_relations.hpp"
#include "backend/query/aggregate_plans.hpp"
#include "backend/query/constants.hpp"
#include "backend/query/known_keys.hpp"
#include "backend/query/known_queries.hpp"
#include "backend/query/pieces.hpp"
#include "backend/query/protected_reads.hpp"
#include "backend/query/query_build.hpp"
#include "backend/query/query_statement.hpp"
#include "backend/query/remembered_abstractions.hpp"
#include "backend/server/guarded.hpp"
#include "backend/state/live_room.hpp"
#include "backend/state/scoring_errors.hpp"

namespace privacy_score {

namespace {

int64 DefineUnparsed() {
  privacy_score::Statement unparsed;
  unparsed.unparsed = true;
  return DefineAbstraction(unparsed);
}

// Runs `body`, which makes a Statement with server calls and defines its abstraction, in a context of its own. A fault
// of these is not the statement's: what they may have left, down to a place in the queue for a lock, goes with a
// subtransaction. Where there can be none the fault is raised, for nothing else would leave the server as it was.
template <typename Body>
int64 AbstractGuarded(Body body) {
  MemoryContext old = CurrentMemoryContext;
  MemoryContext scratch = AllocSetContextCreate(old, "privacy_score statement", ALLOCSET_SMALL_SIZES);
  int64 id = 0;
  MemoryContextSwitchTo(scratch);
  if (!CanContainFaults()) {
    id = body();
  } else if (const ErrorData* error = InSubtransaction([&id, &body] { id = body(); })) {
    CountScoringError(error->message);
    id = DefineUnparsed();
  }
  MemoryContextSwitchTo(old);
  MemoryContextDelete(scratch);
  return id;
}

// A query that has no key, or is not remembered.
PlanMark* AbstractAnew(::Query* query) {
  ConstantWordsView words = {nullptr, 0};
  int64 estimates = 0;
  const int64 id = AbstractGuarded([query, &words, &estimates] {
    const privacy_score::Statement statement = QueryStatement(query);
    words = EncodeConstants(query, statement, nullptr);
    return DefineAbstraction(statement, &estimates);
  });
  PlanMark* mark = NewPlanMark(id, estimates, words.count);
  if (words.count > 0) memcpy(mark->words, words.words, sizeof(uint32) * static_cast<Size>(words.count));
  return mark;
}

// A query that is remembered, unless that is of no use any more when its literals have been looked at.
[[gnu::hot]] PlanMark* AbstractKnown(::Query* query, const KnownQuery* known, const QueryKey& key) {
  PlanMark* mark = MarkOfKnownQuery(known, key);
  return mark != nullptr ? mark : AbstractAnew(query);
}

// What runs while a query is translated may make other keys.
QueryKey CopyKey(const QueryKey& key) {
  QueryKey copy = key;
  const Size words = sizeof(uint32) * static_cast<Size>(key.word_count);
  const Size literals = sizeof(Const*) * static_cast<Size>(key.literal_count);
  copy.words = static_cast<uint32*>(memcpy(palloc(words), key.words, words));
  copy.literals = static_cast<const Const**>(memcpy(palloc(literals + 1), key.literals, literals));
  return copy;
}

// A query with a key that is met for the first time.
PlanMark* AbstractFirst(::Query* query, const QueryKey& key, bool planning_shows) {
  const uint64 generation = CatalogGeneration();
  const KnownQuery* known = nullptr;
  volatile bool translated = false;
  int64 estimates = 0;
  const int64 id = AbstractGuarded([&] {
    ValueRecipes recipes = {};
    recipes.literals = key.literals;
    recipes.literal_count = key.literal_count;
    const privacy_score::Statement statement = QueryStatement(query, &recipes);
    const ConstantWordsView words = EncodeConstants(query, statement, &key);
    const int64 defined = DefineAbstraction(statement, &estimates);
    if (IsUnparsed(defined)) return defined;
    known = RememberQuery(key, generation, defined, estimates, words, recipes, planning_shows);
    translated = true;
    return defined;
  });
  if (!translated) return NewPlanMark(id, 0, 0);
  return known != nullptr ? AbstractKnown(query, known, key) : AbstractAnew(query);
}

// Words that stay when others are encoded.
ConstantWordsView CopyWords(ConstantWordsView words, MemoryContext context) {
  const Size size = sizeof(uint32) * static_cast<Size>(words.count);
  if (words.count == 0) return words;
  return {static_cast<uint32*>(memcpy(MemoryContextAllocHuge(context, size), words.words, size)), words.count};
}

}  // namespace

[[gnu::hot]] PlanMark* AbstractQuery(::Query* query, bool* planning_shows) {
  QueryKey key;
  const bool has_key = MakeQueryKey(query, &key);
  const KnownQuery* known = has_key ? FindKnownQuery(key) : nullptr;
  bool has_pieces = LibrariesPlan();
  int answer;
  PlanMark* mark;
  if (known != nullptr) {
    *planning_shows = PlanningIsKnownToShow(known);
    has_pieces = has_pieces && KnownToHavePieces(known, query);
    answer = KnownAnswerColumn(known, query);
    mark = AbstractKnown(query, known, key);
  } else {
    if (has_key) key = CopyKey(key);
    ForgetAbstractionsWhenFull();
    *planning_shows = PlanningShowsProtected(query);
    has_pieces = has_pieces && MayHavePieces(query);
    answer = AnswerColumn(query);
    mark = has_key ? AbstractFirst(query, key, *planning_shows) : AbstractAnew(query);
  }
  if (answer > 0) mark = WithAnswer(mark, query, answer);
  mark->has_pieces = has_pieces;
  return mark;
}

int64 AbstractCopy(Oid relation, List* columns) {
  ForgetAbstractionsWhenFull();
  return AbstractGuarded([relation, columns] {
    return DefineAbstraction(RowsStatement(privacy_score::Command::kCopy, relation, columns));
  });
}

int64 AbstractRows(Oid relation, CmdType command, List* columns) {
  return AbstractGuarded([=] { return DefineAbstraction(RowsStatement(CommandOf(command), relation, columns)); });
}

int64 AbstractKey(const TriedKey& key, CmdType command, uint64 vector, privacy_score::BoundConstants* constants) {
  if (const int64 known = FindKnownKey(key, command, vector, constants)) return known;
  MemoryContext own = CurrentMemoryContext;
  return AbstractGuarded([=, &key] {
    const uint64 generation = CatalogGeneration();
    const privacy_score::Statement statement = KeyStatement(CommandOf(command), key);
    const int64 id = DefineAbstraction(statement);
    const ConstantWordsView found = CopyWords(EncodeConstants(nullptr, statement, nullptr), own);
    if (IsMemorable(key)) {
      // Both words differ from those of the value, whatever it is.
      const uint64 other = ~key.hashes[0];
      const int size = list_length(key.columns);
      auto* hashes = static_cast<uint64*>(palloc(sizeof(uint64) * static_cast<Size>(size)));
      for (int i = 0; i < size; ++i) hashes[i] = other;
      const TriedKey another = {key.relid, key.columns, key.shown, 1, hashes};
      RememberKey(key, command, generation, id, found,
                  EncodeConstants(nullptr, KeyStatement(CommandOf(command), another), nullptr), other);
    }
    if (found.count > 2) {
      auto* words = const_cast<uint32*>(found.words);
      words[0] = static_cast<uint32>(vector);
      words[1] = static_cast<uint32>(vector >> 32U);
      constants->words = words;
      constants->count = static_cast<size_t>(found.count);
    }
    return id;
  });
}

int64 AbstractEverything() {
  return AbstractGuarded([] { return DefineAbstraction(EverythingStatement()); });
}

int64 AbstractEstimates(const PlannedStmt* plan) {
  const PlanMark* mark = MarkOfPlan(plan);
  if (mark == nullptr || !IsRemembered(mark->id) || !IsRemembered(mark->estimates))
    return AbstractGuarded([plan] { return DefineAbstraction(PlanEstimates(plan)); });
  return mark->estimates != 0 ? mark->estimates : DefineEstimates(mark->id);
}

int64 AbstractPlan(const PlannedStmt* plan) {
  return AbstractGuarded([plan] { return DefineAbstraction(PlanStatement(plan)); });
}

}  // namespace privacy_score
